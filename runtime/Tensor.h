// SPDX-License-Identifier: Apache-2.0
// A dense row-major tensor in host memory: what reference kernels compute on, and what files are read into.
//
// Values that are not numbers are tensors too, whose elements are objects, so that whatever handles a Tensor handles
// them:
//   String    any shape, elements std::string
//   Sequence  [n], elements Tensor
//   Optional  [0] or [1], elements Tensor
//   Map       [2], elements Tensor: keys [n] (int64 or string) and values [n]
#pragma once

#include "runtime/DType.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tilewright {

using Shape = std::vector<int64_t>;

/// Number of elements of `shape`: 1 for a scalar, 0 if any dimension is 0, however large the others are.
inline int64_t elementCount(const Shape &shape) {
  uint64_t count = 1;
  for (int64_t dim : shape)
    count *= static_cast<uint64_t>(dim);
  return static_cast<int64_t>(count);
}

/// The next index of a tensor of `shape` in row-major order; false after the last one, where the first begins again.
inline bool advanceIndex(std::span<int64_t> index, std::span<const int64_t> shape) {
  for (size_t dim = shape.size(); dim > 0; --dim) {
    if (++index[dim - 1] < shape[dim - 1])
      return true;
    index[dim - 1] = 0;
  }
  return false;
}

/// Owns or shares its bytes. Copying a Tensor shares them. `allocate` makes new ones, zeroed and 64-byte aligned; it
/// throws std::bad_alloc if they do not fit in memory.
class Tensor {
public:
  Tensor() = default;
  /// Shares `bytes`, which must hold elementCount(shape) elements.
  Tensor(DType type, Shape shape, std::shared_ptr<std::byte[]> bytes)
      : type_(type), shape_(std::move(shape)), bytes_(std::move(bytes)) {}

  static Tensor allocate(DType type, Shape shape);
  /// A Sequence, an Optional or a Map of these elements.
  static Tensor of(DType type, std::vector<Tensor> elements);
  /// A view of memory that the caller keeps alive.
  static Tensor view(DType type, Shape shape, void *data);

  DType type() const { return type_; }
  const Shape &shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t count() const { return elementCount(shape_); }
  /// Bytes of the elements in memory; 0 for objects, which must not be copied as bytes.
  size_t byteSize() const { return static_cast<size_t>(count()) * elementBytes(type_); }
  bool defined() const { return bytes_ != nullptr; }

  std::byte *bytes() { return bytes_.get(); }
  const std::byte *bytes() const { return bytes_.get(); }
  /// The elements as T, which must be the memory type of type(): float, double, intN_t, uintN_t; uint8_t for Bool;
  /// uint16_t bit patterns for F16 and BF16, uint8_t ones for floats of 8 and 4 bits; int8_t or uint8_t for integers of
  /// 4 and 2 bits; std::complex for C64 and C128; std::string for String, Tensor for the other objects.
  template <typename T> T *data() { return reinterpret_cast<T *>(bytes_.get()); }
  template <typename T> const T *data() const { return reinterpret_cast<const T *>(bytes_.get()); }

  /// The same bytes with another shape of equal element count.
  Tensor reshaped(Shape shape) const { return Tensor(type_, std::move(shape), bytes_); }

private:
  DType type_ = DType::F32;
  Shape shape_;
  std::shared_ptr<std::byte[]> bytes_;
};

} // namespace tilewright
