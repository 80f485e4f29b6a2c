// SPDX-License-Identifier: Apache-2.0
// ScatterND and ScatterElements whose indices are constants, as they are where a model assigns to a slice. Each place
// then knows which update it takes, if any, so that they are selections and nothing is written twice.
//
//   y[..., 3:8] = x      at = iota;  3 <= at < 8 ? x[at - 3] : y[at]           updates that follow each other
//   otherwise            from = constant;  from >= 0 ? x[from] : y[at]
#include "frontend/ops/Handlers.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright::ops {
namespace {

constexpr int64_t mostPlaces = 1 << 20; // the most elements of the constant `from`

/// For each place the update that it takes, the last of several; -1 where there is none.
using Sources = std::vector<int64_t>;

/// The sizes of the first `count` dimensions of the data, which the indices index. Declines if they are not constant or
/// too many.
Shape scatteredSizes(NodeBuilder &b, int64_t count) {
  Shape shape;
  int64_t places = 1;
  for (AffineExpr size : ArrayRef(b.sizes(0)).take_front(count)) {
    std::optional<int64_t> known = graph::constantSize(size);
    if (!known)
      decline("it writes along a dimension of {} elements, which is no number", b.state.print(size));
    shape.push_back(*known), places *= std::max<int64_t>(*known, 1);
  }
  if (places > mostPlaces)
    decline("it writes to up to {} places, more than {}", places, mostPlaces);
  return shape;
}

int64_t checkedIndex(int64_t index, int64_t size, int64_t dim) {
  int64_t at = index < 0 ? index + size : index;
  if (at < 0 || at >= size)
    malformed("index {} is out of range for dimension {} of size {}", index, dim, size);
  return at;
}

/// If the updates are written to consecutive places in order: the first place. Else nullopt.
std::optional<int64_t> firstOfRun(const Sources &sources, int64_t updates) {
  auto first =
      static_cast<int64_t>(llvm::find_if(sources, [](int64_t source) { return source >= 0; }) - sources.begin());
  if (first + updates > static_cast<int64_t>(sources.size()))
    return std::nullopt;
  for (int64_t i = 0; i < static_cast<int64_t>(sources.size()); ++i) {
    bool isInside = i >= first && i < first + updates;
    if (sources[static_cast<size_t>(i)] != (isInside ? i - first : -1))
      return std::nullopt;
  }
  return first;
}

/// The data [places, rest...], with update sources[i] of `updates` [updates, rest...] at each place i that has one.
Term scattered(NodeBuilder &b, Term data, Term updates, const Sources &sources) {
  Type i64 = b.state.builder.getI64Type();
  int64_t count = graph::constantSize(updates.sizes()[0]).value();
  if (count == 0)
    return data;
  if (std::optional<int64_t> first = firstOfRun(sources, count)) {
    SmallVector<int64_t> low(updates.rank(), 0);
    low[0] = *first;
    Term at = b.iota(data.sizes(), 0, i64);
    Term isWritten =
        b.apply<arith::AndIOp>(b.compare(F::OGE, I::sge, at, b.splatInteger(data.sizes(), i64, *first)),
                               b.compare(F::OLT, I::slt, at, b.splatInteger(data.sizes(), i64, *first + count)));
    return b.select(isWritten, b.pad(updates, low, data.sizes(), 0), data);
  }
  auto places = static_cast<int64_t>(sources.size());
  Tensor table = Tensor::allocate(DType::I64, {places});
  llvm::copy(sources, table.data<int64_t>());
  Term from = b.constantTerm(table);
  Term isWritten = b.compare(F::OGE, I::sge, from, b.splatInteger(from.sizes(), i64, 0));
  Term written = b.take(updates, {0}, {b.maximum(from, b.splatInteger(from.sizes(), i64, 0))});
  return b.select(b.broadcast(isWritten, data.sizes(), {0}), written, data);
}

/// The indices, which must be constants.
std::vector<int64_t> constantIndices(NodeBuilder &b) {
  if (std::string how = b.text("reduction", "none"); how != "none")
    decline("a scatter with the reduction '{}' is not compiled", how);
  if (!b.constant(1))
    decline("where it writes is known only when running");
  return b.knownIntegers(1);
}

/// Gives `x` one dimension instead of its first `count`.
Term withFirstAsOne(NodeBuilder &b, Term x, int64_t count) {
  Sizes all = x.sizes(), sizes = {b.product(ArrayRef(all).take_front(count))};
  sizes.append(all.begin() + count, all.end());
  return b.reshape(x, sizes);
}

} // namespace

void scatterND(NodeBuilder &b) {
  std::vector<int64_t> indices = constantIndices(b);
  int64_t written = b.rank(1) - 1; // dimensions of the indices that count updates
  b.expect(written >= 0, "expected indices of rank 1 or more, got 0");
  int64_t depth = graph::constantSize(b.sizes(1).back()).value();
  if (depth == 0)
    decline("its indices are of no dimension");
  b.expect(depth <= b.rank(0), fmt::format("expected indices of at most {} numbers each, got {}", b.rank(0), depth));
  b.expect(b.rank(2) == written + b.rank(0) - depth,
           fmt::format("expected updates of rank {}, got {}", written + b.rank(0) - depth, b.rank(2)));
  for (int64_t dim = 0; dim < b.rank(2); ++dim)
    b.unify(b.sizes(2)[dim], dim < written ? b.sizes(1)[dim] : b.sizes(0)[dim - written + depth],
            fmt::format("updates in dimension {}", dim));
  Shape sizes = scatteredSizes(b, depth);
  int64_t places = 1;
  for (int64_t size : sizes)
    places *= size;
  Sources sources(static_cast<size_t>(places), -1);
  for (size_t at = 0; at < indices.size(); at += static_cast<size_t>(depth)) {
    int64_t place = 0;
    for (int64_t dim = 0; dim < depth; ++dim)
      place = place * sizes[dim] + checkedIndex(indices[at + static_cast<size_t>(dim)], sizes[dim], dim);
    sources[static_cast<size_t>(place)] = static_cast<int64_t>(at) / depth;
  }
  Term data = b.in(0), updates = b.in(2);
  b.out(b.reshape(scattered(b, withFirstAsOne(b, data, depth), withFirstAsOne(b, updates, written), sources),
                  data.sizes()));
}

void scatterElements(NodeBuilder &b) {
  std::vector<int64_t> indices = constantIndices(b);
  int64_t rank = b.rank(0), axis = b.axis(b.integer("axis", 0), rank);
  b.expect(b.rank(1) == rank && b.rank(2) == rank,
           fmt::format("expected indices and updates of rank {}, got {} and {}", rank, b.rank(1), b.rank(2)));
  Shape sizes = scatteredSizes(b, rank), count;
  int64_t places = 1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    count.push_back(graph::constantSize(b.sizes(1)[dim]).value()), places *= sizes[dim];
    b.unify(b.sizes(2)[dim], b.sizes(1)[dim], fmt::format("updates in dimension {}", dim));
    b.expect(dim == axis || count[dim] <= sizes[dim],
             fmt::format("expected at most {} indices in dimension {}, got {}", sizes[dim], dim, count[dim]));
  }
  Sources sources(static_cast<size_t>(places), -1);
  SmallVector<int64_t> at(static_cast<size_t>(rank), 0);
  for (size_t update = 0; update < indices.size(); ++update) {
    int64_t place = 0;
    for (int64_t dim = 0; dim < rank; ++dim)
      place = place * sizes[dim] + (dim == axis ? checkedIndex(indices[update], sizes[dim], dim) : at[dim]);
    sources[static_cast<size_t>(place)] = static_cast<int64_t>(update);
    advanceIndex(at, count);
  }
  Term data = b.in(0), updates = b.in(2);
  b.out(
      b.reshape(scattered(b, withFirstAsOne(b, data, rank), withFirstAsOne(b, updates, rank), sources), data.sizes()));
}

} // namespace tilewright::ops
