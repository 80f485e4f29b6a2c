// SPDX-License-Identifier: Apache-2.0
// Index arithmetic on scalars, which becomes part of a kernel.
#include "frontend/sizes/RunTimeSizes.h"

#include <limits>

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright {

//===- Scalars ----------------------------------------------------------------------------------------------------===//

bool isRunTime(NodeBuilder &b, size_t i) { return b.has(i) && !b.state.elementsOf(b.input(i)); }

Term scalarOf(NodeBuilder &b, AffineExpr number) {
  number = b.state.resolve(number);
  if (std::optional<int64_t> constant = graph::constantSize(number))
    return scalarOf(b, *constant);
  return b.sizeAs(number, {}, b.state.builder.getI64Type());
}

Term scalarOf(NodeBuilder &b, int64_t number) { return b.splatInteger({}, b.state.builder.getI64Type(), number); }

Term isEqual(Term a, Term b) { return a.builder->compare(F::OEQ, I::eq, a, b); }
Term isBelow(Term a, Term b) { return a.builder->compare(F::OLT, I::slt, a, b); }
Term either(Term a, Term b) { return a.builder->apply<arith::OrIOp>(a, b); }
Term both(Term a, Term b) { return a.builder->apply<arith::AndIOp>(a, b); }

Term stepsBetween(Term first, Term last, Term step) {
  NodeBuilder &b = *step.builder;
  Term zero = scalarOf(b, int64_t(0)), one = scalarOf(b, int64_t(1)), isForward = isBelow(zero, step);
  Term span = b.select(isForward, last - first, first - last), stride = b.select(isForward, step, zero - step);
  return b.select(isBelow(zero, span), b.divideIntegers(span - one, stride, /*isSigned=*/false) + one, zero);
}

Term floorModulo(Term a, Term m) {
  NodeBuilder &b = *a.builder;
  Term rest = a - b.divideIntegers(a, m, true) * m;
  return b.select(isBelow(rest, b.like(rest, 0)), rest + m, rest);
}

std::vector<Term> NodeBuilder::scalars(size_t i, DType as) {
  if (rank(i) > 1)
    malformed("expected input {} of rank 0 or 1, got {}", i, print(sizes(i)));
  std::vector<Term> list;
  if (const Sizes *elements = as == DType::I64 ? state.elementsOf(input(i)) : nullptr) {
    for (AffineExpr element : *elements)
      list.push_back(scalarOf(*this, element));
    return list;
  }
  std::optional<int64_t> count = graph::constantSize(product(sizes(i)));
  constexpr int64_t most = 64; // dimensions of a tensor
  if (!count || *count > most)
    decline("the contents of input {} are only known at run time", i);
  Term all = reshape(convert(raw(i), type(i), as), {number(*count)});
  for (int64_t at = 0; at < *count; ++at)
    list.push_back(reshape(slice(all, 0, number(at), number(1)), {}));
  return list;
}

Sizes NodeBuilder::sizesFrom(size_t i) {
  if (!isRunTime(*this, i))
    return knownSizes(i);
  RunTimeSizes read(*this);
  Sizes list;
  for (Term element : scalars(i))
    list.push_back(read.add(element, number(1)));
  read.read();
  return list;
}

Term NodeBuilder::take(Term x, ArrayRef<int64_t> dims, ArrayRef<Term> indices) {
  Sizes result = x.sizes();
  SmallVector<AffineExpr> coordinates;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    coordinates.push_back(getAffineDimExpr(dim, state.context));
  for (auto [i, dim] : llvm::enumerate(dims)) {
    result[dim] = indices[i].sizes()[0];
    coordinates[dim] = getAffineDimExpr(x.rank() + i, state.context);
  }
  SmallVector<Term> spread;
  for (auto [dim, index] : llvm::zip_equal(dims, indices))
    spread.push_back(broadcast(index, result, {dim}));
  return dims.empty()
             ? x
             : gather(x, spread, AffineMap::get(x.rank() + dims.size(), 0, coordinates, state.context), result);
}

Term NodeBuilder::takeElements(Term x, int64_t dim, Term index) {
  auto rank = static_cast<unsigned>(x.rank());
  SmallVector<AffineExpr> coordinates;
  for (unsigned at = 0; at < rank; ++at)
    coordinates.push_back(getAffineDimExpr(at == dim ? rank : at, state.context));
  return gather(x, {index}, AffineMap::get(rank + 1, 0, coordinates, state.context), index.sizes());
}

//===- Sizes ------------------------------------------------------------------------------------------------------===//

AffineExpr RunTimeSizes::add(Term number, AffineExpr like) {
  auto trial = [&](int i) { return std::max<int64_t>(1, graph::evaluate(like, {}, b.state.trialNumbers(i))); };
  AffineExpr symbol = b.state.freshSymbol("u", trial(0), trial(1));
  numbers.push_back(number);
  symbols.push_back(symbol);
  return symbol;
}

void RunTimeSizes::require(Term condition, const std::string &expected) {
  Term number = b.convert(condition, DType::Bool, DType::I64);
  conditions.emplace_back(add(number, b.number(1)), fmt::format("node '{}': {}", b.node.name, expected));
}

void RunTimeSizes::read() {
  if (numbers.empty())
    return;
  Type i64 = b.state.builder.getI64Type();
  Sizes count{b.number(static_cast<int64_t>(numbers.size()))};
  Term position = b.iota(count, 0, i64), all = b.broadcast(numbers.back(), count);
  for (size_t i = numbers.size() - 1; i-- > 0;)
    all = b.select(isEqual(position, b.splatInteger(count, i64, static_cast<int64_t>(i))),
                   b.broadcast(numbers[i], count), all);
  b.state.readSizes(all.value, symbols);
  for (auto &[symbol, expected] : conditions)
    b.state.requireAtMost(b.number(1), symbol, expected);
}

//===- Axes -------------------------------------------------------------------------------------------------------===//

RunTimeAxes::RunTimeAxes(NodeBuilder &b, size_t i, int64_t rank, RunTimeSizes &sizes) : b(b) {
  std::optional<Term> valid;
  auto also = [&](Term condition) { valid = valid ? both(*valid, condition) : condition; };
  Term end = scalarOf(b, rank), zero = scalarOf(b, int64_t(0));
  for (Term given : b.scalars(i)) {
    Term axis = b.select(isBelow(given, zero), given + end, given);
    also(both(isBelow(axis, end), isBelow(scalarOf(b, int64_t(-1)), axis)));
    for (Term other : list)
      also(b.compare(F::ONE, I::ne, axis, other));
    list.push_back(axis);
  }
  if (valid)
    sizes.require(*valid, fmt::format("expected distinct axes from {} to {} because of the rank", -rank, rank - 1));
}

Term RunTimeAxes::contains(int64_t dim, int64_t count) const {
  Term found = b.splatInteger({}, b.state.builder.getI1Type(), 0);
  for (Term axis : llvm::ArrayRef(list).take_front(count))
    found = either(found, isEqual(axis, scalarOf(b, dim)));
  return found;
}

Term RunTimeAxes::below(int64_t dim) const {
  Term total = scalarOf(b, int64_t(0));
  for (Term axis : list)
    total = total + b.convert(isBelow(axis, scalarOf(b, dim)), DType::Bool, DType::I64);
  return total;
}

std::vector<AxisView> viewsAlong(NodeBuilder &b, const RunTimeAxes &axes, const Sizes &sizes, RunTimeSizes &read) {
  Term one = scalarOf(b, int64_t(1));
  std::vector<AxisView> views;
  for (int64_t k = 0; k < axes.count(); ++k) {
    Term axis = axes.axes()[k], before = one, along = one, after = one;
    AffineExpr behind = b.number(1);
    for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim) {
      Term size = b.select(axes.contains(dim, k), one, scalarOf(b, sizes[dim])), position = scalarOf(b, dim);
      before = before * b.select(isBelow(position, axis), size, one);
      along = along * b.select(isEqual(position, axis), size, one);
      after = after * b.select(isBelow(axis, position), size, one);
      if (dim > k)
        behind = behind * sizes[dim];
    }
    views.push_back({read.add(before, b.number(1)), read.add(along, sizes[k]), read.add(after, behind)});
  }
  return views;
}

Sizes sizesWithout(NodeBuilder &b, const RunTimeAxes &axes, const Sizes &sizes, bool keep, RunTimeSizes &read) {
  Sizes result;
  auto rank = static_cast<int64_t>(sizes.size());
  Term one = scalarOf(b, int64_t(1)), zero = scalarOf(b, int64_t(0));
  for (int64_t dim = 0; keep && dim < rank; ++dim)
    result.push_back(read.add(b.select(axes.contains(dim), one, scalarOf(b, sizes[dim])),
                              dim < axes.count() ? b.number(1) : sizes[dim]));
  for (int64_t at = 0; !keep && at < rank - axes.count();
       // The size of result dimension `at`: that of the kept dimension with `at` kept ones before it.
       ++at) {
    Term size = zero;
    for (int64_t dim = at; dim <= at + axes.count(); ++dim) {
      Term isHere = isEqual(scalarOf(b, dim - at), axes.below(dim));
      Term stays = b.select(axes.contains(dim), zero, scalarOf(b, sizes[dim]));
      size = size + b.select(isHere, stays, zero);
    }
    result.push_back(read.add(size, sizes[at + axes.count()]));
  }
  return result;
}

} // namespace tilewright
