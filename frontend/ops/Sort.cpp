// SPDX-License-Identifier: Apache-2.0
// TopK without sorting, in two forms.
//
// By ranks: the rank of an element is the number of elements ahead of it, and each result selects the element with its
// rank. All pairs along the axis are compared, which is fast if it is short.
//
//   rank[j]   = number of i with x[i] better than x[j], or equal and i < j
//   index[k]  = sum of all j with rank[j] = k          value[k] = x[index[k]]
//
// One by one, for a few of many elements: numbers are made that no two elements share, and each step finds the largest
// that is below the one of the step before.
//
//   number[j] = order of x[j] * 2^32 + size - 1 - j    best[k] = max of all number[j] < best[k - 1]
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

namespace {

/// The elements of TopK along its axis, which is last.
struct Rows {
  Term elements; // halves as f32
  DType type;    // of the model's tensor
  int64_t size;  // along the axis
  int64_t chosen;
  bool largest;
};

/// Few of many elements, whose order fits 32 bits.
bool chooseOneByOne(const Rows &rows) {
  constexpr int64_t most = 32, elementsForEach = 8;
  const DTypeInfo &type = *findDType(rows.type);
  bool isNarrow = type.isFloat ? rows.elements.element().isF32() : type.bits < 32 || (type.bits == 32 && type.isSigned);
  return isNarrow && rows.chosen <= most && rows.size >= elementsForEach * rows.chosen &&
         rows.size <= std::numeric_limits<int32_t>::max();
}

/// i64 numbers in the order of the elements: the better one has the larger number. NaN is the largest element, and both
/// zeros are equal.
Term orderOf(NodeBuilder &b, const Rows &rows) {
  Term x = rows.elements, order;
  if (x.isFloat()) {
    Type i32 = b.state.builder.getI32Type();
    Term unsignedZero = b.select(b.compare(F::OEQ, I::eq, x, b.like(x, 0)), b.like(x, 0), x);
    Term bits = b.term(arith::BitcastOp::create(b.state.builder, b.state.location,
                                                graph::withElementType(x.type(), i32), unsignedZero.value));
    Term magnitude = b.splatInteger(x.sizes(), i32, std::numeric_limits<int32_t>::max());
    bits = b.select(isBelow(bits, b.like(bits, 0)), b.apply<arith::XOrIOp>(bits, magnitude), bits);
    order = b.convert(b.select(b.compare(F::UNO, I::ne, x, x), magnitude, bits), DType::I32, DType::I64);
  } else {
    order = b.convert(x, rows.type, DType::I64);
  }
  return rows.largest ? order : b.like(order, -1) - order;
}

/// The indices of the chosen elements along the last dimension, best first.
Term indicesOneByOne(NodeBuilder &b, const Rows &rows) {
  Type i64 = b.state.builder.getI64Type();
  Sizes sizes = rows.elements.sizes(), one = sizes;
  int64_t last = rows.elements.rank() - 1;
  one.back() = b.number(1);
  auto splat = [&](ArrayRef<AffineExpr> of, int64_t value) { return b.splatInteger(of, i64, value); };
  Term number =
      orderOf(b, rows) * splat(sizes, int64_t(1) << 32) + splat(sizes, rows.size - 1) - b.iota(sizes, last, i64);
  SmallVector<Term> best;
  for (int64_t k = 0; k < rows.chosen; ++k) {
    Term left = best.empty() ? number
                             : b.select(isBelow(number, b.broadcast(best.back(), sizes)), number,
                                        splat(sizes, std::numeric_limits<int64_t>::min()));
    best.push_back(b.reshape(b.reduce(ReduceKind::Max, left, {last}), one));
  }
  Term all = b.concat(best, last);
  Term low = b.apply<arith::AndIOp>(all, splat(all.sizes(), std::numeric_limits<uint32_t>::max()));
  return splat(all.sizes(), rows.size - 1) - low;
}

/// The same for `k` of them, a number that may be unknown, by comparing all pairs.
Term indicesByRanks(NodeBuilder &b, const Rows &rows, AffineExpr k) {
  int64_t rank = rows.elements.rank();
  Sizes pairs = rows.elements.sizes(), chosen = pairs;
  pairs.push_back(b.number(rows.size));
  auto asRows = llvm::to_vector(llvm::seq<int64_t>(0, rank)), asColumns = asRows;
  asColumns.back() = rank;
  Type i64 = b.state.builder.getI64Type();
  // Compares [..., i] with [..., j].
  Term one = b.broadcast(rows.elements, pairs, asRows), other = b.broadcast(rows.elements, pairs, asColumns);
  bool isSigned = findDType(rows.type)->isSigned;
  Term isEarlier = b.compare(F::OLT, I::slt, b.iota(pairs, rank, i64), b.iota(pairs, rank - 1, i64));
  Term isBefore = b.select(isEarlier,
                           b.apply<arith::XOrIOp>(isAhead(b, one, other, rows.largest, isSigned),
                                                  b.splatInteger(pairs, b.state.builder.getI1Type(), 1)),
                           isAhead(b, other, one, rows.largest, isSigned));
  Term place = b.reduce(ReduceKind::Sum, b.convert(isBefore, DType::Bool, DType::I64), {rank});
  chosen.back() = k;
  Sizes searched = chosen;
  searched.push_back(b.number(rows.size));
  Term isHere = isEqual(b.broadcast(place, searched, asColumns), b.iota(searched, rank - 1, i64));
  return b.reduce(ReduceKind::Sum, b.select(isHere, b.iota(searched, rank, i64), b.splatInteger(searched, i64, 0)),
                  {rank});
}

} // namespace

void topK(NodeBuilder &b) {
  constexpr int64_t longest = 512; // to compare all pairs; for longer axes the reference, which sorts, is faster
  int64_t rank = b.rank(0);
  b.expect(rank >= 1, "expected a tensor of rank 1 or more, got a scalar");
  int64_t axis = b.axis(b.integer("axis", -1), rank);
  AffineExpr size = b.sizes(0)[axis];
  std::optional<int64_t> known = graph::constantSize(size);
  if (known.value_or(longest + 1) > longest && !b.constant(1))
    decline("a choice among {} of a number that is known only when running is not compiled, only among up to {}",
            b.state.print(size), longest);
  Sizes k = b.sizesFrom(1);
  b.expect(k.size() == 1, fmt::format("expected one k, got {}", k.size()));
  if (!b.state.requireAtMost(k[0], size,
                             fmt::format("node '{}': expected k of at most {}", b.node.name, b.state.print(size))) ||
      graph::constantSize(k[0]).value_or(0) < 0)
    malformed("expected k from 0 to {}, got {}", b.state.print(size), b.state.print(k[0]));
  SmallVector<int64_t> order, back(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      order.push_back(dim);
  order.push_back(axis);
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = static_cast<int64_t>(to);
  Rows rows{b.transpose(b.in(0), order), b.type(0), known.value_or(longest + 1),
            graph::constantSize(k[0]).value_or(std::numeric_limits<int32_t>::max()), b.integer("largest", 1) != 0};
  bool isOneByOne = known && rows.chosen > 0 && chooseOneByOne(rows);
  if (!isOneByOne && rows.size > longest)
    decline("a choice of {} among {} is not compiled, only among up to {}, or of one in eight", b.state.print(k[0]),
            b.state.print(size), longest);
  Term index = isOneByOne ? indicesOneByOne(b, rows) : indicesByRanks(b, rows, k[0]);
  Term where = b.transpose(index, back);
  b.out(b.takeElements(b.raw(0), axis, where));
  b.out(where, DType::I64, 1);
}

} // namespace tilewright::ops
