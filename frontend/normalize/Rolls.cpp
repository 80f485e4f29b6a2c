// SPDX-License-Identifier: Apache-2.0
// Concatenations of slices of one tensor: what exporters write for a roll becomes an access, which its reader takes in.
//
//     concat(x[0:k], x[k:n])  ->  x
//     concat(x[k:n], x[0:k])  ->  roll(x, k)            the element at i is x[(i + k) mod n]
//     roll(roll(x, j), k)     ->  roll(x, j + k)
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Rebuild.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

/// Elements [begin, end) of a tensor along one dimension, and all of the others.
struct Part {
  Value whole;
  AffineExpr begin, end;
};

/// Nothing unless `value` is consecutive elements along `axis`.
std::optional<Part> partOf(Value value, int64_t axis) {
  auto slice = value.getDefiningOp<graph::SliceOp>();
  if (!slice || llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride != 1; }))
    return std::nullopt;
  Sizes from = sizesOf(slice.getData()), to = sizesOf(value);
  for (auto [dim, size] : llvm::enumerate(from))
    if (static_cast<int64_t>(dim) != axis && size != to[dim])
      return std::nullopt;
  AffineExpr begin = slice.getOffsets().getResult(axis);
  return Part{slice.getData(), begin, graph::canonicalSize(begin + to[axis])};
}

/// The operands of a concatenation as parts of one tensor, those joined that follow each other in it; none if another
/// tensor is among them.
SmallVector<Part> partsOf(graph::ConcatOp concat) {
  SmallVector<Part> parts;
  for (Value input : concat.getInputs()) {
    std::optional<Part> part = partOf(input, concat.getAxis());
    if (!part || (!parts.empty() && part->whole != parts.front().whole))
      return {};
    if (!parts.empty() && parts.back().end == part->begin)
      parts.back().end = part->end;
    else
      parts.push_back(*part);
  }
  return parts;
}

/// True if elements that are next to each other in memory stay so: the loads of a reader remain vectors.
bool keepsRows(graph::ConcatOp concat) {
  Sizes sizes = sizesOf(concat);
  return llvm::any_of(ArrayRef(sizes).drop_front(concat.getAxis() + 1), [](AffineExpr size) { return !isUnit(size); });
}

struct JoinSlices : OpRewritePattern<graph::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Part> parts = partsOf(op);
    if (parts.empty() || parts.size() > 2)
      return failure();
    int64_t axis = op.getAxis();
    Value whole = parts.front().whole;
    AffineExpr size = sizesOf(whole)[axis];
    bool beginsAtZero = graph::constantSize(parts.back().begin) == 0, isLast = parts.front().end == size;
    if (!beginsAtZero || !isLast || whole.getType() != op.getType())
      return failure();
    if (parts.size() == 1) {
      rewriter.replaceOp(op, whole);
      return success();
    }
    if (parts.back().end != parts.front().begin || !keepsRows(op))
      return failure();
    SmallVector<AffineExpr> offsets(tensorOf(whole).getRank(), rewriter.getAffineConstantExpr(0));
    offsets[axis] = parts.front().begin;
    rewriter.replaceOp(op, Rebuild(rewriter, op).roll(whole, offsets));
    return success();
  }
};

/// Shifted windows are rolled along both dimensions of an image.
struct ComposeRolls : OpRewritePattern<graph::RollOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::RollOp op, PatternRewriter &rewriter) const override {
    auto before = op.getData().getDefiningOp<graph::RollOp>();
    if (!before)
      return failure();
    SmallVector<AffineExpr> offsets;
    for (auto [inner, outer, size] :
         llvm::zip_equal(before.getOffsets().getResults(), op.getOffsets().getResults(), sizesOf(op)))
      offsets.push_back(graph::constantSize(inner) == 0   ? outer
                        : graph::constantSize(outer) == 0 ? inner
                                                          : graph::canonicalSize((inner + outer) % size));
    rewriter.replaceOp(op, Rebuild(rewriter, op).roll(before.getData(), offsets));
    return success();
  }
};

} // namespace

void normalize::addRolls(RewritePatternSet &patterns) { patterns.add<JoinSlices, ComposeRolls>(patterns.getContext()); }
