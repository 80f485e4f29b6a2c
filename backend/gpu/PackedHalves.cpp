// SPDX-License-Identifier: Apache-2.0
// Arithmetic on two halves in one instruction, and conversions of bytes to halves by bit operations and a subtraction.
//
// A thread's neighbouring registers of a tile are the elements of one vector. Bytes become halves four at a time:
//
//   bytes b3 b2 b1 b0    shifted and masked as one word: q3 q2 q1 q0, each at most 255 (127 for bf16)
//   64 q1 64 q0          two halves 1,024 + q: 0x6400 is 1,024 as f16, whose last bit is worth 1
//   q1 q0                after subtracting 1,024
//
// This replaces conversion instructions, which run at a quarter of the rate of arithmetic or less.
#include "backend/gpu/KernelDistributor.h"
#include "backend/math/IntegerRange.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// Computes element `r` of `tile` together with its neighbour. False, and nothing done, if `tile` is not a sum,
/// difference or product of halves.
bool KernelDistributor::packArithmetic(Value tile, unsigned r) {
  Operation *op = tile.getDefiningOp();
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  Registers &results = registers_[tile];
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) || !isHalf(element) || results.size() % 2)
    return false;
  unsigned even = r & ~1u;
  auto pair = VectorType::get(2, element);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value first = registerOf(operand, even), second = registerOf(operand, even + 1);
    operands.push_back(vector::FromElementsOp::create(b_, pair, ValueRange{first, second}));
  }
  Operation *packed = b_.create(op->getLoc(), op->getName().getIdentifier(), operands, {pair}, op->getAttrs());
  for (unsigned i : {0, 1})
    registers_[tile][even + i] = vector::ExtractOp::create(b_, packed->getResult(0), i);
  return true;
}

namespace {
/// (byte >> shift) & mask, as a half. `shift` is null if there is none.
struct BitsOfByte {
  Value bytes, shift;
  uint8_t mask = 0xff;
};
} // namespace

/// The bits that a conversion to half reads, if its operand is such bits of bytes.
static std::optional<BitsOfByte> bitsOfByte(Operation *convert) {
  if (!isa<arith::SIToFPOp, arith::UIToFPOp>(convert))
    return std::nullopt;
  BitsOfByte result;
  Value value = convert->getOperand(0);
  bool isUnsigned = isa<arith::UIToFPOp>(convert);
  if (auto mask = value.getDefiningOp<arith::AndIOp>())
    for (auto [constant, other] : {std::pair(mask.getLhs(), mask.getRhs()), std::pair(mask.getRhs(), mask.getLhs())}) {
      APInt bits;
      if (!matchPattern(constant, m_ConstantInt(&bits)) || bits.getActiveBits() > 8)
        continue;
      result.mask = static_cast<uint8_t>(bits.getZExtValue());
      value = other;
      break;
    }
  if (auto shift = value.getDefiningOp<arith::ShRUIOp>()) {
    std::optional<IntegerRange> by = integerRange(shift.getRhs(), true);
    if (!by || by->high + llvm::bit_width(unsigned(result.mask)) > 8) // else the shift brings in bits of the next byte
      return std::nullopt;
    result.shift = shift.getRhs();
    value = shift.getLhs();
  }
  if (auto extend = value.getDefiningOp<arith::ExtUIOp>())
    value = extend.getIn(), isUnsigned = true;
  result.bytes = value;
  bool isByte = getElementTypeOrSelf(value).isInteger(8);
  return isByte && isUnsigned ? std::optional(result) : std::nullopt;
}

/// Computes element `r` of `tile` together with its neighbours, four at a time. False, and nothing done, if `tile` is
/// not a conversion of bits of bytes to halves.
bool KernelDistributor::packConversion(Value tile, unsigned r) {
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  std::optional<BitsOfByte> bits = isHalf(element) ? bitsOfByte(tile.getDefiningOp()) : std::nullopt;
  if (!bits || registers_[tile].size() % 4 || (element.isBF16() && bits->mask > 0x7f))
    return false;
  unsigned first = r & ~3u;
  Registers bytes, shifts;
  for (unsigned i = 0; i < 4; ++i) {
    bytes.push_back(registerOf(bits->bytes, first + i));
    if (bits->shift)
      shifts.push_back(registerOf(bits->shift, first + i));
  }
  if (!llvm::all_equal(shifts))
    return false;
  auto four = VectorType::get(4, b_.getI8Type()), two = VectorType::get(2, element);
  Value word = LLVM::BitcastOp::create(b_, b_.getI32Type(), vector::FromElementsOp::create(b_, four, bytes));
  auto constant = [&](uint32_t value) { return arith::ConstantOp::create(b_, b_.getI32IntegerAttr(value)); };
  if (bits->shift) {
    Value by = shifts.front();
    if (by.getType() != word.getType())
      by = by.getType().getIntOrFloatBitWidth() > 32 ? arith::TruncIOp::create(b_, word.getType(), by).getResult()
                                                     : arith::ExtUIOp::create(b_, word.getType(), by).getResult();
    word = arith::ShRUIOp::create(b_, word, by);
  }
  if (bits->mask != 0xff)
    word = arith::AndIOp::create(b_, word, constant(bits->mask * 0x01010101u));
  Value numbers = LLVM::BitcastOp::create(b_, four, word);
  uint8_t high = element.isF16() ? 0x64 : 0x43;
  double base = element.isF16() ? 1024 : 128;
  Value highs = arith::ConstantOp::create(b_, DenseElementsAttr::get(four, APInt(8, high)));
  Value bases = arith::ConstantOp::create(b_, DenseElementsAttr::get(two, b_.getFloatAttr(element, base).getValue()));
  for (unsigned i = 0; i < 4; i += 2) {
    Value raised = vector::ShuffleOp::create(b_, numbers, highs, ArrayRef<int64_t>{i, 4, i + 1, 4});
    Value pair = arith::SubFOp::create(b_, LLVM::BitcastOp::create(b_, two, raised), bases);
    for (unsigned j : {0, 1})
      registers_[tile][first + i + j] = vector::ExtractOp::create(b_, pair, j);
  }
  return true;
}
