// SPDX-License-Identifier: Apache-2.0
// Shapes, strides, broadcasting, and the walk over several strided tensors at once, which most kernels use.
#pragma once

#include "runtime/Tensor.h"

#include <array>
#include <cstdint>
#include <span>

namespace tilewright::reference {

/// Product of the dimensions; Malformed if one is negative or the product does not fit.
int64_t product(std::span<const int64_t> dims);

/// Elements from one index of a dimension to the next, row-major.
Shape stridesOf(const Shape &shape);

/// Strides that read a tensor of `shape` broadcast to shape `to`: 0 along repeated dimensions.
Shape broadcastStrides(const Shape &shape, const Shape &to);

/// The shape that both broadcast to; Malformed if there is none.
Shape broadcast(const Shape &a, const Shape &b);

/// `axis` counted from the front; Malformed unless -rank <= axis < rank.
int64_t normalizeAxis(int64_t axis, int64_t rank);

/// Axes counted from the front, each at most once.
std::vector<int64_t> normalizeAxes(std::vector<int64_t> axes, int64_t rank);

/// The shape as outer x dims[axis] x inner.
struct AxisView {
  int64_t outer, size, inner;
  AxisView(const Shape &shape, int64_t axis);
};

/// Walks `shape` row by row: visit(offsets, length, steps) gets each tensor's offset of the row's first element and its
/// stride along the row, in elements.
template <size_t N, typename Visit>
void walkRows(const Shape &shape, const std::array<Shape, N> &strides, Visit &&visit) {
  std::array<int64_t, N> offsets{}, steps{};
  for (int64_t dim : shape)
    if (dim == 0)
      return;
  int64_t rank = static_cast<int64_t>(shape.size());
  if (rank == 0)
    return visit(offsets, int64_t{1}, steps);
  for (size_t t = 0; t < N; ++t)
    steps[t] = strides[t][rank - 1];
  Shape index(rank, 0);
  while (true) {
    visit(offsets, shape[rank - 1], steps);
    int64_t d = rank - 2;
    for (; d >= 0; --d) {
      for (size_t t = 0; t < N; ++t)
        offsets[t] += strides[t][d];
      if (++index[d] < shape[d])
        break;
      for (size_t t = 0; t < N; ++t)
        offsets[t] -= strides[t][d] * shape[d];
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

/// Walks `shape` element by element: visit(offsets).
template <size_t N, typename Visit> void walk(const Shape &shape, const std::array<Shape, N> &strides, Visit &&visit) {
  walkRows(shape, strides, [&](std::array<int64_t, N> offsets, int64_t length, const std::array<int64_t, N> &steps) {
    for (int64_t i = 0; i < length; ++i) {
      visit(offsets);
      for (size_t t = 0; t < N; ++t)
        offsets[t] += steps[t];
    }
  });
}

} // namespace tilewright::reference
