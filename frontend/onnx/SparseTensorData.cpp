// SPDX-License-Identifier: Apache-2.0
// Decodes SparseTensorProto to a dense Tensor.
#include "frontend/onnx/TensorData.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace tilewright {

/// A few bytes of a file may stand for any number of zeros.
static constexpr int64_t maxDenseBytes = int64_t(1) << 30;

/// The positions of the elements in row-major order, from `indices` of shape [count] or [count, rank].
static Expected<std::vector<int64_t>> positionsOf(const Tensor &indices, const Shape &dims, int64_t count,
                                                  const std::string &name) {
  auto rank = static_cast<int64_t>(dims.size());
  bool linear = indices.rank() == 1;
  if (indices.type() != DType::I64 || indices.shape() != (linear ? Shape{count} : Shape{count, rank}))
    return Status(Code::Malformed, fmt::format("sparse tensor '{}': expected int64 indices of shape [{}] or [{}, {}], "
                                               "found {} [{}]",
                                               name, count, count, rank, tilewright::name(indices.type()),
                                               fmt::join(indices.shape(), ", ")));
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    bool inside = true;
    for (int64_t d = 0; d < (linear ? 1 : rank); ++d) {
      int64_t size = linear ? elementCount(dims) : dims[d], index = indices.data<int64_t>()[linear ? i : i * rank + d];
      inside &= 0 <= index && index < size;
      position = inside ? position * size + index : 0;
    }
    if (!inside || (!positions.empty() && position <= positions.back()))
      return Status(Code::Malformed, fmt::format("sparse tensor '{}': element {} is {}", name, i,
                                                 inside ? "not behind the one before it" : "outside of the tensor"));
    positions.push_back(position);
  }
  return positions;
}

Expected<Tensor> decodeSparseTensor(const onnx::SparseTensorProto &proto, const TensorSource &source) {
  const std::string &name = proto.values().name();
  Expected<Tensor> values = decodeTensor(proto.values(), name, source);
  TILEWRIGHT_TRY(values);
  Shape dims(proto.dims().begin(), proto.dims().end());
  Expected<int64_t> bytes = checkedByteSize(dims, values->type(), name);
  TILEWRIGHT_TRY(bytes);
  if (values->rank() != 1 || isObject(values->type()))
    return Status(Code::Malformed, fmt::format("sparse tensor '{}': expected a list of numbers as its values", name));
  if (*bytes > maxDenseBytes)
    return Status(Code::Unsupported, fmt::format("sparse tensor '{}' has {} bytes as a dense one, at most {} are "
                                                 "supported",
                                                 name, *bytes, maxDenseBytes));
  Tensor dense = Tensor::allocate(values->type(), dims);
  if (values->count() == 0) // indices may be left out
    return dense;
  Expected<Tensor> indices = decodeTensor(proto.indices(), name, source);
  TILEWRIGHT_TRY(indices);
  Expected<std::vector<int64_t>> positions = positionsOf(*indices, dims, values->count(), name);
  TILEWRIGHT_TRY(positions);
  size_t size = elementBytes(values->type());
  for (size_t i = 0; i < positions->size(); ++i)
    std::memcpy(dense.bytes() + (*positions)[i] * size, values->bytes() + i * size, size);
  return dense;
}

} // namespace tilewright
