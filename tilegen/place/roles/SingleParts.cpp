// SPDX-License-Identifier: Apache-2.0
#include "tilegen/place/roles/SingleParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright::tile;

static constexpr int32_t bitsBelow = 13; // of a single's mantissa, which tf32 does not have

static RankedTensorType wordsOf(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return RankedTensorType::get(type.getShape(), IntegerType::get(type.getContext(), 32), type.getEncoding());
}

static Value word(OpBuilder &b, Location loc, RankedTensorType type, int32_t value) {
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getI32IntegerAttr(value)));
}

static Value truncate(OpBuilder &b, Location loc, Value tile) {
  RankedTensorType type = wordsOf(tile);
  Value bits = arith::BitcastOp::create(b, loc, type, tile),
        upper = arith::AndIOp::create(b, loc, bits, word(b, loc, type, -(1 << bitsBelow)));
  return arith::BitcastOp::create(b, loc, tile.getType(), upper);
}

/// Adds half of the last bit of tf32, so that truncating gives the nearest tf32. A NaN may overflow into a number.
static Value roundWhenTruncated(OpBuilder &b, Location loc, Value tile) {
  RankedTensorType type = wordsOf(tile);
  Value bits = arith::BitcastOp::create(b, loc, type, tile),
        sum = arith::AddIOp::create(b, loc, bits, word(b, loc, type, 1 << (bitsBelow - 1)));
  return arith::BitcastOp::create(b, loc, tile.getType(), sum);
}

Value tilewright::tile::upperRounded(OpBuilder &b, Location loc, Value tile) {
  return truncate(b, loc, roundWhenTruncated(b, loc, tile));
}

Value tilewright::tile::roundToTf32(OpBuilder &b, Location loc, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto quiet = APFloat::getQNaN(cast<FloatType>(type.getElementType()).getFloatSemantics());
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, tile, tile),
        nan = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, quiet));
  return arith::SelectOp::create(b, loc, isNaN, nan, roundWhenTruncated(b, loc, tile));
}

Value tilewright::tile::belowTf32(OpBuilder &b, Location loc, Value tile) {
  return roundWhenTruncated(b, loc, arith::SubFOp::create(b, loc, tile, truncate(b, loc, tile)));
}

Layout tilewright::tile::rewriteLayout(const TileShape &shape, unsigned warpsOfGroup, unsigned warps) {
  constexpr unsigned lanes = 32, vector = 4;
  unsigned m = shape.rank() - 2, k = shape.rank() - 1, groupBits = llvm::Log2_32(warps / warpsOfGroup);
  SmallVector<int64_t> sizes(shape.rank(), 1);
  sizes[m] = int64_t(1) << (shape.bits(m) - groupBits);
  sizes[k] = int64_t(1) << shape.bits(k);
  // The bits of a row's number within a group are the lower ones in the whole tile too, so the basis of the group's own
  // tile holds in the whole tile, and the upper row bits choose the group.
  Layout layout = blocked(TileShape(sizes), {{k, m}, vector, lanes, warpsOfGroup});
  for (unsigned bit = 0; bit < groupBits; ++bit)
    layout.warp.push_back(shape.basis(m, shape.bits(m) - groupBits + bit));
  return layout;
}
