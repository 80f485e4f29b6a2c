// SPDX-License-Identifier: Apache-2.0
// TopK without sorting: the rank of an element is the number of elements ahead of it, and each result selects the
// element with its rank.
//
//   rank[j]   = number of i with x[i] better than x[j], or equal and i < j
//   index[k]  = sum of all j with rank[j] = k          value[k] = x[index[k]]
//
// Both compare all pairs along the axis, which is fast if it is short.
#include "frontend/ops/Handlers.h"
#include "frontend/sizes/RunTimeSizes.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {

/// Whether `a` is ahead of `b` by value. NaN counts as the largest number.
static Term isAhead(NodeBuilder &b, Term a, Term c, bool largest, bool isSigned) {
  if (!largest)
    std::swap(a, c);
  if (!a.isFloat())
    return b.compare(F::OGT, isSigned ? I::sgt : I::ugt, a, c);
  Term isNumber = b.compare(F::ORD, I::eq, c, c);
  return both(b.compare(F::UGT, I::sgt, a, c), isNumber);
}

void topK(NodeBuilder &b) {
  constexpr int64_t longest = 512; // for longer axes the reference, which sorts, is faster
  int64_t rank = b.rank(0);
  b.expect(rank >= 1, "expected a tensor of rank 1 or more, got a scalar");
  int64_t axis = b.axis(b.integer("axis", -1), rank);
  AffineExpr size = b.sizes(0)[axis];
  if (graph::constantSize(size).value_or(longest + 1) > longest)
    decline("a choice among {} is not compiled, only among up to {}", b.state.print(size), longest);
  Sizes k = b.sizesFrom(1);
  b.expect(k.size() == 1, fmt::format("expected one k, got {}", k.size()));
  if (!b.state.requireAtMost(k[0], size,
                             fmt::format("node '{}': expected k of at most {}", b.node.name, b.state.print(size))) ||
      graph::constantSize(k[0]).value_or(0) < 0)
    malformed("expected k from 0 to {}, got {}", b.state.print(size), b.state.print(k[0]));
  Term x = b.in(0);
  // Compares [..., i] with [..., j]; the axis is last.
  SmallVector<int64_t> order, back(rank), asRows, asColumns;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      order.push_back(dim), asRows.push_back(order.size() - 1), asColumns.push_back(order.size() - 1);
  order.push_back(axis), asRows.push_back(rank - 1), asColumns.push_back(rank);
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = static_cast<int64_t>(to);
  Term rows = b.transpose(x, order);
  Sizes pairs = rows.sizes(), chosen = rows.sizes();
  pairs.push_back(size);
  Type i64 = b.state.builder.getI64Type();
  Term one = b.broadcast(rows, pairs, asRows), other = b.broadcast(rows, pairs, asColumns);
  bool largest = b.integer("largest", 1), isSigned = findDType(b.type(0))->isSigned;
  Term isEarlier = b.compare(F::OLT, I::slt, b.iota(pairs, rank, i64), b.iota(pairs, rank - 1, i64));
  Term isBefore = b.select(isEarlier,
                           b.apply<arith::XOrIOp>(isAhead(b, one, other, largest, isSigned),
                                                  b.splatInteger(pairs, b.state.builder.getI1Type(), 1)),
                           isAhead(b, other, one, largest, isSigned));
  Term place = b.reduce(ReduceKind::Sum, b.convert(isBefore, DType::Bool, DType::I64), {rank});
  chosen.back() = k[0];
  Sizes searched = chosen;
  searched.push_back(size);
  Term isHere = isEqual(b.broadcast(place, searched, asColumns), b.iota(searched, rank - 1, i64));
  Term index = b.reduce(ReduceKind::Sum,
                        b.select(isHere, b.iota(searched, rank, i64), b.splatInteger(searched, i64, 0)), {rank});
  SmallVector<AffineExpr> coordinates;
  for (int64_t dim = 0; dim < rank; ++dim)
    coordinates.push_back(getAffineDimExpr(dim == axis ? rank : dim, b.state.context));
  Term where = b.transpose(index, back);
  b.out(b.gather(b.raw(0), {where}, AffineMap::get(rank + 1, 0, coordinates, b.state.context), where.sizes()));
  b.out(where, DType::I64, 1);
}

} // namespace tilewright::ops
