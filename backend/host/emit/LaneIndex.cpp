// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/LaneIndex.h"

#include "backend/host/Elementwise.h"
#include "backend/host/emit/Vectors.h"
#include "frontend/index/Evaluate.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

std::optional<int64_t> constantOf(Ix value) {
  if (!value)
    return 0;
  if (auto *constant = dyn_cast<llvm::ConstantInt>(value))
    return constant->getSExtValue();
  return std::nullopt;
}

Ix LaneMath::sum(ArrayRef<Ix> terms) {
  Ix result = math.constant(0);
  for (Ix term : math.outermostFirst(terms))
    result = math.add(result, term);
  return result;
}

llvm::Value *LaneMath::offsets(Ix stride, llvm::Value *delta, unsigned width) {
  if (!stride)
    return delta;
  llvm::Type *element = delta ? delta->getType()->getScalarType() : ir.getInt32Ty();
  llvm::Value *strides = ir.CreateVectorSplat(width, ir.CreateIntCast(stride, element, true));
  llvm::Value *steps = ir.CreateMul(laneNumbers(element, width), strides);
  return delta ? ir.CreateAdd(delta, steps) : steps;
}

static std::pair<llvm::Value *, llvm::Value *> sameWidth(llvm::IRBuilder<> &ir, llvm::Value *a, llvm::Value *b) {
  llvm::Type *type =
      a->getType()->getScalarSizeInBits() > b->getType()->getScalarSizeInBits() ? a->getType() : b->getType();
  return {ir.CreateSExt(a, type), ir.CreateSExt(b, type)};
}

LaneIndex LaneMath::add(const LaneIndex &a, const LaneIndex &b) {
  LaneIndex result = a;
  result.base.append(b.base.begin(), b.base.end());
  result.stride = !a.stride ? b.stride : !b.stride ? a.stride : math.add(a.stride, b.stride);
  result.signedDelta = a.signedDelta || b.signedDelta;
  result.count = std::max(a.count, b.count);
  if (a.delta && b.delta) {
    auto [x, y] = sameWidth(ir, a.delta, b.delta);
    result.delta = ir.CreateAdd(x, y);
  } else if (b.delta) {
    result.delta = b.delta;
  }
  if (constantOf(result.stride) == 0)
    result.stride = nullptr;
  return result;
}

LaneIndex LaneMath::scale(const LaneIndex &a, Ix factor, unsigned width) {
  LaneIndex result;
  if (constantOf(factor) == 0)
    return result;
  for (Ix term : a.base)
    result.base.push_back(math.mul(term, factor));
  result.stride = a.stride ? math.mul(a.stride, factor) : nullptr;
  if (a.delta)
    result.delta = ir.CreateMul(
        a.delta, ir.CreateVectorSplat(width, ir.CreateIntCast(factor, a.delta->getType()->getScalarType(), true)));
  result.signedDelta = a.signedDelta || constantOf(factor).value_or(0) < 0;
  result.count = a.count;
  return result;
}

/// floor(t / divisor) for a vector of integers, by the cheapest of several exact ways.
static llvm::Value *vectorQuotient(llvm::IRBuilder<> &ir, llvm::Value *t, Ix divisor, unsigned width, bool isSigned) {
  llvm::Type *type = t->getType();
  llvm::Value *by = ir.CreateVectorSplat(width, ir.CreateIntCast(divisor, type->getScalarType(), true));
  if (!isSigned && isa<llvm::ConstantInt>(divisor))
    return ir.CreateUDiv(t, by);
  if (!isSigned &&
      type->getScalarSizeInBits() == 32) { // quotients of 32-bit integers are exact in doubles once truncated
    llvm::Type *wide = vectorOf(ir.getDoubleTy(), width);
    return ir.CreateFPToSI(ir.CreateFDiv(ir.CreateSIToFP(t, wide), ir.CreateSIToFP(by, wide)), type);
  }
  llvm::Value *quotient = ir.CreateSDiv(t, by), *rest = ir.CreateSub(t, ir.CreateMul(quotient, by));
  return ir.CreateAdd(quotient, ir.CreateSExt(ir.CreateICmpSLT(rest, llvm::Constant::getNullValue(type)), type));
}

/// Quotient or remainder of a sum, if its terms fall into two groups: multiples of some unit that also divides the
/// divisor, and the others, whose sum is between 0 and the unit. Then only the multiples are divided. nullopt if there
/// are no such groups. So a coordinate within an image's row is not touched when the row's number is divided.
std::optional<LaneIndex> LaneMath::divideTerms(ArrayRef<Ix> terms, int64_t divisor, bool wantRest) {
  for (Ix candidate : terms) {
    int64_t unit = std::gcd(math.facts(candidate).divisor, divisor);
    SmallVector<Ix> multiples, others;
    for (Ix term : terms)
      (math.facts(term).divisor % unit == 0 ? multiples : others).push_back(term);
    Facts facts = math.facts(sum(others));
    if (others.empty() || !facts.within(0, unit - 1))
      continue;
    LaneIndex result;
    if (wantRest)
      result.base.assign(others.begin(), others.end());
    Ix whole = sum(multiples), by = math.constant(divisor);
    result.base.push_back(wantRest ? math.mod(whole, by) : math.floorDiv(whole, by));
    return result;
  }
  return std::nullopt;
}

/// As `divide`, for lanes that may cross multiples of the divisor: computes a quotient or a remainder for each lane.
LaneIndex LaneMath::divideByLane(const LaneIndex &value, Ix base, Ix divisor, bool wantRest, unsigned width) {
  std::optional<int64_t> stride = constantOf(value.stride);
  bool isSigned = value.signedDelta || !stride || *stride < 0;
  llvm::Value *offsets = this->offsets(value.stride, value.delta, width);
  llvm::Value *first = ir.CreateIntCast(math.mod(base, divisor), offsets->getType()->getScalarType(), true);
  llvm::Value *t = ir.CreateAdd(ir.CreateVectorSplat(width, first), offsets);
  llvm::Value *q = vectorQuotient(ir, t, math.max(divisor, math.constant(1)), width, isSigned);
  if (!wantRest)
    return LaneIndex{{math.floorDiv(base, divisor)}, nullptr, q, isSigned};
  llvm::Value *scale = ir.CreateVectorSplat(width, ir.CreateIntCast(divisor, q->getType()->getScalarType(), true));
  return LaneIndex{{}, nullptr, ir.CreateSub(t, ir.CreateMul(q, scale))};
}

LaneIndex LaneMath::divide(const LaneIndex &value, Ix divisor, bool wantRest, unsigned width) {
  Ix base = sum(value.base);
  auto quotient = [&](Ix stride) {
    return LaneIndex{{math.floorDiv(base, divisor)}, stride, nullptr, false, value.count};
  };
  auto rest = [&](Ix stride) { return LaneIndex{{math.mod(base, divisor)}, stride, nullptr, false, value.count}; };
  std::optional<int64_t> stride = constantOf(value.stride), by = constantOf(divisor);
  if (value.isUniform()) {
    if (std::optional<LaneIndex> parts = by ? divideTerms(value.base, *by, wantRest) : std::nullopt)
      return *parts;
    return wantRest ? rest(nullptr) : quotient(nullptr);
  }
  if (!value.delta && stride && *stride > 0 && by) {
    int64_t reach = *stride * (value.count - 1);
    Facts lanes = math.facts(base) + Facts{0, 0, reach, *stride};
    if (modulo(lanes, Facts::constant(*by), value.count).slope == stride)
      return wantRest ? rest(value.stride) : quotient(nullptr);
    if (*stride % *by == 0)
      return wantRest ? rest(nullptr) : quotient(math.constant(*stride / *by));
  }
  return divideByLane(value, base, divisor, wantRest, width);
}

/// The algebra of indices along the lanes (frontend/index/Evaluate.h).
struct LaneMath::Algebra {
  using Value = LaneIndex;
  LaneMath &lanes;
  ArrayRef<LaneIndex> dims;
  unsigned width;

  std::optional<LaneIndex> leaf(AffineExpr expr) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dims[dim.getPosition()];
    return isa<AffineBinaryOpExpr>(expr) ? std::nullopt : std::optional(LaneIndex{{lanes.function.evaluate(expr)}});
  }
  LaneIndex add(const LaneIndex &a, const LaneIndex &b) { return lanes.add(a, b); }
  LaneIndex multiply(const LaneIndex &a, const LaneIndex &b) {
    return b.isUniform() ? lanes.scale(a, lanes.sum(b.base), width) : lanes.scale(b, lanes.sum(a.base), width);
  }
  LaneIndex floorDivide(const LaneIndex &a, const LaneIndex &b) {
    return lanes.divide(a, lanes.sum(b.base), /*wantRest=*/false, width);
  }
  LaneIndex modulo(const LaneIndex &a, const LaneIndex &b) {
    return lanes.divide(a, lanes.sum(b.base), /*wantRest=*/true, width);
  }
  LaneIndex ceilDivide(LaneIndex a, const LaneIndex &b) {
    a.base.push_back(lanes.math.sub(lanes.sum(b.base), lanes.math.constant(1)));
    return floorDivide(a, b);
  }
};

LaneIndex LaneMath::evaluate(AffineExpr expr, ArrayRef<LaneIndex> dims, unsigned width) {
  Algebra algebra{*this, dims, width};
  return index::evaluate(expr, algebra);
}

} // namespace tilewright::host
