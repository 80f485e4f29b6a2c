// SPDX-License-Identifier: Apache-2.0
// Builds an ONNX model from inputs, weights, operators and outputs, in this order.
//
//   ModelBuilder m("mlp", DType::F32);
//   Value x = m.input("x", {"batch", 784});
//   Value h = m.op("Relu", {m.linear("hidden", x, 784, 512)});
//   m.output("y", h, {"batch", 512});
#pragma once

#include "runtime/DType.h"
#include "runtime/Status.h"

#include "onnx/onnx.pb.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright::models {

/// A size, or the name of a symbolic one.
using Dimension = std::variant<int64_t, std::string>;

/// A value of the graph, by its name. The empty name stands for an absent optional input.
struct Value {
  std::string name;
};

using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>>;
using NamedAttribute = std::pair<std::string, AttributeValue>;

/// Builds one model of opset 17. Each weight comes from a generator that is seeded by its name. So it has the same
/// bytes on every machine, whatever else the model contains, and the same values in other variants and precisions of
/// the model.
class ModelBuilder {
public:
  /// `type` is the element type of inputs, weights and scalars: F32 or F16.
  ModelBuilder(std::string name, DType type);

  Value input(std::string name, const std::vector<Dimension> &shape);
  void output(std::string name, const Value &value, const std::vector<Dimension> &shape);

  /// Normally distributed around `mean`. Weights of trained networks have a deviation of about 1 / sqrt(fan-in).
  Value weight(std::string name, const std::vector<int64_t> &shape, double deviation, double mean = 0);
  /// Uniform in [low, high), for example for variances, which are never negative.
  Value uniform(std::string name, const std::vector<int64_t> &shape, double low, double high);
  Value scalar(std::string name, double value);
  Value integers(std::string name, std::vector<int64_t> values);

  /// A node with one output, named after the operator and a number unless `name` is given.
  Value op(std::string_view type, std::vector<Value> inputs, std::initializer_list<NamedAttribute> attributes = {},
           std::string name = "");

  /// x W + b, as MatMul and Add, with W [in, out].
  Value linear(const std::string &name, const Value &x, int64_t in, int64_t out);
  /// LayerNormalization over the last dimension, with scale and bias as in trained networks.
  Value layerNorm(const std::string &name, const Value &x, int64_t size);
  /// The exact GELU in the form that exporters write: x * 0.5 * (1 + erf(x / sqrt 2)).
  Value gelu(const std::string &name, const Value &x);

  /// Serializes deterministically to `path`, whose folder must exist.
  Status write(const std::string &path) const;

  const onnx::ModelProto &model() const { return model_; }

private:
  onnx::TensorProto &addInitializer(const std::string &name, const std::vector<int64_t> &shape, DType type);
  void appendElement(std::string &bytes, double value) const;
  onnx::ValueInfoProto valueInfo(std::string name, const std::vector<Dimension> &shape) const;

  onnx::ModelProto model_;
  DType type_;
};

} // namespace tilewright::models
