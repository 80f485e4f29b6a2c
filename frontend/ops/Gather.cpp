// SPDX-License-Identifier: Apache-2.0
// Gather and its relatives: reads at computed coordinates.
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

SmallVector<int64_t> range(int64_t begin, int64_t end) { return llvm::to_vector(llvm::seq<int64_t>(begin, end)); }

constexpr int64_t mostIndicesOfSlice = 1 << 16;    // that are looked at
constexpr int64_t largestIndex = int64_t(1) << 48; // of any dimension: no memory holds more

/// A gather with constant indices at equal distances is a slice, which is free. XLNet takes the first keys so.
std::optional<Term> gatherAsSlice(NodeBuilder &b, int64_t axis) {
  const Tensor *constant = b.constant(1);
  std::optional<int64_t> size = graph::constantSize(b.sizes(0)[axis]);
  if (!constant || constant->count() == 0 || constant->count() > mostIndicesOfSlice || b.rank(1) > 1)
    return std::nullopt;
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < constant->count(); ++i)
    indices.push_back(integerAt(*constant, i));
  for (int64_t &index : indices) {
    if (index < 0 && !size)
      return std::nullopt;
    if (index > largestIndex && !size)
      malformed("index {} is out of range for dimension {} of any size", index, axis);
    int64_t at = index < 0 ? index + *size : index;
    if (size && (at < 0 || at >= *size))
      malformed("index {} is out of range for dimension {} of size {}", index, axis, *size);
    index = at;
  }
  int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  for (size_t i = 1; i < indices.size(); ++i)
    if (step == 0 || indices[i] - indices[i - 1] != step)
      return std::nullopt;
  auto count = static_cast<int64_t>(indices.size());
  if (!size && !b.state.requireAtMost(b.number(std::max(indices.front(), indices.back()) + 1), b.sizes(0)[axis],
                                      fmt::format("node '{}' reads index {} of dimension {}", b.node.name,
                                                  std::max(indices.front(), indices.back()), axis)))
    return std::nullopt;
  Term x = b.slice(b.raw(0), axis, b.number(indices[0]), b.number(count), step);
  if (b.rank(1) == 1)
    return x;
  Sizes sizes = x.sizes();
  sizes.erase(sizes.begin() + axis);
  return b.reshape(x, sizes);
}

Term indexTerm(NodeBuilder &b, AffineExpr size) {
  if (const Tensor *constant = b.constant(1); constant && constant->count() > 0 && constant->count() <= 1024) {
    std::vector<int64_t> indices = b.knownIntegers(1);
    if (llvm::all_of(indices, [](int64_t index) { return index >= 0; }))
      return b.raw(1);
  }
  return b.wrapped(b.raw(1), size);
}

} // namespace

/// The result has the sizes data[:axis] + indices + data[axis+1:].
void gather(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", 0), b.rank(0));
  if (std::optional<Term> sliced = gatherAsSlice(b, axis))
    return b.out(*sliced);
  Term data = b.raw(0), index = indexTerm(b, data.sizes()[axis]);
  Sizes sizes = data.sizes();
  sizes.erase(sizes.begin() + axis);
  Sizes indexSizes = index.sizes();
  sizes.insert(sizes.begin() + axis, indexSizes.begin(), indexSizes.end());
  auto rank = static_cast<int64_t>(sizes.size()), added = index.rank();
  SmallVector<AffineExpr> coordinates;
  for (int64_t dim = 0; dim < data.rank(); ++dim)
    coordinates.push_back(getAffineDimExpr(dim < axis ? dim : dim == axis ? rank : dim - 1 + added, b.state.context));
  Term spread = b.broadcast(index, sizes, range(axis, axis + added));
  b.out(b.gather(data, {spread}, AffineMap::get(rank + 1, 0, coordinates, b.state.context), sizes));
}

/// For axis 1: out[i, j] = data[i, index[i, j]].
void gatherElements(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", 0), b.rank(0)), rank = b.rank(0);
  b.expect(b.rank(1) == rank, fmt::format("expected indices of rank {}, got {}", rank, b.rank(1)));
  Term data = b.raw(0), index = indexTerm(b, data.sizes()[axis]);
  for (int64_t dim = 0; dim < rank; ++dim) {
    AffineExpr wanted = index.sizes()[dim], given = data.sizes()[dim];
    if (dim != axis && !b.state.requireAtMost(wanted, given,
                                              fmt::format("node '{}' reads {} of {} elements", b.node.name,
                                                          b.state.print(wanted), b.state.print(given))))
      malformed("expected at most {} indices in dimension {}, got {}", b.state.print(given), dim,
                b.state.print(wanted));
  }
  b.out(b.takeElements(data, axis, index));
}

/// out[t] = x[length - 1 - t] for t < length of the sequence, x[t] for the rest.
void reverseSequence(NodeBuilder &b) {
  int64_t batch = b.integer("batch_axis", 1), time = b.integer("time_axis", 0), rank = b.rank(0);
  b.expect(rank >= 2 && batch + time == 1 && batch * time == 0,
           fmt::format("expected rank 2 or more, and batch_axis and time_axis 0 and 1, got rank {}, {} and {}", rank,
                       batch, time));
  b.expectRank(1, 1);
  b.unify(b.sizes(1)[0], b.sizes(0)[batch], "the number of sequence lengths");
  Term x = b.raw(0);
  Term length = b.along(b.convert(b.raw(1), b.type(1), DType::I64), x, batch),
       at = b.iota(x.sizes(), time, length.element());
  Term isReversed = b.compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, at, length);
  Term index = b.select(isReversed, length - at - b.like(at, 1), at); // invalid lengths are refused at run time
  b.out(b.takeElements(x, time, index));
}

/// The last dimension of `indices` holds the leading coordinates (after batch_dims) in `data`.
void gatherND(NodeBuilder &b) {
  int64_t batch = b.integer("batch_dims", 0);
  b.expect(b.rank(0) >= 1 && b.rank(1) >= 1,
           fmt::format("expected data and indices of rank 1 or more, got {} and {}", b.rank(0), b.rank(1)));
  Term data = b.raw(0), indices = b.raw(1);
  Sizes indexSizes = indices.sizes(), sizes(indexSizes.begin(), indexSizes.end() - 1);
  std::optional<int64_t> tuple = graph::constantSize(indexSizes.back());
  if (std::optional<int64_t> rank = b.declaredRank(0); rank && !tuple) {
    tuple = static_cast<int64_t>(sizes.size()) + data.rank() - batch - *rank;
    b.unify(indexSizes.back(), b.number(*tuple), "the length of the index tuples");
  }
  if (!tuple)
    decline("index tuples of a symbolic length are not compiled");
  b.expect(batch >= 0 && batch < data.rank() && batch <= static_cast<int64_t>(sizes.size()) && *tuple >= 1 &&
               batch + *tuple <= data.rank(),
           fmt::format("expected index tuples of 1 to {} because of the data's rank and batch_dims {}, got {}",
                       data.rank() - batch, batch, *tuple));
  for (int64_t dim = 0; dim < batch; ++dim)
    b.unify(sizes[dim], data.sizes()[dim], fmt::format("batch dimension {} of the indices", dim));
  Sizes dataSizes = data.sizes(), tail(dataSizes.begin() + batch + *tuple, dataSizes.end());
  int64_t lead = static_cast<int64_t>(sizes.size());
  llvm::append_range(sizes, tail);
  auto rank = static_cast<int64_t>(sizes.size());
  SmallVector<AffineExpr> coordinates;
  SmallVector<Term> operands;
  for (int64_t dim = 0; dim < data.rank(); ++dim) {
    bool indexed = dim >= batch && dim < batch + *tuple;
    coordinates.push_back(getAffineDimExpr(indexed       ? rank + dim - batch
                                           : dim < batch ? dim
                                                         : lead + dim - batch - *tuple,
                                           b.state.context));
    if (!indexed)
      continue;
    Term part = b.slice(indices, lead, b.number(dim - batch), b.number(1));
    part = b.reshape(part, Sizes(sizes.begin(), sizes.begin() + lead));
    operands.push_back(b.broadcast(b.wrapped(part, data.sizes()[dim]), sizes, range(0, lead)));
  }
  b.out(b.gather(data, operands, AffineMap::get(rank + *tuple, 0, coordinates, b.state.context), sizes));
}

} // namespace tilewright::ops
