// SPDX-License-Identifier: Apache-2.0
// Moves reshapes so that the operations between them have as few loops as possible. Splits sink and merges rise until
// they meet and cancel.
//
//     %0 = graph.contract ...            : tensor<MxN>            %0 = graph.contract ...   : tensor<MxN>
//     %1 = graph.reshape %0              : tensor<BxSxN>          %1 = arith.addf %0, %b'   : tensor<MxN>
//     %2 = arith.addf %1, %b             : tensor<BxSxN>    ->    %2 = graph.contract %1, ...
//     %3 = graph.reshape %2              : tensor<MxN>
//     %4 = graph.contract %3, ...
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Reassociation.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

/// A reshape of a broadcast is a broadcast of a reshape if each group of dimensions is either repeated as a whole or
/// not at all.
struct BroadcastReshape {
  Sizes operandSizes;
  SmallVector<int64_t> dims;
};

std::optional<BroadcastReshape> throughBroadcast(graph::BroadcastOp op, ArrayRef<AffineExpr> to) {
  Sizes from = sizesOf(op.getResult());
  BroadcastReshape result;
  for (const ReassociationGroup &group : reassociation(from, to)) {
    unsigned kept = 0, repeated = 0;
    for (unsigned dim = group.fromBegin; dim < group.fromEnd; ++dim)
      if (!isUnit(from[dim]))
        ++(llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)) ? kept : repeated);
    if (kept && repeated)
      return std::nullopt;
    for (unsigned dim = group.toBegin; kept && dim < group.toEnd; ++dim) {
      result.dims.push_back(dim);
      result.operandSizes.push_back(to[dim]);
    }
  }
  return result;
}

struct RaiseThroughBroadcast : OpRewritePattern<graph::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getData().getDefiningOp<graph::BroadcastOp>();
    // FoldAccesses removes dimensions of size 1 first.
    if (!broadcast || llvm::any_of(sizesOf(broadcast.getData()), isUnit))
      return failure();
    Sizes to = sizesOf(op);
    std::optional<BroadcastReshape> moved = throughBroadcast(broadcast, to);
    if (!moved)
      return failure();
    Rebuild build(rewriter, op);
    rewriter.replaceOp(op, build.broadcast(build.reshape(broadcast.getData(), moved->operandSizes), moved->dims, to));
    return success();
  }
};

/// Whether an operand can have sizes `to` at no cost.
bool canReshape(Value operand, ArrayRef<AffineExpr> to) {
  Operation *op = operand.getDefiningOp();
  if (!op)
    return true;
  if (auto broadcast = dyn_cast<graph::BroadcastOp>(op))
    return throughBroadcast(broadcast, to).has_value();
  if (auto iota = dyn_cast<graph::IotaOp>(op))
    return false;
  return true;
}

bool canReshapeAll(ValueRange operands, ArrayRef<AffineExpr> to) {
  return llvm::all_of(operands, [&](Value operand) { return canReshape(operand, to); });
}

Value rebuilt(Rebuild &build, Operation *op, ArrayRef<AffineExpr> to) {
  SmallVector<Value> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return build.reshape(operand, to); });
  return build.elementwise(op, operands, to);
}

struct SinkThroughElementwise : RewritePattern {
  explicit SinkThroughElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    int64_t rank = tensorOf(op->getResult(0)).getRank();
    std::optional<Sizes> target;
    for (Value operand : op->getOperands())
      if (auto reshape = operand.getDefiningOp<graph::ReshapeOp>())
        if (tensorOf(reshape.getData()).getRank() < rank) {
          rank = tensorOf(reshape.getData()).getRank();
          target = sizesOf(reshape.getData());
        }
    if (!target || !canReshapeAll(op->getOperands(), *target))
      return failure();
    Rebuild build(rewriter, op);
    rewriter.replaceOp(op, build.reshape(rebuilt(build, op, *target), sizesOf(op->getResult(0))));
    return success();
  }
};

/// Other readers of the elementwise operation read its new result through a split, which then sinks further.
struct RaiseThroughElementwise : OpRewritePattern<graph::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ReshapeOp op, PatternRewriter &rewriter) const override {
    Operation *producer = op.getData().getDefiningOp();
    Sizes to = sizesOf(op);
    if (!producer || !isElementwise(producer) || to.size() >= sizesOf(op.getData()).size() ||
        !canReshapeAll(producer->getOperands(), to))
      return failure();
    Rebuild build(rewriter, producer);
    rewriter.replaceOp(producer, build.reshape(rebuilt(build, producer, to), sizesOf(op.getData())));
    return success();
  }
};

/// A reduction of split(x) over whole groups is a reduction of x.
struct SinkThroughReduce : OpRewritePattern<graph::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ReduceOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<graph::ReshapeOp>();
    if (!reshape || tensorOf(reshape.getData()).getRank() >= tensorOf(reshape).getRank())
      return failure();
    Sizes from = sizesOf(reshape.getData()), to = sizesOf(reshape);
    SmallVector<int64_t> axes;
    for (const ReassociationGroup &group : reassociation(from, to)) {
      unsigned reduced = 0, kept = 0;
      for (unsigned dim = group.toBegin; dim < group.toEnd; ++dim)
        if (!isUnit(to[dim]))
          ++(llvm::is_contained(op.getAxes(), static_cast<int64_t>(dim)) ? reduced : kept);
      if (reduced && kept)
        return failure();
      for (unsigned dim = group.fromBegin; reduced && dim < group.fromEnd; ++dim)
        axes.push_back(dim);
    }
    if (axes.empty())
      return failure();
    Rebuild build(rewriter, op);
    rewriter.replaceOp(op, build.reshape(build.reduce(op, reshape.getData(), axes), sizesOf(op)));
    return success();
  }
};

/// A merge of the result of a reduction is a reduction of a merge, if the merged dimensions are neighbours in the
/// reduction's operand too.
struct RaiseThroughReduce : OpRewritePattern<graph::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto reduce = op.getData().getDefiningOp<graph::ReduceOp>();
    if (!reduce || tensorOf(op).getRank() >= tensorOf(reduce).getRank())
      return failure();
    Sizes input = sizesOf(reduce.getInput()), from = sizesOf(reduce), to = sizesOf(op), merged;
    SmallVector<int64_t> kept, axes; // the input's dimensions that the result keeps
    for (int64_t dim = 0, rank = input.size(); dim < rank; ++dim)
      if (!llvm::is_contained(reduce.getAxes(), dim))
        kept.push_back(dim);
    SmallVector<ReassociationGroup> groups = reassociation(from, to);
    for (const ReassociationGroup &group : groups)
      for (unsigned i = group.fromBegin + 1; i < group.fromEnd; ++i)
        if (kept[i] != kept[i - 1] + 1)
          return failure();
    size_t next = 0; // group whose first kept dimension comes next
    for (int64_t dim = 0, rank = input.size(); dim < rank; ++dim) {
      if (llvm::is_contained(reduce.getAxes(), dim)) {
        axes.push_back(merged.size());
        merged.push_back(input[dim]);
      } else if (next < groups.size() && kept[groups[next].fromBegin] == dim) {
        merged.append(to.begin() + groups[next].toBegin, to.begin() + groups[next].toEnd);
        ++next;
      }
    }
    Rebuild build(rewriter, reduce);
    Value result = build.reduce(reduce, build.reshape(reduce.getInput(), merged), axes);
    rewriter.replaceOp(reduce, build.reshape(result, from));
    return success();
  }
};

} // namespace

void normalize::addPropagateReshapes(RewritePatternSet &patterns) {
  patterns.add<RaiseThroughBroadcast, SinkThroughElementwise, RaiseThroughElementwise, SinkThroughReduce,
               RaiseThroughReduce>(patterns.getContext());
}
