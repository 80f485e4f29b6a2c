// TensorProto to Tensor: every way ONNX stores elements, with exact lengths.
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

/// Decodes `proto`; `name` is how diagnostics call it. Unsupported: types that no kernel holds. Malformed: negative or
/// overflowing dimensions, no data or data in two places, data of another length, external data outside its file.
Expected<Tensor> decodeTensor(const onnx::TensorProto &proto, const std::string &name, const TensorSource &source);

/// Checked product of dimensions with the element size, at most 2^40 bytes; Malformed otherwise.
Expected<int64_t> checkedByteSize(std::span<const int64_t> dims, DType type, const std::string &name);

/// The row of an ONNX element type, or Unsupported.
Expected<DType> checkedDType(int32_t code, const std::string &name);

} // namespace tilewright
