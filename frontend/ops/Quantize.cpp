// Quantization: scale and zero point, for a tensor or along one axis.
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

/// A parameter of one element or one along `axis`, with the rank of the data.
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

} // namespace

/// round(x / scale) + zero point, saturated.
void quantizeLinear(NodeBuilder &b) {
  DType type = b.has(2) ? b.type(2) : DType::U8;
  if (type != DType::U8 && type != DType::I8 && type != DType::I16 && type != DType::U16)
    decline("quantization to {} is not compiled", name(type));
  Term x = b.convert(b.raw(0), b.type(0), DType::F32);
  Term y = b.apply<math::RoundEvenOp>(x / parameter(b, 1, x, DType::F32));
  if (b.has(2))
    y = y + parameter(b, 2, x, DType::F32);
  int bits = static_cast<int>(elementBytes(type) * 8);
  bool isSigned = findDType(type)->isSigned;
  double low = isSigned ? -std::ldexp(1.0, bits - 1) : 0, high = std::ldexp(1.0, isSigned ? bits - 1 : bits) - 1;
  b.out(b.convert(b.minimum(b.maximum(y, low), high), DType::F32, type), type);
}

void dequantizeLinear(NodeBuilder &b) {
  Term x = b.convert(b.raw(0), b.type(0), DType::I32);
  if (b.has(2))
    x = x - parameter(b, 2, x, DType::I32);
  Term y = b.convert(x, DType::I32, DType::F32) * parameter(b, 1, x, DType::F32);
  b.out(y, b.type(1));
}

} // namespace tilewright::ops
