// SPDX-License-Identifier: Apache-2.0
#include "backend/math/IntegerRange.h"

#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

/// The value of a constant of at most 31 bits: the product of two of them fits in an int64_t.
static std::optional<int64_t> smallConstant(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.getSignificantBits() > 31)
    return std::nullopt;
  return number.getSExtValue();
}

static std::optional<IntegerRange> rangeOfType(Type type, bool isUnsigned) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width > 16)
    return std::nullopt;
  int64_t half = int64_t(1) << (width - 1);
  return isUnsigned ? IntegerRange{0, 2 * half - 1} : IntegerRange{-half, half - 1};
}

/// x & mask, x % divisor and x * factor, by constants.
static std::optional<IntegerRange> rangeByConstant(Operation *op) {
  for (unsigned side : {0, 1}) {
    std::optional<int64_t> constant = smallConstant(op->getOperand(side));
    if (!constant || *constant <= 0)
      continue;
    if (isa<arith::AndIOp>(op))
      return IntegerRange{0, *constant};
    if (isa<arith::RemUIOp>(op) && side == 1)
      return IntegerRange{0, *constant - 1};
    std::optional<IntegerRange> other =
        isa<arith::MulIOp>(op) ? integerRange(op->getOperand(1 - side), true) : std::nullopt;
    if (other && other->low >= 0 && other->high < (int64_t(1) << 31) / *constant)
      return IntegerRange{0, other->high * *constant};
  }
  return std::nullopt;
}

std::optional<IntegerRange> integerRange(Value tile, bool isUnsigned) {
  auto ofType = [&] { return rangeOfType(getElementTypeOrSelf(tile), isUnsigned); };
  if (std::optional<int64_t> constant = smallConstant(tile); constant && *constant >= 0)
    return IntegerRange{*constant, *constant};
  Operation *op = tile.getDefiningOp();
  if (!op)
    return ofType();
  return llvm::TypeSwitch<Operation *, std::optional<IntegerRange>>(op)
      .Case([](arith::ExtUIOp extend) { return integerRange(extend.getIn(), true); })
      .Case([&](arith::ExtSIOp extend) { // a negative number reads as a large unsigned one
        std::optional<IntegerRange> range = integerRange(extend.getIn(), false);
        return range && (range->low >= 0 || !isUnsigned) ? range : ofType();
      })
      .Case([&](tile::BroadcastOp broadcast) { return integerRange(broadcast.getInput(), isUnsigned); })
      .Case([&](arith::ShRUIOp shift) {
        std::optional<IntegerRange> range = integerRange(shift.getLhs(), true);
        return range && range->low >= 0 ? std::optional(IntegerRange{0, range->high}) : ofType();
      })
      .Case<arith::AndIOp, arith::RemUIOp, arith::MulIOp>([&](Operation *other) {
        std::optional<IntegerRange> range = rangeByConstant(other);
        return range ? range : ofType();
      })
      .Default([&](Operation *) { return ofType(); });
}

} // namespace tilewright
