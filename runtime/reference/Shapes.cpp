// SPDX-License-Identifier: Apache-2.0
// Checked arithmetic on shapes, axes and strides.
#include "runtime/reference/Shapes.h"

#include "runtime/reference/Failure.h"

#include <algorithm>

namespace tilewright::reference {

int64_t product(std::span<const int64_t> dims) {
  int64_t result = 1;
  bool empty = false;
  for (int64_t dim : dims) {
    require(dim >= 0, "expected dimensions of 0 or more, found shape {}", dims);
    empty |= dim == 0;
    // Checked even if another dimension is 0, because strides are products of the others.
    if (dim != 0 && __builtin_mul_overflow(result, dim, &result))
      malformed(fmt::format("the number of elements of shape {} does not fit into 64 bits", dims));
  }
  return empty ? 0 : result;
}

Shape stridesOf(const Shape &shape) {
  Shape strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

Shape broadcastStrides(const Shape &shape, const Shape &to) {
  require(shape.size() <= to.size(), "shape {} does not broadcast to {}", shape, to);
  size_t missing = to.size() - shape.size();
  Shape own = stridesOf(shape), strides(to.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    require(shape[d] == 1 || shape[d] == to[missing + d], "shape {} does not broadcast to {}", shape, to);
    strides[missing + d] = shape[d] == 1 ? 0 : own[d];
  }
  return strides;
}

Shape broadcast(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1, right = i < b.size() ? b[b.size() - 1 - i] : 1;
    require(left == right || left == 1 || right == 1, "shapes {} and {} do not broadcast together", a, b);
    result[result.size() - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

int64_t normalizeAxis(int64_t axis, int64_t rank) {
  require(-rank <= axis && axis < rank, "expected an axis from {} to {}, found {}", -rank, rank - 1, axis);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> normalizeAxes(std::vector<int64_t> axes, int64_t rank) {
  std::vector<bool> seen(rank);
  for (int64_t &axis : axes) {
    axis = normalizeAxis(axis, rank);
    require(!seen[axis], "axis {} is given twice", axis);
    seen[axis] = true;
  }
  return axes;
}

AxisView::AxisView(const Shape &shape, int64_t axis)
    : outer(product(std::span(shape).first(axis))), size(shape[axis]),
      inner(product(std::span(shape).subspan(axis + 1))) {}

} // namespace tilewright::reference
