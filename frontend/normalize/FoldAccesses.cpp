// SPDX-License-Identifier: Apache-2.0
// Simplifies accesses locally: composes them, turns those that move nothing into reshapes, and folds them into
// constants.
//
//     transpose(transpose(x))          -> transpose(x)              broadcast along dimensions of size 1 -> reshape
//     transpose moving sizes 1 only    -> reshape                   reduce over sizes 1 only             -> reshape
//     transpose, reshape of broadcast  -> broadcast of the same, on fewer elements
//     reshape of windows of one pixel  -> reshape
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Reassociation.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

/// MLIR folds x >= x and x ^ x to constants even if sizes of x are symbols. But an arith.constant must have constant
/// sizes, so it is replaced by a broadcast of a scalar.
struct SplatOfUnknownSize : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!type || type.hasStaticShape() || !splat)
      return failure();
    rewriter.setInsertionPoint(op);
    auto scalar =
        DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()), splat.getSplatValue<Attribute>());
    Value one = arith::ConstantOp::create(rewriter, op.getLoc(), scalar);
    Attribute node = nodeOf(op);
    auto repeated = rewriter.replaceOpWithNewOp<graph::BroadcastOp>(op, type, one, ArrayRef<int64_t>());
    if (node)
      repeated->setAttr(graph::nodeAttr, node);
    return success();
  }

private:
  /// The ONNX node to set on the new operations: that of a reader. A constant that is itself an output has no such
  /// reader; its location then names its node. If it is the output of several nodes it has no such name either, and
  /// gets the first node.
  static Attribute nodeOf(arith::ConstantOp op) {
    for (Operation *user : op->getUsers())
      if (Attribute node = user->getAttr(graph::nodeAttr))
        return node;
    auto nodes = op->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(graph::nodesAttr);
    auto name = dyn_cast<NameLoc>(op.getLoc());
    for (auto [i, node] : llvm::enumerate(nodes ? nodes.getValue() : ArrayRef<Attribute>()))
      if (name && cast<StringAttr>(node).getValue().rsplit('|').first == name.getName())
        return Builder(op.getContext()).getI64IntegerAttr(static_cast<int64_t>(i));
    return nodes && !nodes.empty() ? Builder(op.getContext()).getI64IntegerAttr(0) : Attribute();
  }
};

struct ComposeReshapes : OpRewritePattern<graph::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ReshapeOp op, PatternRewriter &rewriter) const override {
    if (!op.getData().getDefiningOp<graph::ReshapeOp>())
      return failure();
    rewriter.replaceOp(op, Rebuild(rewriter, op).reshape(op.getData(), sizesOf(op)));
    return success();
  }
};

struct ComposeTransposes : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    auto before = op.getData().getDefiningOp<graph::TransposeOp>();
    if (!before)
      return failure();
    SmallVector<int64_t> perm;
    for (int64_t dim : op.getPerm())
      perm.push_back(before.getPerm()[dim]);
    rewriter.replaceOp(op, Rebuild(rewriter, op).transpose(before.getData(), perm));
    return success();
  }
};

struct TransposeOfUnits : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    Sizes from = sizesOf(op.getData());
    SmallVector<int64_t> real;
    for (int64_t dim : op.getPerm())
      if (!isUnit(from[dim]))
        real.push_back(dim);
    if (!llvm::is_sorted(real))
      return failure();
    rewriter.replaceOp(op, Rebuild(rewriter, op).reshape(op.getData(), sizesOf(op)));
    return success();
  }
};

/// Removes dimensions of size 1 from a broadcast's operand, and makes a broadcast that repeats nothing a reshape.
struct SimplifyBroadcast : OpRewritePattern<graph::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::BroadcastOp op, PatternRewriter &rewriter) const override {
    Rebuild build(rewriter, op);
    if (countOf(op.getData()) == countOf(op)) {
      rewriter.replaceOp(op, build.reshape(op.getData(), sizesOf(op)));
      return success();
    }
    if (auto before = op.getData().getDefiningOp<graph::BroadcastOp>()) {
      SmallVector<int64_t> dims;
      for (int64_t dim : before.getDims())
        dims.push_back(op.getDims()[dim]);
      rewriter.replaceOp(op, build.broadcast(before.getData(), dims, sizesOf(op)));
      return success();
    }
    Sizes real;
    SmallVector<int64_t> dims;
    for (auto [dim, size] : llvm::zip_equal(op.getDims(), sizesOf(op.getData())))
      if (!isUnit(size))
        real.push_back(size), dims.push_back(dim);
    if (dims.size() == op.getDims().size())
      return failure();
    rewriter.replaceOp(op, build.broadcast(build.reshape(op.getData(), real), dims, sizesOf(op)));
    return success();
  }
};

struct TransposeOfBroadcast : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getData().getDefiningOp<graph::BroadcastOp>();
    if (!broadcast)
      return failure();
    SmallVector<int64_t> to = inverse(op.getPerm()), perm, dims;
    for (size_t i = 0; i < broadcast.getDims().size(); ++i)
      perm.push_back(i);
    llvm::sort(perm, [&](int64_t a, int64_t b) { return to[broadcast.getDims()[a]] < to[broadcast.getDims()[b]]; });
    for (int64_t i : perm)
      dims.push_back(to[broadcast.getDims()[i]]);
    Rebuild build(rewriter, op);
    rewriter.replaceOp(op, build.broadcast(build.transpose(broadcast.getData(), perm), dims, sizesOf(op)));
    return success();
  }
};

struct ReduceOfUnits : OpRewritePattern<graph::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ReduceOp op, PatternRewriter &rewriter) const override {
    Sizes from = sizesOf(op.getInput()), kept;
    SmallVector<int64_t> axes;
    for (auto [dim, size] : llvm::enumerate(from)) {
      bool reduced = llvm::is_contained(op.getAxes(), static_cast<int64_t>(dim));
      if (reduced && isUnit(size))
        continue;
      if (reduced)
        axes.push_back(kept.size());
      kept.push_back(size);
    }
    bool sameElements = tensorOf(op.getInput()).getElementType() == op.getType().getElementType();
    if (kept.size() == from.size() || (axes.empty() && !sameElements))
      return failure();
    Rebuild build(rewriter, op);
    Value input = build.reshape(op.getInput(), kept);
    rewriter.replaceOp(op, axes.empty() ? input : build.reduce(op, input, axes));
    return success();
  }
};

struct TransposeOfIota : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    auto iota = op.getData().getDefiningOp<graph::IotaOp>();
    if (!iota)
      return failure();
    auto moved = rewriter.replaceOpWithNewOp<graph::IotaOp>(op, op.getType(), inverse(op.getPerm())[iota.getDim()]);
    if (Attribute node = iota->getAttr(graph::nodeAttr))
      moved->setAttr(graph::nodeAttr, node);
    return success();
  }
};

struct ReshapeOfConstant : OpRewritePattern<graph::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto constant = op.getData().getDefiningOp<graph::ConstantOp>();
    if (!constant || !op.getType().hasStaticShape())
      return failure();
    rewriter.replaceOpWithNewOp<graph::ConstantOp>(op, op.getType(), constant.getKey());
    return success();
  }
};

struct TransposeOfConstant : OpRewritePattern<graph::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::TransposeOp op, PatternRewriter &rewriter) const override {
    auto constant = op.getData().getDefiningOp<graph::ConstantOp>();
    // Not for a contraction: it reads its operands through maps, and its constants are packed later.
    if (!constant || llvm::any_of(op->getUsers(), [](Operation *user) { return isa<graph::ContractOp>(user); }))
      return failure();
    std::span<const std::byte> bytes = elementsOf(constant);
    auto type = cast<RankedTensorType>(constant.getType());
    if (bytes.empty())
      return failure();
    auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
    std::string key = pool.add(permuted(bytes, type.getShape(), op.getPerm(), bytes.size() / type.getNumElements()));
    rewriter.replaceOpWithNewOp<graph::ConstantOp>(op, op.getType(), key);
    return success();
  }
};

/// A reshape of windows that are the pixels themselves, as an adaptive pooling leaves them that has nothing to pool.
/// The windows of contractions stay: they are how a convolution of 1x1 is recognized.
struct ReshapeOfPixels : OpRewritePattern<graph::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto window = op.getData().getDefiningOp<graph::WindowOp>();
    if (!window || !llvm::all_equal(window.getStrides()) || window.getStrides().front() != 1 ||
        llvm::any_of(window.getLow(), [](int64_t low) { return low != 0; }))
      return failure();
    Sizes data = sizesOf(window.getData()), sizes = sizesOf(window);
    size_t taps = window.getDims().back() + 1, count = window.getDims().size(); // of the result's dimensions
    if (!llvm::all_of(ArrayRef(sizes).slice(taps, count), isUnit))
      return failure();
    sizes.erase(sizes.begin() + taps, sizes.begin() + taps + count);
    if (sizes != data) // beyond the image, or a part of it
      return failure();
    rewriter.replaceOp(op, Rebuild(rewriter, op).reshape(window.getData(), sizesOf(op)));
    return success();
  }
};

struct ComposeSlices : OpRewritePattern<graph::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::SliceOp op, PatternRewriter &rewriter) const override {
    auto before = op.getData().getDefiningOp<graph::SliceOp>();
    if (!before)
      return failure();
    SmallVector<AffineExpr> offsets;
    SmallVector<int64_t> strides;
    for (auto [inner, outer, innerStride, outerStride] : llvm::zip_equal(
             before.getOffsets().getResults(), op.getOffsets().getResults(), before.getStrides(), op.getStrides())) {
      offsets.push_back(graph::canonicalSize(inner + outer * innerStride));
      strides.push_back(innerStride * outerStride);
    }
    unsigned symbols = std::max(before.getOffsets().getNumSymbols(), op.getOffsets().getNumSymbols());
    rewriter.modifyOpInPlace(op, [&] {
      op.getDataMutable().assign(before.getData());
      op.setOffsetsAttr(AffineMapAttr::get(AffineMap::get(0, symbols, offsets, op.getContext())));
      op.setStrides(strides);
    });
    return success();
  }
};

} // namespace

void normalize::addFoldAccesses(RewritePatternSet &patterns) {
  patterns.add<SplatOfUnknownSize, ComposeReshapes, ComposeTransposes, TransposeOfUnits, SimplifyBroadcast,
               TransposeOfBroadcast, ReduceOfUnits, TransposeOfIota, ReshapeOfConstant, TransposeOfConstant,
               ReshapeOfPixels, ComposeSlices>(patterns.getContext());
}
