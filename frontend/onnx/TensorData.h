// SPDX-License-Identifier: Apache-2.0
// Decodes TensorProto to Tensor, from all the ways in which ONNX stores elements.
#pragma once

#include "frontend/onnx/ExternalData.h"
#include "runtime/Tensor.h"

#include "onnx/onnx.pb.h"

#include <optional>

namespace tilewright {

struct TensorSource {
  ExternalData *files = nullptr;
  std::shared_ptr<const void> owner;     // keeps the TensorProto alive: raw data is shared with it, not copied
  std::optional<uint64_t> randomWeights; // seed for external data that is absent
};

/// Decodes `proto`, which diagnostics call `name`. Unsupported: types that no kernel handles. Malformed: negative or
/// overflowing dimensions, data that is missing, in two places or of the wrong length, external data beyond its file.
Expected<Tensor> decodeTensor(const onnx::TensorProto &proto, const std::string &name, const TensorSource &source);

/// The dense form of a sparse tensor. Malformed: values that are no list, indices that are outside, repeated or not in
/// ascending order. Unsupported: more than 1 GiB.
Expected<Tensor> decodeSparseTensor(const onnx::SparseTensorProto &proto, const TensorSource &source);

/// The product of dimensions and element size. Malformed if it is more than 2^40 bytes.
Expected<int64_t> checkedByteSize(std::span<const int64_t> dims, DType type, const std::string &name);

/// The element type for an ONNX code, or Unsupported.
Expected<DType> checkedDType(int32_t code, const std::string &name);

} // namespace tilewright
