// SPDX-License-Identifier: Apache-2.0
// Cleans up after IntegerContractions for other readers of the same integers: undoes flipped signs, and combines
// subtractions of constants.
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Rebuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

/// ext(x ^ 0x80) = ext'(x) +- 128, so that other readers of flipped integers read the original bytes from memory.
template <typename Extend, typename Other, int64_t offset> struct ExtendOfFlipped : OpRewritePattern<Extend> {
  using OpRewritePattern<Extend>::OpRewritePattern;
  LogicalResult matchAndRewrite(Extend op, PatternRewriter &rewriter) const override {
    auto flip = op.getIn().template getDefiningOp<arith::XOrIOp>();
    auto type = cast<RankedTensorType>(op.getType());
    SplatElementsAttr mask;
    if (!flip || !matchPattern(flip.getRhs(), m_Constant(&mask)) ||
        !tensorOf(op.getIn()).getElementType().isInteger(8) || mask.getSplatValue<APInt>() != 128 ||
        !type.hasStaticShape())
      return failure();
    Value wide = Other::create(rewriter, op.getLoc(), type, flip.getLhs());
    Value offsets = arith::ConstantOp::create(
        rewriter, op.getLoc(), DenseElementsAttr::get(type, rewriter.getIntegerAttr(type.getElementType(), offset)));
    auto difference = arith::SubIOp::create(rewriter, op.getLoc(), wide, offsets);
    if (Attribute node = op->getAttr(graph::nodeAttr))
      for (Operation *made : {wide.getDefiningOp(), difference.getOperation()})
        made->setAttr(graph::nodeAttr, node);
    rewriter.replaceOp(op, difference.getResult());
    return success();
  }
};

/// (x - a) - b = x - (a + b)
struct CombineDifferences : OpRewritePattern<arith::SubIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SubIOp op, PatternRewriter &rewriter) const override {
    auto before = op.getLhs().getDefiningOp<arith::SubIOp>();
    SplatElementsAttr a, b;
    if (!before || !matchPattern(before.getRhs(), m_Constant(&a)) || !matchPattern(op.getRhs(), m_Constant(&b)))
      return failure();
    Value sum = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        DenseElementsAttr::get(cast<ShapedType>(op.getType()), a.getSplatValue<APInt>() + b.getSplatValue<APInt>()));
    rewriter.modifyOpInPlace(op, [&] { op->setOperands({before.getLhs(), sum}); });
    return success();
  }
};

} // namespace

void normalize::addFlippedIntegers(RewritePatternSet &patterns) {
  patterns.add<ExtendOfFlipped<arith::ExtSIOp, arith::ExtUIOp, 128>,
               ExtendOfFlipped<arith::ExtUIOp, arith::ExtSIOp, -128>, CombineDifferences>(patterns.getContext());
}
