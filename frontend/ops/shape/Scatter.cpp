// SPDX-License-Identifier: Apache-2.0
// ScatterND and ScatterElements. Each place of the result finds the update that it takes, if any, so that nothing is
// written twice and a scatter is a selection.
//
//   y[2:5, :, k] = x    index vectors along dimensions (ScatterIndices.h):
//                       2 <= d0 < 5 and d2 = k ? x[d0 - 2, d1] : y[d0, d1, d2]
//   constant tuples     from = constant;  from >= 0 ? x[from] : y[at]
//   computed indices    from = the last i with index[i] = at, by comparing all pairs, of which there must be few
#include "frontend/ops/Handlers.h"
#include "frontend/ops/shape/ScatterIndices.h"
#include "frontend/sizes/RunTimeSizes.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

/// The most elements of a constant table, and the most comparisons with computed indices. One place is compared with
/// few updates, as a core would take longer to compare them than to write them one after the other.
constexpr int64_t mostPlaces = 1 << 20, mostCompared = 1 << 24, mostUpdatesCompared = 64;

//===- Combining --------------------------------------------------------------------------------------------------===//

/// What becomes of an element and the update that is written to it, by the attribute "reduction".
enum class Combine { Replace, Add, Multiply, Maximum, Minimum };

struct Combination {
  std::string_view name;
  Combine kind;
};

constexpr Combination combinations[] = {{"none", Combine::Replace},
                                        {"add", Combine::Add},
                                        {"mul", Combine::Multiply},
                                        {"max", Combine::Maximum},
                                        {"min", Combine::Minimum}};

Combine combinationOf(NodeBuilder &b) {
  std::string name = b.text("reduction", "none");
  const auto *row = llvm::find_if(combinations, [&](const Combination &row) { return row.name == name; });
  b.expect(row != std::end(combinations),
           fmt::format("expected reduction to be none, add, mul, max or min, got '{}'", name));
  return row->kind;
}

Term combined(NodeBuilder &b, Combine how, Term element, Term update) {
  bool isSigned = findDType(b.type(0))->isSigned;
  switch (how) {
  case Combine::Replace:
    return update;
  case Combine::Add: // one bit would wrap: true and true are true
    return element.element().isInteger(1) ? either(element, update) : element + update;
  case Combine::Multiply:
    return element * update;
  case Combine::Maximum:
    return b.maximum(element, update, isSigned);
  case Combine::Minimum:
    return b.minimum(element, update, isSigned);
  }
  llvm_unreachable("a combination without a case");
}

//===- Indices ----------------------------------------------------------------------------------------------------===//

/// Indices of a dimension of `size` elements, negative ones counted from the end.
Term placesOfIndices(NodeBuilder &b, Term indices, AffineExpr size) {
  return checkedIndices(b, b.wrapped(indices, size), size);
}

int64_t checkedIndex(int64_t index, int64_t size, int64_t dim) {
  int64_t at = index < 0 ? index + size : index;
  if (at < 0 || at >= size)
    malformed("index {} is out of range for dimension {} of size {}", index, dim, size);
  return at;
}

/// The numbers of the places from 0 to `places` - 1.
Term placesOf(NodeBuilder &b, AffineExpr places) { return b.iota({places}, 0, b.state.builder.getI64Type()); }

/// For each of `places` the last of the `indices`, a vector, that is its number; -1 where there is none.
Term lastIndexOf(NodeBuilder &b, Term indices, AffineExpr places) {
  Type i64 = b.state.builder.getI64Type();
  Sizes pairs = {places, indices.sizes()[0]};
  Term isHere = isEqual(b.broadcast(indices, pairs, {1}), b.iota(pairs, 0, i64));
  return b.reduce(ReduceKind::Max, b.select(isHere, b.iota(pairs, 1, i64), b.splatInteger(pairs, i64, -1)), {1});
}

//===- One vector of indices for each dimension -------------------------------------------------------------------===//

/// Updates that are spread over the data, one dimension after the other.
class Spread {
public:
  Spread(NodeBuilder &b, Term data, Term updates) : b_(b), data_(data), updates_(updates), low_(data.rank(), 0) {}

  /// Moves the updates along dimension `dim` to the places that `column` says.
  void along(int64_t dim, const IndexColumn &column);
  /// The result, if each place takes one update at most, or the last of them (Combine::Replace).
  Term finish(Combine how);

private:
  std::optional<int64_t> firstOfRun(int64_t dim, ArrayRef<int64_t> constants) const;
  void place(int64_t dim, int64_t first, AffineExpr count);
  void choose(int64_t dim, Term from);
  void require(Term isWritten, int64_t dim);

  NodeBuilder &b_;
  Term data_, updates_;
  SmallVector<int64_t> low_; // where the updates begin, as far as they follow each other
  std::optional<Term> isWritten_;
};

/// The first index, if the others follow it in order. Of a dimension of unknown size only small indices from the
/// beginning are told.
std::optional<int64_t> Spread::firstOfRun(int64_t dim, ArrayRef<int64_t> constants) const {
  std::optional<int64_t> size = graph::constantSize(data_.sizes()[dim]);
  auto placeOf = [&](int64_t index) { return size ? checkedIndex(index, *size, dim) : index; };
  int64_t first = placeOf(constants.front());
  if (first < 0 || (!size && first > mostPlaces))
    return std::nullopt;
  for (auto [i, index] : llvm::enumerate(constants))
    if (placeOf(index) != first + static_cast<int64_t>(i))
      return std::nullopt;
  return first;
}

/// Only where `isWritten`, a vector along `dim`, there is an update.
void Spread::require(Term isWritten, int64_t dim) {
  Term all = b_.broadcast(isWritten, data_.sizes(), {dim});
  isWritten_ = isWritten_ ? both(*isWritten_, all) : all;
}

/// `count` updates are for the places from `first` on.
void Spread::place(int64_t dim, int64_t first, AffineExpr count) {
  AffineExpr size = data_.sizes()[dim];
  if (!b_.state.requireAtMost(count + first, size,
                              fmt::format("node '{}' writes up to index {} of dimension {}", b_.node.name,
                                          b_.state.print(count + first - 1), dim)))
    malformed("indices from {} on are out of range for dimension {} of size {}", first, dim, b_.state.print(size));
  if (first == 0 && count == size)
    return;
  low_[dim] = first;
  Term at = placesOf(b_, size), begin = scalarOf(b_, first), end = scalarOf(b_, b_.state.resolve(count) + first);
  require(both(b_.compare(F::OGE, I::sge, at, b_.broadcast(begin, at.sizes(), {})),
               isBelow(at, b_.broadcast(end, at.sizes(), {}))),
          dim);
}

/// Each place takes the update with its number in `from`; -1: none.
void Spread::choose(int64_t dim, Term from) {
  Term first = b_.splatInteger(from.sizes(), from.element(), 0);
  require(b_.compare(F::OGE, I::sge, from, first), dim);
  updates_ = b_.take(updates_, {dim}, {b_.maximum(from, first)});
}

void Spread::along(int64_t dim, const IndexColumn &column) {
  AffineExpr size = data_.sizes()[dim], count = column.indices.sizes()[0];
  if (column.constants)
    if (std::optional<int64_t> first = firstOfRun(dim, *column.constants))
      return place(dim, *first, count);
  std::optional<int64_t> places = graph::constantSize(size), updates = graph::constantSize(count);
  if (!places || *places > mostPlaces)
    decline("it writes along a dimension of {} elements, which is no number up to {}", b_.state.print(size),
            mostPlaces);
  if (column.constants) {
    Tensor from = Tensor::allocate(DType::I64, {*places});
    std::fill_n(from.data<int64_t>(), *places, -1);
    for (auto [i, index] : llvm::enumerate(*column.constants))
      from.data<int64_t>()[checkedIndex(index, *places, dim)] = static_cast<int64_t>(i);
    return choose(dim, b_.constantTerm(from));
  }
  if (!updates || *updates > mostCompared / std::max<int64_t>(*places, 1))
    decline("it compares {} indices that are known only when running with {} places, more than {} pairs",
            b_.state.print(count), *places, mostCompared);
  choose(dim, lastIndexOf(b_, placesOfIndices(b_, column.indices, size), size));
}

Term Spread::finish(Combine how) {
  Term updates = updates_.sizes() == data_.sizes() ? updates_ : b_.pad(updates_, low_, data_.sizes(), 0);
  Term written = combined(b_, how, data_, updates);
  return isWritten_ ? b_.select(*isWritten_, written, data_) : written;
}

/// The updates with a dimension for each of the `columns` in their order, instead of their first `counting`.
Term inOrderOf(NodeBuilder &b, Term updates, ArrayRef<IndexColumn> columns, int64_t counting) {
  SmallVector<int64_t> order;
  Sizes sizes;
  for (const IndexColumn &column : columns) {
    sizes.push_back(column.along ? updates.sizes()[*column.along] : b.number(1));
    if (column.along)
      order.push_back(*column.along);
  }
  for (int64_t dim = 0; dim < updates.rank(); ++dim) {
    if (dim >= counting)
      sizes.push_back(updates.sizes()[dim]);
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  }
  return b.reshape(b.transpose(updates, order), sizes);
}

/// Whether all indices of the column are certainly different places of a dimension of this size.
bool areApart(const IndexColumn &column, AffineExpr size) {
  if (!column.constants)
    return graph::constantSize(column.indices.sizes()[0]) == 1;
  std::optional<int64_t> known = graph::constantSize(size);
  llvm::SmallDenseSet<int64_t> places;
  return llvm::all_of(*column.constants, [&](int64_t index) {
    return (index >= 0 || known) && places.insert(index < 0 ? index + *known : index).second;
  });
}

/// Whether updates with these columns can be spread over the data one dimension after the other. Each of the `counting`
/// first dimensions of the updates must be that of a column, or of one element, else several updates are for the same
/// place.
bool canSpread(NodeBuilder &b, ArrayRef<IndexColumn> columns, int64_t counting, Combine how) {
  bool countAll = llvm::all_of(llvm::seq<int64_t>(0, counting), [&](int64_t dim) {
    return graph::constantSize(b.sizes(2)[dim]) == 1 ||
           llvm::any_of(columns, [&](const IndexColumn &column) { return column.along == dim; });
  });
  return countAll && (how == Combine::Replace || llvm::all_of(llvm::zip_first(columns, b.sizes(0)), [](auto pair) {
                        return areApart(std::get<0>(pair), std::get<1>(pair));
                      }));
}

//===- Tuples -----------------------------------------------------------------------------------------------------===//

/// The number of places in the dimensions of these sizes. Declines if it is unknown, or more than a table has.
int64_t countPlaces(NodeBuilder &b, ArrayRef<AffineExpr> sizes) {
  int64_t places = 1;
  for (AffineExpr size : sizes) {
    std::optional<int64_t> known = graph::constantSize(size);
    if (!known || *known > mostPlaces)
      decline("it writes along a dimension of {} elements, which is no number up to {}", b.state.print(size),
              mostPlaces);
    places *= std::max<int64_t>(*known, 1);
    if (places > mostPlaces)
      decline("it writes to up to {} places, more than {}", places, mostPlaces);
  }
  return places;
}

/// Gives `x` one dimension instead of its first `count`.
Term withFirstAsOne(NodeBuilder &b, Term x, int64_t count) {
  Sizes all = x.sizes(), sizes = {b.product(ArrayRef(all).take_front(count))};
  sizes.append(all.begin() + count, all.end());
  return b.reshape(x, sizes);
}

/// The places that tuples index, in row-major order of the first dimensions of the data: a vector, or constants.
IndexColumn placesOfTuples(NodeBuilder &b, int64_t depth) {
  Sizes sizes = b.sizes(0);
  IndexColumn result{0, {}, {}};
  if (const Tensor *tuples = b.constant(1)) {
    int64_t count = tuples->count() / depth;
    Tensor places = Tensor::allocate(DType::I64, {count});
    result.constants.emplace();
    for (int64_t tuple = 0; tuple < count; ++tuple) {
      int64_t place = 0;
      for (int64_t dim = 0; dim < depth; ++dim) {
        int64_t size = graph::constantSize(sizes[dim]).value();
        place = place * size + checkedIndex(integerAt(*tuples, tuple * depth + dim), size, dim);
      }
      result.constants->push_back(place);
    }
    llvm::copy(*result.constants, places.data<int64_t>());
    result.indices = b.constantTerm(places);
    return result;
  }
  Term tuples = withFirstAsOne(b, b.raw(1), b.rank(1) - 1), place;
  for (int64_t dim = 0; dim < depth; ++dim) {
    Term index = b.reshape(b.slice(tuples, 1, b.number(dim), b.number(1)), {tuples.sizes()[0]});
    index = placesOfIndices(b, index, sizes[dim]);
    place = dim == 0 ? index : place * b.sizeAs(sizes[dim], index.sizes(), index.element()) + index;
  }
  result.indices = place;
  return result;
}

//===- ScatterElements --------------------------------------------------------------------------------------------===//

/// Declines if there are too many updates to compare each place with all of them.
void requireFew(NodeBuilder &b, AffineExpr updates, AffineExpr places) {
  if (graph::constantSize(updates).value_or(mostUpdatesCompared + 1) > mostUpdatesCompared)
    decline("{} computed indices of {} places are not compiled, only up to {}", b.state.print(updates),
            b.state.print(places), mostUpdatesCompared);
}

/// Constant indices along `axis` as places in row-major order of the whole data.
IndexColumn placesOfElements(NodeBuilder &b, const Tensor &indices, int64_t axis) {
  Sizes sizes = b.sizes(0);
  Tensor places = Tensor::allocate(DType::I64, {indices.count()});
  SmallVector<int64_t> at(indices.shape().size(), 0);
  for (int64_t update = 0; update < indices.count(); ++update) {
    int64_t place = 0;
    for (auto [dim, coordinate] : llvm::enumerate(at)) {
      int64_t size = graph::constantSize(sizes[dim]).value();
      bool isAxis = static_cast<int64_t>(dim) == axis;
      place = place * size + (isAxis ? checkedIndex(integerAt(indices, update), size, axis) : coordinate);
    }
    places.data<int64_t>()[update] = place;
    advanceIndex(at, indices.shape());
  }
  return {0, b.constantTerm(places),
          std::vector<int64_t>(places.data<int64_t>(), places.data<int64_t>() + places.count())};
}

/// Indices and updates in all places of the data but along the axis, where they count the updates.
class ElementUpdates {
public:
  ElementUpdates(NodeBuilder &b, Term data, Term indices, Term updates, int64_t axis);

  /// Each place takes the one update, if its index says so.
  Term writeOne(Combine how);
  /// Each place is compared with all updates of its line.
  Term writeSeveral(Combine how);

private:
  /// Each place takes the last of the updates for it.
  Term writeLast();
  /// Each element is combined with all updates for its place.
  Term reduceSeveral(Combine how);
  Sizes pairs() const;
  Term isWritten(ArrayRef<AffineExpr> pairs);
  Term padded(Term x, double fill);
  Term compared(Term x, ArrayRef<AffineExpr> pairs);

  NodeBuilder &b_;
  Term data_;
  int64_t axis_;
  AffineExpr count_; // updates along the axis
  Term indices_, updates_;
};

/// Where there are fewer indices than elements there is index -1, which no place has.
ElementUpdates::ElementUpdates(NodeBuilder &b, Term data, Term indices, Term updates, int64_t axis)
    : b_(b), data_(data), axis_(axis), count_(indices.sizes()[axis]), indices_(padded(indices, -1)),
      updates_(padded(updates, 0)) {}

Term ElementUpdates::padded(Term x, double fill) {
  Sizes sizes = data_.sizes();
  sizes[axis_] = count_;
  return sizes == x.sizes() ? x : b_.pad(x, SmallVector<int64_t>(x.rank(), 0), sizes, fill);
}

Term ElementUpdates::writeOne(Combine how) {
  Sizes sizes = data_.sizes();
  Term isHere = isEqual(b_.broadcast(indices_, sizes), b_.iota(sizes, axis_, indices_.element()));
  return b_.select(isHere, combined(b_, how, data_, b_.broadcast(updates_, sizes)), data_);
}

/// `x` for each pair of a place and an update of its line; pairs have the sizes of the data, then the updates.
Term ElementUpdates::compared(Term x, ArrayRef<AffineExpr> pairs) {
  SmallVector<int64_t> order, dims;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (dim != axis_)
      order.push_back(dim), dims.push_back(dim);
  order.push_back(axis_), dims.push_back(x.rank());
  return b_.broadcast(b_.transpose(x, order), pairs, dims);
}

Term ElementUpdates::writeSeveral(Combine how) {
  DType type = b_.type(0);
  if (type != DType::Bool || how == Combine::Replace)
    return how == Combine::Replace ? writeLast() : reduceSeveral(how);
  // Counted as int32, of which a sum is not zero where any is true and a product where all are. One bit would wrap.
  bool isAny = how == Combine::Add || how == Combine::Maximum;
  Term data = b_.convert(data_, type, DType::I32), updates = b_.convert(updates_, type, DType::I32);
  ElementUpdates counted(b_, data, indices_, updates, axis_);
  return b_.convert(counted.reduceSeveral(isAny ? Combine::Add : Combine::Multiply), DType::I32, type);
}

/// The sizes of the data, then the number of updates.
Sizes ElementUpdates::pairs() const {
  Sizes pairs = data_.sizes();
  pairs.push_back(count_);
  return pairs;
}

/// For each pair of a place and an update of its line, whether the update is written there.
Term ElementUpdates::isWritten(ArrayRef<AffineExpr> pairs) {
  return isEqual(compared(indices_, pairs), b_.iota(pairs, axis_, indices_.element()));
}

Term ElementUpdates::reduceSeveral(Combine how) {
  if ((how == Combine::Maximum || how == Combine::Minimum) && !findDType(b_.type(0))->isSigned)
    decline("the reduction '{}' of unsigned integers is not compiled", b_.text("reduction", "none"));
  constexpr std::pair<Combine, ReduceKind> reductions[] = {{Combine::Add, ReduceKind::Sum},
                                                           {Combine::Multiply, ReduceKind::Prod},
                                                           {Combine::Maximum, ReduceKind::Max},
                                                           {Combine::Minimum, ReduceKind::Min}};
  ReduceKind kind = llvm::find_if(reductions, [&](const auto &row) { return row.first == how; })->second;
  Sizes pairs = this->pairs();
  Term none = b_.neutral(kind, pairs, updates_.element());
  Term reduced = b_.reduce(kind, b_.select(isWritten(pairs), compared(updates_, pairs), none), {data_.rank()});
  return combined(b_, how, data_, reduced);
}

Term ElementUpdates::writeLast() {
  Sizes pairs = this->pairs();
  Type i64 = b_.state.builder.getI64Type();
  Term numbers = b_.iota(pairs, data_.rank(), i64), none = b_.splatInteger(pairs, i64, -1);
  Term from = b_.reduce(ReduceKind::Max, b_.select(isWritten(pairs), numbers, none), {data_.rank()}),
       first = b_.splatInteger(data_.sizes(), i64, 0);
  Term written = b_.takeElements(updates_, axis_, b_.maximum(from, first));
  return b_.select(b_.compare(F::OGE, I::sge, from, first), written, data_);
}

} // namespace

void scatterElements(NodeBuilder &b) {
  Combine how = combinationOf(b);
  int64_t rank = b.rank(0), axis = b.axis(b.integer("axis", 0), rank);
  b.expect(b.rank(1) == rank && b.rank(2) == rank,
           fmt::format("expected indices and updates of rank {}, got {} and {}", rank, b.rank(1), b.rank(2)));
  for (int64_t dim = 0; dim < rank; ++dim) {
    b.unify(b.sizes(2)[dim], b.sizes(1)[dim], fmt::format("updates in dimension {}", dim));
    AffineExpr count = b.sizes(1)[dim], size = b.sizes(0)[dim];
    if (dim != axis && !b.state.requireAtMost(count, size,
                                              fmt::format("node '{}' writes {} of {} elements", b.node.name,
                                                          b.state.print(count), b.state.print(size))))
      malformed("expected at most {} indices in dimension {}, got {}", b.state.print(size), dim, b.state.print(count));
  }
  if (llvm::any_of(b.sizes(2), [](AffineExpr size) { return graph::constantSize(size) == 0; }))
    return b.out(b.in(0));
  Term data = b.in(0), updates = b.in(2);
  if (const Tensor *constant = b.constant(1)) {
    AffineExpr places = b.number(countPlaces(b, data.sizes()));
    if (IndexColumn column = placesOfElements(b, *constant, axis);
        how == Combine::Replace || areApart(column, places)) {
      Spread spread(b, withFirstAsOne(b, data, rank), withFirstAsOne(b, updates, rank));
      spread.along(0, column);
      return b.out(b.reshape(spread.finish(how), data.sizes()));
    }
  }
  AffineExpr count = b.sizes(1)[axis];
  requireFew(b, count, data.sizes()[axis]);
  ElementUpdates all(b, data, placesOfIndices(b, b.raw(1), data.sizes()[axis]), updates, axis);
  b.out(graph::constantSize(count) == 1 ? all.writeOne(how) : all.writeSeveral(how));
}

void scatterND(NodeBuilder &b) {
  Combine how = combinationOf(b);
  int64_t counting = b.rank(1) - 1; // dimensions of the indices that count updates
  b.expect(counting >= 0, "expected indices of rank 1 or more, got 0");
  std::optional<int64_t> depth = graph::constantSize(b.sizes(1).back());
  if (!depth || *depth == 0)
    decline("its indices are of {} dimensions", b.state.print(b.sizes(1).back()));
  b.expect(*depth <= b.rank(0), fmt::format("expected indices of at most {} numbers each, got {}", b.rank(0), *depth));
  b.expect(b.rank(2) == counting + b.rank(0) - *depth,
           fmt::format("expected updates of rank {}, got {}", counting + b.rank(0) - *depth, b.rank(2)));
  for (int64_t dim = 0; dim < b.rank(2); ++dim)
    b.unify(b.sizes(2)[dim], dim < counting ? b.sizes(1)[dim] : b.sizes(0)[dim - counting + *depth],
            fmt::format("updates in dimension {}", dim));
  Term data = b.in(0), updates = b.in(2);
  if (llvm::any_of(updates.sizes(), [](AffineExpr size) { return graph::constantSize(size) == 0; }))
    return b.out(data);
  if (std::optional<SmallVector<IndexColumn>> columns = indexColumns(b, 1);
      columns && canSpread(b, *columns, counting, how)) {
    Spread spread(b, data, inOrderOf(b, updates, *columns, counting));
    for (auto [dim, column] : llvm::enumerate(*columns))
      spread.along(static_cast<int64_t>(dim), column);
    return b.out(spread.finish(how));
  }
  countPlaces(b, ArrayRef(data.sizes()).take_front(*depth));
  IndexColumn places = placesOfTuples(b, *depth);
  data = withFirstAsOne(b, data, *depth), updates = withFirstAsOne(b, updates, counting);
  if (how != Combine::Replace && !areApart(places, data.sizes()[0])) {
    requireFew(b, updates.sizes()[0], data.sizes()[0]);
    Term indices = b.broadcast(places.indices, updates.sizes(), {0});
    return b.out(b.reshape(ElementUpdates(b, data, indices, updates, 0).writeSeveral(how), b.sizes(0)));
  }
  Spread spread(b, data, updates);
  spread.along(0, places);
  b.out(b.reshape(spread.finish(how), b.sizes(0)));
}

} // namespace tilewright::ops
