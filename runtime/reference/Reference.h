// SPDX-License-Identifier: Apache-2.0
// The reference: every ONNX operator that Tilewright accepts, as plain loops on host tensors.
//
// One kernel per ONNX operator and version range, not per operation of the compiler's IR: tests compare with the
// operator that the model names, so a wrong decomposition at import is caught as surely as wrong code. The same kernels
// fold constants at import, run operators that are not compiled, and serve `verify --against reference`.
#pragma once

#include "runtime/Status.h"
#include "runtime/Tensor.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tilewright {

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// One node of a model. `inputs` has an undefined Tensor where the model leaves an optional input empty.
struct ReferenceCall {
  std::string_view op;     // ONNX operator type, "Conv"
  std::string_view domain; // "" for ai.onnx
  int64_t opset = 0;       // version of the domain that the model imports
  const Attributes *attributes = nullptr;
  size_t outputCount = 1; // how many outputs the node lists; a kernel may fill fewer optional ones
  /// Where a kernel may cache data that it derives from the attributes, for the next evaluation of the same node; null
  /// if there is none.
  std::shared_ptr<const void> *cache = nullptr;
};

/// True if `evaluate` has a kernel for this operator at this opset.
bool hasReference(std::string_view op, std::string_view domain, int64_t opset);

/// Computes the node's outputs. Shapes and types of the outputs follow ONNX's specification of the operator at `opset`.
/// Every floating-point type is computed in double and rounded once, to the output's type, at the end; RNN, GRU and
/// LSTM of float32 are computed in float32. Integers wrap; an integer divided by 0 is 0; floats cast to integers
/// saturate, and NaN gives 0. Fails with Code::Malformed on shapes, attributes or indices that the specification
/// forbids, with one sentence that names expected and found; with Code::Unsupported for operators, types or modes
/// without a kernel. Never reads outside of an input, whatever the attributes say. Outputs may share an input's memory
/// (Reshape, Identity).
Expected<std::vector<Tensor>> evaluate(const ReferenceCall &call, std::span<const Tensor> inputs);

} // namespace tilewright
