// SPDX-License-Identifier: Apache-2.0
#include "backend/nvptx/SplitSingles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct Parts {
  SmallVector<Value> high, low;
};
} // namespace

static Value word(GpuTarget::Builder &b, int32_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

/// The high part is `element` rounded to nearest, ties away from zero; the low part is the rest, truncated. The low
/// part of a NaN is a NaN, so the product is, whatever the high part has become. These are four instructions; cvt.rna
/// compiles to more, because it also tests for infinities.
static void splitInTwo(GpuTarget::Builder &b, Value element, Parts &parts) {
  constexpr int32_t half = 1 << 12, upper = -(1 << 13);
  auto bitsOf = [&](Value value) { return LLVM::BitcastOp::create(b, b.getI32Type(), value).getResult(); };
  Value sum = arith::AddIOp::create(b, bitsOf(element), word(b, half)),
        high = arith::AndIOp::create(b, sum, word(b, upper)),
        rest = arith::SubFOp::create(b, element, LLVM::BitcastOp::create(b, b.getF32Type(), high));
  parts.high.push_back(high);
  parts.low.push_back(arith::AndIOp::create(b, bitsOf(rest), word(b, upper)));
}

static Parts split(GpuTarget::Builder &b, Value fragment, bool inTwo, RoundToTf32 round) {
  Parts parts;
  for (int64_t i = 0, count = cast<VectorType>(fragment.getType()).getNumElements(); i < count; ++i) {
    Value element = vector::ExtractOp::create(b, fragment, i);
    if (inTwo)
      splitInTwo(b, element, parts);
    else
      parts.high.push_back(round(element));
  }
  return parts;
}

SmallVector<Value> tilewright::multiplySingles(GpuTarget::Builder &b, const tile::Fragments &fragments, Value lhs,
                                               Value rhs, ArrayRef<Value> acc, RoundToTf32 round,
                                               MultiplyTf32 multiply) {
  bool inParts = fragments.products > 1;
  Parts left = split(b, lhs, inParts, round), right = split(b, rhs, inParts, round);
  if (fragments.chained)
    for (SmallVector<Value> *part : {&left.high, &left.low})
      if (!part->empty())
        std::swap((*part)[1], (*part)[2]);
  if (!inParts)
    return multiply(left.high, right.high, acc);
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  SmallVector<Value> sums(acc.size(), zero);
  sums = multiply(left.low, right.high, sums);
  sums = multiply(left.high, right.low, sums);
  sums = multiply(left.high, right.high, sums);
  for (auto [sum, before] : llvm::zip_equal(sums, acc))
    sum = arith::AddFOp::create(b, before, sum);
  return sums;
}
