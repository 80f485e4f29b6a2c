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

static Parts split(GpuTarget::Builder &b, Value fragment, bool needsLow, RoundToTf32 round) {
  Parts parts;
  for (int64_t i = 0, count = cast<VectorType>(fragment.getType()).getNumElements(); i < count; ++i) {
    Value element = vector::ExtractOp::create(b, fragment, i);
    Value high = round(element);
    parts.high.push_back(high);
    if (!needsLow)
      continue;
    Value asFloat = high.getType().isF32() ? high : LLVM::BitcastOp::create(b, b.getF32Type(), high).getResult();
    parts.low.push_back(round(arith::SubFOp::create(b, element, asFloat)));
  }
  return parts;
}

SmallVector<Value> tilewright::multiplySingles(GpuTarget::Builder &b, unsigned products, Value lhs, Value rhs,
                                               ArrayRef<Value> acc, RoundToTf32 round, MultiplyTf32 multiply) {
  Parts left = split(b, lhs, products > 1, round), right = split(b, rhs, products > 1, round);
  if (products == 1)
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
