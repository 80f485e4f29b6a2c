// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/shape/ScatterIndices.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

bool isUnit(AffineExpr size) { return graph::constantSize(size) == 1; }

/// Checks that columns of these numbers differ along one dimension each, and reads them there.
class ConstantColumns {
public:
  ConstantColumns(NodeBuilder &b, const Tensor &tuples)
      : b_(b), tuples_(tuples), depth_(tuples.shape().back()),
        counts_(tuples.shape().begin(), tuples.shape().end() - 1) {}

  std::optional<IndexColumn> read(int64_t column) const;

private:
  int64_t at(int64_t tuple, int64_t column) const { return integerAt(tuples_, tuple * depth_ + column); }
  bool differsAlong(int64_t column, int64_t stride, int64_t count) const;

  NodeBuilder &b_;
  const Tensor &tuples_;
  int64_t depth_;
  std::vector<int64_t> counts_; // the sizes of the dimensions that count tuples
};

/// `stride`: the distance of tuples that are neighbours in a dimension of `count`.
bool ConstantColumns::differsAlong(int64_t column, int64_t stride, int64_t count) const {
  for (int64_t tuple = 0; tuple < tuples_.count() / depth_; ++tuple)
    if (int64_t place = tuple / stride % count; place > 0 && at(tuple, column) != at(tuple - place * stride, column))
      return true;
  return false;
}

std::optional<IndexColumn> ConstantColumns::read(int64_t column) const {
  IndexColumn result;
  int64_t stride = 1, strideAlong = 1;
  for (auto dim = static_cast<int64_t>(counts_.size()); dim-- > 0;) {
    int64_t count = counts_[static_cast<size_t>(dim)];
    if (differsAlong(column, stride, count)) {
      if (result.along)
        return std::nullopt;
      result.along = dim, strideAlong = stride;
    }
    stride *= count;
  }
  Tensor vector = Tensor::allocate(DType::I64, {result.along ? counts_[static_cast<size_t>(*result.along)] : 1});
  result.constants.emplace();
  for (int64_t i = 0; i < vector.count(); ++i)
    result.constants->push_back(at(i * strideAlong, column));
  llvm::copy(*result.constants, vector.data<int64_t>());
  result.indices = b_.constantTerm(vector);
  return result;
}

/// For each dimension of a reshape's data the dimension of its result that has the same elements, by `of`; -1 for
/// dimensions of size 1. nullopt if it does more than to add and remove such dimensions.
std::optional<SmallVector<int64_t>> throughReshape(graph::ReshapeOp reshape, ArrayRef<int64_t> of) {
  Sizes from = graph::getSizes(cast<RankedTensorType>(reshape.getData().getType())),
        to = graph::getSizes(cast<RankedTensorType>(reshape.getType()));
  SmallVector<int64_t> dims;
  size_t next = 0;
  for (AffineExpr size : from) {
    while (next < to.size() && isUnit(to[next]))
      ++next;
    if (isUnit(size)) {
      dims.push_back(-1);
      continue;
    }
    if (next == to.size() || to[next] != size)
      return std::nullopt;
    dims.push_back(of[next++]);
  }
  return dims;
}

/// A column of computed tuples: repetitions of a vector, or a single index.
std::optional<IndexColumn> computedColumn(NodeBuilder &b, Value value) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
  while (true) {
    if (auto reshape = value.getDefiningOp<graph::ReshapeOp>()) {
      std::optional<SmallVector<int64_t>> inner = throughReshape(reshape, dims);
      if (!inner)
        break;
      dims = *inner, value = reshape.getData();
    } else if (auto broadcast = value.getDefiningOp<graph::BroadcastOp>()) {
      Sizes from = graph::getSizes(cast<RankedTensorType>(broadcast.getData().getType()));
      SmallVector<int64_t> inner;
      for (auto [size, dim] : llvm::zip_equal(from, broadcast.getDims()))
        inner.push_back(isUnit(size) ? -1 : dims[static_cast<size_t>(dim)]);
      dims = inner, value = broadcast.getData();
    } else {
      break;
    }
  }
  if (SplatElementsAttr splat; matchPattern(value, m_Constant(&splat))) {
    int64_t index = splat.getSplatValue<APInt>().getSExtValue();
    return IndexColumn{{}, b.splatInteger({b.number(1)}, b.state.builder.getI64Type(), index), {{index}}};
  }
  Term term = b.term(value);
  IndexColumn result;
  AffineExpr count = b.number(1);
  for (auto [dim, size] : llvm::zip_equal(dims, term.sizes())) {
    if (isUnit(size))
      continue;
    if (result.along)
      return std::nullopt;
    result.along = dim, count = size;
  }
  result.indices = b.reshape(term, {count});
  if (auto found = b.state.constantTensors.find(value.getDefiningOp()); found != b.state.constantTensors.end()) {
    result.constants.emplace();
    for (int64_t i = 0; i < found->second.count(); ++i)
      result.constants->push_back(integerAt(found->second, i));
  }
  return result;
}

/// The columns of `tuples`, whose last dimension has `depth` elements, as values with a last dimension of one.
SmallVector<Value> computedColumns(NodeBuilder &b, Term tuples, int64_t depth) {
  int64_t last = tuples.rank() - 1;
  if (auto concat = tuples.value.getDefiningOp<graph::ConcatOp>();
      concat && static_cast<int64_t>(concat.getAxis()) == last && std::ssize(concat.getInputs()) == depth)
    return llvm::to_vector(concat.getInputs());
  SmallVector<Value> values;
  for (int64_t column = 0; column < depth; ++column)
    values.push_back(b.slice(tuples, last, b.number(column), b.number(1)).value);
  return values;
}

} // namespace

std::optional<SmallVector<IndexColumn>> indexColumns(NodeBuilder &b, size_t i) {
  std::optional<int64_t> depth = graph::constantSize(b.sizes(i).back());
  if (!depth)
    return std::nullopt;
  SmallVector<std::optional<IndexColumn>> found;
  if (const Tensor *tuples = b.constant(i); tuples && tuples->count() > 0)
    for (int64_t column = 0; column < *depth; ++column)
      found.push_back(ConstantColumns(b, *tuples).read(column));
  else
    for (Value value : computedColumns(b, b.raw(i), *depth))
      found.push_back(computedColumn(b, value));
  SmallVector<IndexColumn> columns;
  llvm::SmallDenseSet<int64_t> taken;
  for (std::optional<IndexColumn> &column : found) {
    if (!column || (column->along && !taken.insert(*column->along).second))
      return std::nullopt;
    columns.push_back(std::move(*column));
  }
  return columns;
}

Term checkedIndices(NodeBuilder &b, Term indices, AffineExpr count) {
  constexpr int64_t most = 1 << 20;
  std::optional<int64_t> known = graph::constantSize(count);
  if (!known || *known < 1 || *known > most)
    decline("computed indices of a dimension of {} elements are not compiled, only of 1 to {}", b.state.print(count),
            most);
  Tensor table = Tensor::allocate(DType::I64, {*known});
  std::iota(table.data<int64_t>(), table.data<int64_t>() + *known, 0);
  auto rank = static_cast<unsigned>(indices.rank());
  return b.gather(b.constantTerm(table), {indices},
                  AffineMap::get(rank + 1, 0, getAffineDimExpr(rank, b.state.context), b.state.context),
                  indices.sizes());
}

} // namespace tilewright::ops
