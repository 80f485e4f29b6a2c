// SPDX-License-Identifier: Apache-2.0
#include "fusion/products/ScaledSlices.h"

#include "fusion/Geometry.h"
#include "fusion/Replacement.h"
#include "fusion/products/ColumnConstants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

constexpr int64_t mostColumns = 1 << 16;

namespace {

/// Elements [begin, end) along one dimension of a product's result, perhaps of a reshape of it. If they are scaled:
/// `multiplication` is of `factor` and `unscaled`, which is widened if it is a half; `scaled` has the type of
/// `unscaled`.
struct ReadSlice {
  int64_t begin, end;
  arith::MulFOp multiplication = {};
  Value factor = {}, unscaled = {}, scaled = {};
};

/// A product's result and its slices, in the order of their elements.
struct SlicedProduct {
  Value result; // [..., columns]
  Value whole;  // what is cut: the result, or a reshape of it
  int64_t dim;  // of `whole`, along which it is cut
  SmallVector<ReadSlice> slices;
};

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

} // namespace

static Operation *onlyUser(Value value) { return value.hasOneUse() ? *value.user_begin() : nullptr; }

/// The result of a contraction with the elementwise operations that nothing else reads: its epilogue.
static Value endOfEpilogue(graph::ContractOp contract) {
  Value value = contract.getResult();
  for (Operation *user = onlyUser(value); user && isElementwise(user); user = onlyUser(value)) {
    if (typeOf(user->getResult(0)).getShape() != typeOf(value).getShape())
      break;
    value = user->getResult(0);
  }
  return value;
}

/// The dimension along which a slice is cut, if it is one, of known size, and without gaps.
static std::optional<int64_t> cutDimension(graph::SliceOp slice) {
  SmallVector<AffineExpr> from = graph::getSizes(typeOf(slice.getData())), to = graph::getSizes(typeOf(slice));
  std::optional<int64_t> found;
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (slice.getStrides()[dim] != 1)
      return std::nullopt;
    if (size == to[dim])
      continue;
    if (found || !graph::constantSize(to[dim]) || !graph::constantSize(slice.getOffsets().getResult(dim)))
      return std::nullopt;
    found = static_cast<int64_t>(dim);
  }
  return found;
}

/// Notes the multiplication by a number that is all that reads the slice, behind reshapes and transposes.
static void findScale(Value slice, ReadSlice &read) {
  Operation *user = onlyUser(slice);
  while (isa_and_nonnull<graph::ReshapeOp, graph::TransposeOp>(user))
    slice = user->getResult(0), user = onlyUser(slice);
  Value multiplied = slice;
  auto widening = dyn_cast_or_null<arith::ExtFOp>(user);
  if (widening)
    multiplied = widening.getResult(), user = onlyUser(multiplied);
  auto multiplication = dyn_cast_or_null<arith::MulFOp>(user);
  if (!multiplication)
    return;
  Value factor = multiplication.getLhs() == multiplied ? multiplication.getRhs() : multiplication.getLhs();
  Value scaled = multiplication.getResult();
  if (widening) {
    auto rounded = dyn_cast_or_null<arith::TruncFOp>(onlyUser(scaled));
    if (!rounded)
      return;
    scaled = rounded.getResult();
  }
  if (!isOneNumber(factor) || scaled.getType() != slice.getType())
    return;
  read.multiplication = multiplication;
  read.factor = factor;
  read.unscaled = slice;
  read.scaled = scaled;
}

/// The slices of a product if nothing else reads it, they do not overlap, and one is scaled.
static std::optional<SlicedProduct> slicedProduct(graph::ContractOp contract) {
  SlicedProduct product;
  product.result = endOfEpilogue(contract);
  auto reshape = dyn_cast_or_null<graph::ReshapeOp>(onlyUser(product.result));
  product.whole = reshape ? reshape.getResult() : product.result;
  std::optional<int64_t> common;
  for (Operation *user : product.whole.getUsers()) {
    auto slice = dyn_cast<graph::SliceOp>(user);
    std::optional<int64_t> dim = slice ? cutDimension(slice) : std::nullopt;
    if (!dim || (common && common != dim))
      return std::nullopt;
    common = dim;
    int64_t begin = *graph::constantSize(slice.getOffsets().getResult(*dim));
    ReadSlice &read = product.slices.emplace_back(ReadSlice{begin, begin + typeOf(slice).getDimSize(*dim)});
    findScale(slice, read);
  }
  llvm::sort(product.slices, [](const ReadSlice &a, const ReadSlice &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < product.slices.size(); ++i)
    if (product.slices[i].begin < product.slices[i - 1].end)
      return std::nullopt;
  if (llvm::none_of(product.slices, [](const ReadSlice &read) { return read.multiplication; }))
    return std::nullopt;
  product.dim = *common;
  return product;
}

/// The factor of each run of columns, null for 1. Nothing if the cut dimension is not one of the columns alone, or if
/// there are so many that a constant of a number for each would be large.
static std::optional<ColumnOperands> columnFactors(const SlicedProduct &product) {
  RankedTensorType result = typeOf(product.result), whole = typeOf(product.whole);
  int64_t columns = result.getRank() ? result.getShape().back() : ShapedType::kDynamic, first = whole.getRank(),
          count = 1;
  while (first > 0 && count < columns && !whole.isDynamicDim(first - 1))
    count *= whole.getDimSize(--first);
  if (count != columns || columns > mostColumns || product.dim < first)
    return std::nullopt;
  auto countOf = [&](int64_t from, int64_t to) {
    ArrayRef<int64_t> sizes = whole.getShape().slice(from, to - from);
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
  };
  int64_t outer = countOf(first, product.dim), inner = countOf(product.dim + 1, whole.getRank());
  ColumnOperands factors{{}, {}, result.getRank() - 1};
  auto add = [&](Value factor, int64_t elements) {
    if (elements == 0)
      return;
    factors.values.push_back(factor);
    factors.columns.push_back(elements * inner);
  };
  for (int64_t i = 0; i < outer; ++i) {
    int64_t at = 0;
    for (const ReadSlice &read : product.slices) {
      add(Value(), read.begin - at);
      add(read.factor, read.end - read.begin);
      at = read.end;
    }
    add(Value(), whole.getDimSize(product.dim) - at);
  }
  return factors;
}

/// Multiplies the columns behind the epilogue, in float32 if they are halves.
static Value scaledColumns(const SlicedProduct &product, const ColumnOperands &factors) {
  SmallVector<Operation *> multiplications;
  for (const ReadSlice &read : product.slices)
    if (read.multiplication)
      multiplications.push_back(read.multiplication);
  Value result = product.result;
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfterValue(result);
  Location loc = multiplications.front()->getLoc();
  RankedTensorType type = typeOf(result);
  RankedTensorType wide = graph::withElementType(type, getElementTypeOrSelf(multiplications.front()->getResult(0)));
  auto after = [&](Operation *op) { return nameAfter(op, multiplications)->getResult(0); };
  Value value = wide == type ? result : after(arith::ExtFOp::create(builder, loc, wide, result));
  value = after(arith::MulFOp::create(builder, loc, value, joined(factors, wide, builder)));
  return wide == type ? value : after(arith::TruncFOp::create(builder, loc, type, value));
}

void fusion::moveScalesOfSlices(func::FuncOp main) {
  for (auto contract : llvm::make_early_inc_range(main.front().getOps<graph::ContractOp>())) {
    std::optional<SlicedProduct> product = slicedProduct(contract);
    std::optional<ColumnOperands> factors = product ? columnFactors(*product) : std::nullopt;
    if (!factors)
      continue;
    SmallVector<OpOperand *> readers;
    for (OpOperand &use : product->result.getUses())
      readers.push_back(&use);
    Value scaled = scaledColumns(*product, *factors);
    for (OpOperand *use : readers)
      use->set(scaled);
    for (ReadSlice &read : product->slices)
      if (read.multiplication) {
        read.scaled.replaceAllUsesWith(read.unscaled);
        eraseDead(read.scaled.getDefiningOp());
      }
  }
}
