// SPDX-License-Identifier: Apache-2.0
// Quantization with a scale and a zero point for the tensor or for each element of one axis.
#include "frontend/ops/Handlers.h"
#include "frontend/ops/StoredWeights.h"

using namespace mlir;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

/// A parameter of one element, or a vector along `axis`, broadcast to the data.
Term parameter(NodeBuilder &b, size_t i, Term like, DType type) {
  if (b.integer("block_size", 0) != 0)
    decline("blocked quantization is not compiled");
  Term value = b.convert(b.raw(i), b.type(i), type);
  if (value.rank() == 0)
    return value;
  if (value.rank() != 1)
    decline("quantization parameters of rank {} are not compiled", value.rank());
  if (graph::constantSize(value.sizes()[0]) == 1)
    return b.reshape(value, {});
  return b.along(value, like, b.axis(b.integer("axis", 1), like.rank()));
}

bool isQuantized(DType type) {
  return type == DType::U8 || type == DType::I8 || type == DType::I16 || type == DType::U16;
}

/// round(y) + zero, saturated to `type`; NaN becomes the lowest number. Signed bytes are computed as unsigned bytes -
/// 128, so that an integer contraction can use either form.
Term saturated(NodeBuilder &b, Term y, std::optional<Term> zero, DType type) {
  if (!isQuantized(type))
    decline("quantization to {} is not compiled", name(type));
  int bits = static_cast<int>(elementBytes(type) * 8);
  bool isSigned = findDType(type)->isSigned, flips = type == DType::I8;
  double least = isSigned && !flips ? -std::ldexp(1.0, bits - 1) : 0, most = least + std::ldexp(1.0, bits) - 1;
  Term rounded = b.apply<math::RoundEvenOp>(y);
  if (zero)
    rounded = rounded + (flips ? *zero + 128.0 : *zero);
  else if (flips)
    rounded = rounded + 128.0;
  rounded =
      b.apply<arith::MinNumFOp>(b.apply<arith::MaxNumFOp>(rounded, b.like(rounded, least)), b.like(rounded, most));
  auto element = [&](unsigned width) {
    return graph::withElementType(rounded.type(), b.state.builder.getIntegerType(width));
  };
  Term wide = b.term(arith::FPToSIOp::create(b.state.builder, b.state.location, element(32), rounded.value));
  Term narrow = b.term(arith::TruncIOp::create(b.state.builder, b.state.location, element(bits), wide.value));
  return flips ? b.apply<arith::XOrIOp>(narrow, b.splatInteger(narrow.sizes(), narrow.element(), -128)) : narrow;
}

} // namespace

Term requantized(NodeBuilder &b, Term y, size_t zeroPoint) {
  Term zero = b.convert(b.raw(zeroPoint), b.type(zeroPoint), DType::F32);
  return saturated(b, y, zero.rank() == 1 ? b.reshape(zero, {}) : zero, b.type(zeroPoint));
}

void quantizeLinear(NodeBuilder &b) {
  DType type = b.has(2) ? b.type(2) : DType::U8;
  Term x = b.convert(b.raw(0), b.type(0), DType::F32);
  std::optional<Term> zero;
  if (b.has(2) && isQuantized(type))
    zero = parameter(b, 2, x, DType::F32);
  b.out(saturated(b, x / parameter(b, 1, x, DType::F32), zero, type), type);
}

void dequantizeLinear(NodeBuilder &b) {
  if (isStoredMatrix(b))
    return b.out(dequantizedMatrix(b), b.type(1));
  if (isFloat(b.type(0)))
    decline("dequantization of {} is not compiled", name(b.type(0)));
  Term x = b.convert(b.raw(0), b.type(0), DType::I32);
  if (b.has(2))
    x = x - parameter(b, 2, x, DType::I32);
  Term y = b.convert(x, DType::I32, DType::F32) * parameter(b, 1, x, DType::F32);
  b.out(y, b.type(1));
}

/// Maps the range of x, extended to include 0, to 0..255.
void dynamicQuantizeLinear(NodeBuilder &b) {
  Term x = b.in(0);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  Term low = b.minimum(b.reduce(ReduceKind::Min, x, all), 0), high = b.maximum(b.reduce(ReduceKind::Max, x, all), 0);
  Term scale = (high - low) / 255.0;
  Term zero = b.apply<math::RoundEvenOp>(b.minimum(b.maximum(0.0 - low / scale, 0), 255));
  b.out(saturated(b, x / scale, zero, DType::U8), DType::U8);
  b.out(scale, DType::F32, 1);
  b.out(b.convert(zero, DType::F32, DType::U8), DType::U8, 2);
}

} // namespace tilewright::ops
