// Writes an ONNX model as one writes it on paper: inputs, weights, operators in order, outputs.
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

/// A size, or the name of one that is known only when the model runs.
using Dimension = std::variant<int64_t, std::string>;

/// A value of the graph, by its name. The empty name is an optional input left out.
struct Value {
  std::string name;
};

using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>>;
using NamedAttribute = std::pair<std::string, AttributeValue>;

/// Builds one model of opset 17. Each weight comes from a generator seeded by its name: the same bytes on every
/// machine, whatever is added before it, and the same numbers in two spellings or two precisions of a model.
class ModelBuilder {
public:
  /// `type` is the element type of inputs, weights and scalars: F32 or F16.
  ModelBuilder(std::string name, DType type);

  Value input(std::string name, const std::vector<Dimension> &shape);
  void output(std::string name, const Value &value, const std::vector<Dimension> &shape);

  /// Normally distributed around `mean`. Weights of a trained network have a deviation of about one over the root of
  /// their fan-in.
  Value weight(std::string name, const std::vector<int64_t> &shape, double deviation, double mean = 0);
  /// Uniform in [low, high): variances, for one, are never negative.
  Value uniform(std::string name, const std::vector<int64_t> &shape, double low, double high);
  Value scalar(std::string name, double value);
  Value integers(std::string name, std::vector<int64_t> values);

  /// One node with one output, which is named after the operator and its number unless `name` says otherwise.
  Value op(std::string_view type, std::vector<Value> inputs, std::initializer_list<NamedAttribute> attributes = {},
           std::string name = "");

  /// x W + b, as MatMul and Add, with W [in, out].
  Value linear(const std::string &name, const Value &x, int64_t in, int64_t out);
  /// LayerNormalization over the last dimension, with a trained-looking scale and bias.
  Value layerNorm(const std::string &name, const Value &x, int64_t size);
  /// The exact GELU as exporters spell it: x * 0.5 * (1 + erf(x / sqrt 2)).
  Value gelu(const std::string &name, const Value &x);

  /// Serializes to `path`, whose folder exists. Protobuf's deterministic form: same model, same bytes.
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
