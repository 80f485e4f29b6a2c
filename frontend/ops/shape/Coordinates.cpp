// SPDX-License-Identifier: Apache-2.0
// Tensors computed from coordinates: Trilu, EyeLike, OneHot, Range, and ConstantOfShape.
#include "frontend/ops/Handlers.h"
#include "frontend/ops/shape/RunTimeShape.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright::ops {

void trilu(NodeBuilder &b) {
  b.expect(b.rank(0) >= 2, fmt::format("expected rank 2 or more, got {}", b.rank(0)));
  Term x = b.raw(0);
  Type i64 = b.state.builder.getI64Type();
  Term k = b.has(1) ? b.reshape(b.raw(1), {}) : b.splatInteger({}, i64, 0);
  Term row = b.iota(x.sizes(), x.rank() - 2, i64), column = b.iota(x.sizes(), x.rank() - 1, i64);
  Term diagonal = row + k;
  Term keep = b.compare(F::OGE, b.integer("upper", 1) ? I::sge : I::sle, column, diagonal);
  b.out(b.select(keep, x, b.like(x, 0)));
}

void eyeLike(NodeBuilder &b) {
  b.expect(b.rank(0) == 2, fmt::format("expected rank 2, got {}", b.rank(0)));
  auto type = static_cast<DType>(b.integer("dtype", static_cast<int64_t>(b.type(0))));
  if (!findDType(type))
    decline("the element type {} is not compiled", b.integer("dtype", 0));
  Type i64 = b.state.builder.getI64Type(), element = elementType(b.state.context, type);
  const Sizes sizes = b.sizes(0);
  Term row = b.iota(sizes, 0, i64), column = b.iota(sizes, 1, i64);
  Term hit = b.compare(F::OEQ, I::eq, column, row + b.splatInteger(sizes, i64, b.integer("k", 0)));
  b.out(b.select(hit, b.splat(sizes, element, 1), b.splat(sizes, element, 0)), type);
}

/// Compares the indices with 0..depth-1 along a new dimension.
void oneHot(NodeBuilder &b) {
  Sizes depth = b.sizesFrom(1);
  b.expect(depth.size() == 1, fmt::format("expected one depth, got {}", depth.size()));
  b.expectRank(2, 1);
  b.unify(b.sizes(2)[0], b.number(2), "values (off and on)");
  int64_t axis = b.axis(b.integer("axis", -1), b.rank(0) + 1);
  Sizes sizes = b.sizes(0);
  sizes.insert(sizes.begin() + axis, depth[0]);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim)
    if (dim != axis)
      dims.push_back(dim);
  Term index = b.wrapped(b.convert(b.raw(0), b.type(0), DType::I64), depth[0]);
  Term hit = b.compare(F::OEQ, I::eq, b.broadcast(index, sizes, dims), b.iota(sizes, axis, index.element()));
  Term values = b.in(2); // select has no half types
  auto value = [&](int64_t at) { return b.reshape(b.slice(values, 0, b.number(at), b.number(1)), {}); };
  b.out(b.select(hit, value(1), value(0)), b.type(2));
}

void constantOfShape(NodeBuilder &b) {
  Sizes sizes = b.sizesFrom(0);
  for (AffineExpr size : sizes)
    b.expect(graph::constantSize(size).value_or(0) >= 0,
             fmt::format("expected sizes of at least 0, got {}", b.print(sizes)));
  auto found = b.node.attributes.find("value");
  if (found == b.node.attributes.end())
    return b.out(b.splat(sizes, b.state.builder.getF32Type(), 0), DType::F32);
  const auto *value = std::get_if<Tensor>(&found->second);
  b.expect(value && value->count() == 1, "expected a value of one element");
  b.out(b.broadcast(b.reshape(b.constantTerm(*value), {}), sizes), value->type());
}

/// start + iota * delta.
void range(NodeBuilder &b) {
  DType type = b.type(0);
  bool isInteger = type == DType::I64 || type == DType::I32;
  if (!isInteger || isRunTime(b, 0) || isRunTime(b, 1) || isRunTime(b, 2))
    return rangeWhenRunning(b);
  AffineExpr start = b.knownSize(0), limit = b.knownSize(1), delta = b.knownSize(2);
  std::optional<int64_t> step = graph::constantSize(delta);
  if (!step || *step <= 0)
    decline("a range with a step that is not a positive constant is not compiled");
  AffineExpr count = graph::canonicalSize((limit - start).ceilDiv(*step));
  if (auto constant = graph::constantSize(count))
    count = b.number(std::max<int64_t>(0, *constant));
  Sizes sizes{count};
  Term position = b.iota(sizes, 0, elementType(b.state.context, type));
  Term result = *step == 1 ? position : position * b.splatInteger(sizes, position.element(), *step);
  b.out(start == b.number(0) ? result : result + b.sizeAs(start, sizes, position.element()), type);
}

} // namespace tilewright::ops
