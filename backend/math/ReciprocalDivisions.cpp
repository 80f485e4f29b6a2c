// SPDX-License-Identifier: Apache-2.0
// Ranges of f32 values by the operations that compute them; NaN and the infinities of f16 inputs behave the same under
// both divisions.
//
//   exp x, sqrt x, |x|       at least 0
//   extf f16                 at most 65504 in magnitude
//   a + b, max(a, b), c      by their operands
#include "backend/math/ReciprocalDivisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largestHalf = 65504;
constexpr unsigned deepest = 8; // operations that are looked through

struct Range {
  double least = -infinity, most = infinity;
};
} // namespace

static Range rangeOf(Value value, unsigned depth = 0) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return {number.getValueAsDouble(), number.getValueAsDouble()};
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest)
    return {};
  auto operand = [&](unsigned i) { return rangeOf(op->getOperand(i), depth + 1); };
  if (isa<math::ExpOp, math::Exp2Op, math::SqrtOp>(op))
    return {0, infinity};
  if (auto extend = dyn_cast<arith::ExtFOp>(op))
    return extend.getIn().getType().isF16() ? Range{-largestHalf, largestHalf} : Range{};
  if (isa<math::AbsFOp>(op)) {
    Range x = operand(0);
    return {std::max({0.0, x.least, -x.most}), std::max(std::abs(x.least), std::abs(x.most))};
  }
  if (isa<arith::AddFOp>(op)) {
    Range a = operand(0), b = operand(1);
    return {a.least + b.least, a.most + b.most};
  }
  if (isa<arith::MaximumFOp>(op)) {
    Range a = operand(0), b = operand(1);
    return {std::max(a.least, b.least), std::max(a.most, b.most)};
  }
  return {};
}

void markReciprocalDivisions(Operation *root) {
  const double smallestNormal = std::ldexp(1.0, -126), largest = std::ldexp(1.0, 126);
  root->walk([&](arith::DivFOp division) {
    if (!division.getType().isF32())
      return;
    Range divisor = rangeOf(division.getRhs()), dividend = rangeOf(division.getLhs());
    bool small = dividend.least >= -1 && dividend.most <= 1;
    if (divisor.least >= smallestNormal && (divisor.most <= largest || small))
      division->setAttr(byReciprocalAttr, UnitAttr::get(division.getContext()));
  });
}

} // namespace tilewright
