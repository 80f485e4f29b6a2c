// SPDX-License-Identifier: Apache-2.0
// Infers the result types of an operator that runs through the reference.
#pragma once

#include "frontend/builder/NodeBuilder.h"

#include "onnx/onnx.pb.h"

namespace tilewright {

/// The type of a result, whose rank is known.
struct ResultType {
  DType type;
  Sizes sizes;
  OnnxTypePtr element;
};

/// Appends the type of each output to `results`. `declared` has the model's value_info of each output, or null.
/// Unsupported if a rank remains unknown.
Status inferResults(NodeBuilder &builder, llvm::ArrayRef<const onnx::ValueInfoProto *> declared,
                    std::vector<ResultType> &results);

} // namespace tilewright
