// SPDX-License-Identifier: Apache-2.0
#include "backend/math/tiles/RowReciprocals.h"

#include "backend/math/ReciprocalDivisions.h"
#include "backend/math/tiles/SmoothUses.h"
#include "tilegen/tile/TileLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace tilewright {
namespace {

constexpr unsigned leastPerDivisor = 4; // elements of a thread, so that the divisor's own work pays
constexpr double big = 0x1p64, small = 0x1p-64;

/// A divisor's power of two, and the reciprocal of their product.
struct Reciprocal {
  Value power, inverse;
};

} // namespace

static Reciprocal reciprocalOf(Value divisor) {
  ImplicitLocOpBuilder b(divisor.getLoc(), divisor.getContext());
  b.setInsertionPointAfterValue(divisor);
  auto constant = [&](double number) -> Value {
    auto type = cast<RankedTensorType>(divisor.getType());
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, static_cast<float>(number)));
  };
  auto isLess = [&](Value x, Value y) { return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y); };
  Value one = constant(1), large = constant(big), little = constant(small), size = math::AbsFOp::create(b, divisor);
  Value up = arith::SelectOp::create(b, isLess(size, little), large, one);
  Value power = arith::SelectOp::create(b, isLess(large, size), little, up);
  auto inverse = arith::DivFOp::create(b, one, arith::MulFOp::create(b, divisor, power));
  inverse->setAttr(byReciprocalAttr, b.getUnitAttr()); // normal, or 0, infinite or NaN, for which it is right too
  return {power, inverse};
}

static unsigned elementsOfThread(Value tile) { return tile::layoutOf(tile.getType()).registers(); }

void divideByRowReciprocals(tile::KernelOp kernel) {
  SmallVector<arith::DivFOp> divisions;
  bool contracts = kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (contracts || !kernel.isPlaced())
    return;
  kernel.walk([&](arith::DivFOp division) {
    auto broadcast = division.getRhs().getDefiningOp<tile::BroadcastOp>();
    if (broadcast && getElementTypeOrSelf(division.getType()).isF32() &&
        elementsOfThread(division.getResult()) >= leastPerDivisor * elementsOfThread(broadcast.getInput()) &&
        isUsedSmoothly(division.getResult(), RoundedTo::Floats))
      divisions.push_back(division);
  });
  llvm::MapVector<Value, Reciprocal> reciprocals; // by divisor
  for (arith::DivFOp division : divisions) {
    Value divisor = division.getRhs().getDefiningOp<tile::BroadcastOp>().getInput();
    auto [found, isNew] = reciprocals.try_emplace(divisor);
    if (isNew)
      found->second = reciprocalOf(divisor);
    ImplicitLocOpBuilder b(division.getLoc(), division);
    auto times = [&](Value x, Value factor) -> Value {
      return arith::MulFOp::create(b, x, tile::BroadcastOp::create(b, division.getType(), factor));
    };
    division.replaceAllUsesWith(times(times(division.getLhs(), found->second.power), found->second.inverse));
    division.erase();
  }
}

} // namespace tilewright
