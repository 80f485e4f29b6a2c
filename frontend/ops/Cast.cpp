// SPDX-License-Identifier: Apache-2.0
// Casts, including those of storage-only types: floats of 8 and 4 bits, integers of 4 and 2 bits.
//
// Small floats are encoded and decoded by integer arithmetic on the bits of a float32; runtime/reference/SmallFloat.h
// has the formulas. With M bits of mantissa and bias B, the pattern of x is:
//
//     if |x| >= 2^(1 - B)    bits(x) rounded to M mantissa bits, with the exponent rebased
//     below (subnormals)     bits(|x| + 2^(24 - B - M)) - bits(2^(24 - B - M)): the addition rounds
#include "frontend/ops/Handlers.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright::ops {
namespace {

struct SmallFormat {
  DType type;
  int exponent, mantissa, bias;
  bool infinity, unsignedZero; // exponent all ones is infinity and NaN; minus zero is NaN
  int nan, largest;            // patterns without sign; E2M1 has no NaN

  int signBit() const { return 1 << (exponent + mantissa); }
};

constexpr SmallFormat smallFormats[] = {
    {DType::F8E4M3FN, 4, 3, 7, false, false, 0x7f, 0x7e}, {DType::F8E4M3FNUZ, 4, 3, 8, false, true, 0x80, 0x7f},
    {DType::F8E5M2, 5, 2, 15, true, false, 0x7f, 0x7b},   {DType::F8E5M2FNUZ, 5, 2, 16, false, true, 0x80, 0x7f},
    {DType::F4E2M1, 2, 1, 1, false, false, 0, 7},
};

const SmallFormat *smallFormat(DType type) {
  auto row = std::ranges::find(smallFormats, type, &SmallFormat::type);
  return row == std::end(smallFormats) ? nullptr : row;
}

/// Integer arithmetic on 32-bit patterns.
class Bits {
public:
  explicit Bits(NodeBuilder &b) : b(b), i32(b.state.builder.getI32Type()), f32(b.state.builder.getF32Type()) {}

  Term of(Term x) { return as(x, i32); }
  Term toFloat(Term x) { return as(x, f32); }
  Term number(Term like, int64_t value) { return b.splatInteger(like.sizes(), i32, value); }
  Term bitAnd(Term x, int64_t mask) { return b.apply<arith::AndIOp>(x, number(x, mask)); }
  Term bitOr(Term x, Term y) { return b.apply<arith::OrIOp>(x, y); }
  Term left(Term x, int by) { return b.apply<arith::ShLIOp>(x, number(x, by)); }
  Term right(Term x, int by) { return b.apply<arith::ShRUIOp>(x, number(x, by)); }
  Term atLeast(Term x, int64_t y) { return b.compare(F::OGE, I::sge, x, number(x, y)); }
  Term equals(Term x, int64_t y) { return b.compare(F::OEQ, I::eq, x, number(x, y)); }
  Term pick(Term condition, Term x, int64_t y) { return b.select(condition, x, number(x, y)); }
  Term pick(Term condition, int64_t x, Term y) { return b.select(condition, number(y, x), y); }

private:
  Term as(Term x, Type element) {
    return b.term(arith::BitcastOp::create(b.state.builder, b.state.location, graph::withElementType(x.type(), element),
                                           x.value));
  }

  NodeBuilder &b;
  Type i32, f32;
};

constexpr int64_t infinityBits = 0x7f800000, quietBits = 0x7fc00000;

Term bytes(NodeBuilder &b, Term x) { return b.convert(x, DType::U8, DType::I32); }
Term toByte(NodeBuilder &b, Term x) { return b.convert(x, DType::I32, DType::U8); }

Term decode(NodeBuilder &b, const SmallFormat &format, Term x) {
  Bits bits(b);
  Term pattern = bytes(b, x), size = bits.bitAnd(pattern, format.signBit() - 1),
       sign = bits.bitAnd(pattern, format.signBit());
  Term normal = bits.left(size, 23 - format.mantissa) + bits.number(size, int64_t(127 - format.bias) << 23);
  Term tiny = bits.of(b.convert(size, DType::I32, DType::F32) * std::ldexp(1.0, 1 - format.bias - format.mantissa));
  Term value = b.select(bits.atLeast(size, 1 << format.mantissa), normal, tiny);
  if (format.infinity) {
    int infinity = format.largest + 1;
    value = bits.pick(bits.equals(size, infinity), infinityBits, value);
    value = bits.pick(bits.atLeast(size, infinity + 1), quietBits, value);
  } else if (format.nan && !format.unsignedZero) {
    value = bits.pick(bits.equals(size, format.nan), quietBits, value);
  }
  value = bits.bitOr(value, bits.left(sign, 31 - format.exponent - format.mantissa));
  if (format.unsignedZero)
    value = bits.pick(bits.equals(pattern, format.nan), quietBits, value);
  return bits.toFloat(value);
}

Term encode(NodeBuilder &b, const SmallFormat &format, Term x, bool saturate) {
  Bits bits(b);
  int drop = 23 - format.mantissa, magicExponent = 24 - format.bias - format.mantissa;
  Term word = bits.of(x), size = bits.bitAnd(word, 0x7fffffff);
  Term rounded = size + bits.number(size, (1 << (drop - 1)) - 1) + bits.bitAnd(bits.right(size, drop), 1);
  Term normal = bits.right(rounded, drop) - bits.number(size, int64_t(127 - format.bias) << format.mantissa);
  Term tiny = bits.of(bits.toFloat(size) + std::ldexp(1.0, magicExponent)) -
              bits.number(size, int64_t(127 + magicExponent) << 23);
  Term pattern = b.select(bits.atLeast(size, int64_t(128 - format.bias) << 23), normal, tiny);
  Term tooLarge = bits.atLeast(pattern, format.largest + 1), isNaN = bits.atLeast(size, infinityBits + 1);
  bool stays = saturate || format.type == DType::F4E2M1;
  Term sign = bits.bitAnd(bits.right(word, 31 - format.exponent - format.mantissa), format.signBit());
  pattern = bits.pick(tooLarge, stays ? format.largest : format.infinity ? format.largest + 1 : format.nan, pattern);
  if (!format.unsignedZero)
    return toByte(b, bits.bitOr(bits.pick(isNaN, format.nan, pattern), sign));
  Term plain = bits.equals(pattern, 0); // zero has no sign in these formats, nor has NaN
  if (!stays)
    plain = b.apply<arith::OrIOp>(plain, tooLarge);
  Term result = b.select(plain, pattern, bits.bitOr(pattern, sign));
  return toByte(b, bits.pick(isNaN, format.nan, result));
}

/// Decodes a type that only has an exponent (E8M0). 255 is NaN.
Term decodePower(NodeBuilder &b, Term x) {
  Bits bits(b);
  Term pattern = bytes(b, x), value = bits.left(pattern, 23);
  value = bits.pick(bits.equals(pattern, 0), 0x00400000, value); // 2^-127 is subnormal
  return bits.toFloat(bits.pick(bits.equals(pattern, 255), quietBits, value));
}

Term encodePower(NodeBuilder &b, Term x, bool saturate) {
  std::string mode = b.text("round_mode", "up");
  b.expect(mode == "up" || mode == "down" || mode == "nearest",
           fmt::format("expected round_mode to be up, down or nearest, got '{}'", mode));
  Bits bits(b);
  Term size = bits.bitAnd(bits.of(x), 0x7fffffff), exponent = bits.right(size, 23),
       fraction = bits.bitAnd(size, 0x7fffff);
  Term result = exponent;
  if (mode != "down") {
    Term more = mode == "up" ? bits.atLeast(fraction, 1)
                             : b.apply<arith::OrIOp>(
                                   bits.atLeast(fraction, 0x400001),
                                   b.apply<arith::AndIOp>(bits.atLeast(fraction, 0x400000), bits.atLeast(exponent, 1)));
    result = b.select(more, exponent + bits.number(exponent, 1), exponent);
  }
  if (saturate && mode != "down")
    result = b.minimum(result, bits.number(result, 254));
  return toByte(b, bits.pick(bits.atLeast(exponent, 255), 255, result));
}

bool isNarrow(DType type) { return findDType(type)->bits < 8 && !isFloat(type); }

/// Encodes narrow integers: the low bits of a number truncated to 32 bits, as in the reference.
Term encodeNarrow(NodeBuilder &b, Term x, DType from, DType to) {
  int bits = static_cast<int>(findDType(to)->bits);
  bool isSigned = findDType(to)->isSigned;
  Type i8 = b.state.builder.getI8Type();
  auto number = [&](int64_t value) { return b.splatInteger(x.sizes(), i8, value); };
  Term low =
      isFloat(from) ? b.convert(b.convert(x, from, DType::I32), DType::I32, DType::U8) : b.convert(x, from, DType::U8);
  if (!isSigned)
    return b.apply<arith::AndIOp>(low, number((1 << bits) - 1));
  return b.apply<arith::ShRSIOp>(b.apply<arith::ShLIOp>(low, number(8 - bits)), number(8 - bits));
}

/// Converts x from a storage-only type to the type that computations use for it.
std::pair<Term, DType> decoded(NodeBuilder &b, Term x, DType type) {
  if (const SmallFormat *format = smallFormat(type))
    return {decode(b, *format, x), DType::F32};
  if (type == DType::F8E8M0)
    return {decodePower(b, x), DType::F32};
  if (isNarrow(type))
    return {x, findDType(type)->isSigned ? DType::I8 : DType::U8};
  return {x, type};
}

void castTo(NodeBuilder &b, DType to) {
  DType from = b.type(0);
  if (!findDType(to) || isComplex(to) || isComplex(from))
    decline("casts from {} to {} are not compiled", name(from), name(to));
  if (from == to)
    return b.forward(0);
  auto [x, type] = decoded(b, b.raw(0), from);
  if (isNarrow(to))
    return b.out(encodeNarrow(b, x, type, to), to);
  const SmallFormat *format = smallFormat(to);
  if (!format && to != DType::F8E8M0)
    return b.out(b.convert(x, type, to), to);
  if (type == DType::F64)
    decline("casts from float64 to {} are not compiled: by way of float32 they would be rounded twice", name(to));
  bool saturate = b.integer("saturate", 1) != 0;
  Term single = b.convert(x, type, DType::F32);
  b.out(format ? encode(b, *format, single, saturate) : encodePower(b, single, saturate), to);
}

} // namespace

void cast(NodeBuilder &b) { castTo(b, static_cast<DType>(b.integer("to", 0))); }
void castLike(NodeBuilder &b) { castTo(b, b.type(1)); }

/// Reinterprets the bits as another type of the same width.
void bitCast(NodeBuilder &b) {
  auto to = static_cast<DType>(b.integer("to", 0));
  DType from = b.type(0);
  if (!findDType(to) || isComplex(to) || isComplex(from) || from == DType::Bool || to == DType::Bool)
    decline("bit casts from {} to {} are not compiled", name(from), name(to));
  b.expect(findDType(from)->bits == findDType(to)->bits,
           fmt::format("expected a type of {} bits, got {}", findDType(from)->bits, name(to)));
  if (findDType(from)->bits < 8)
    decline("bit casts of {} are not compiled", name(from));
  Type element = elementType(b.state.context, to);
  Term x = b.raw(0);
  if (x.element() != element)
    x = b.term(arith::BitcastOp::create(b.state.builder, b.state.location, graph::withElementType(x.type(), element),
                                        x.value));
  b.out(x, to);
}

} // namespace tilewright::ops
