// SPDX-License-Identifier: Apache-2.0
#include "backend/host/contract/Contraction.h"

#include "backend/host/Elementwise.h"

#include "llvm/IR/Intrinsics.h"

using namespace mlir;

namespace tilewright::host {

struct Contraction::Step {
  tile::DotOp op;
  const Position &position;
  llvm::Type *element;                                      // of the result
  SmallVector<llvm::Value *> accumulators = {};             // by row
  SmallVector<Position::Live> lhsFacts = {}, rhsFacts = {}; // that hold for every k
};

static bool isZero(Attribute fill) {
  auto number = dyn_cast_or_null<FloatAttr>(fill);
  return number && number.getValue().isZero();
}

llvm::Value *Contraction::widen(llvm::Value *value, llvm::Type *element, unsigned lanes, bool isUnsigned) {
  if (element->isIntegerTy())
    return ir.CreateIntCast(value, vectorOf(element, lanes), !isUnsigned);
  return convertFloat(ir, value, element, lanes);
}

Contraction::Sides Contraction::sidesAt(const Step &step, Ix k) {
  Sides sides{step.position, step.position};
  sides.left.set(0, k);
  sides.left.live.append(step.lhsFacts.begin(), step.lhsFacts.end());
  sides.right.set(1, k);
  sides.right.live.append(step.rhsFacts.begin(), step.rhsFacts.end());
  return sides;
}

void Contraction::multiplyAdd(const Step &step, Ix k) {
  tile::DotOp op = step.op;
  unsigned width = step.position.width;
  llvm::Type *vector = vectorOf(step.element, width);
  auto [left, right] = sidesAt(step, k);
  llvm::Value *b = widen(values.tileOf(op.getRhs(), right).front(), step.element, width, op.getRhsUnsigned());
  Rows a = values.tileOf(op.getLhs(), left);
  for (auto [row, place] : llvm::enumerate(step.accumulators)) {
    llvm::Value *scalar = splat(ir, {widen(a[row], step.element, 1, op.getLhsUnsigned())}, 1, width).front(),
                *sum = ir.CreateLoad(vector, place);
    llvm::Value *next = step.element->isIntegerTy()
                            ? ir.CreateAdd(sum, ir.CreateMul(scalar, b))
                            : ir.CreateIntrinsic(llvm::Intrinsic::fma, {vector}, {scalar, b, sum});
    ir.CreateStore(next, place);
  }
}

/// Straight code for each element of a window that is read in place: neighbours under the same guards run together, or
/// not at all if what they read then is zero.
void Contraction::runTaps(const Step &step, int64_t taps) {
  auto load = tile::DotOp(step.op).getLhs().getDefiningOp<tile::LoadOp>();
  auto guardsAt = [&](int64_t tap) {
    return isZero(load.getFillAttr()) ? addresses.commonGuards(load, sidesAt(step, math.constant(tap)).left, nullptr)
                                      : SmallVector<llvm::Value *>();
  };
  for (int64_t k = 0, end = 0; k < taps; k = end) {
    SmallVector<llvm::Value *> guards = guardsAt(k);
    for (end = k + 1; end < taps && guardsAt(end) == guards;)
      ++end;
    addresses.whereInside(guards, [&] {
      for (int64_t tap = k; tap < end; ++tap)
        multiplyAdd(step, math.constant(tap));
    });
  }
}

/// Steps of k whose right side is computed are emitted together, because neighbours share what they are computed from:
/// two numbers of four bits a byte, and many numbers a scale.
static constexpr int64_t computedTogether = 8;

void Contraction::multiplyComputed(const Step &step, Ix size) {
  Ix whole = math.roundDown(size, computedTogether);
  math.loop(math.constant(0), whole, computedTogether, [&](Ix k) {
    for (int64_t i = 0; i < computedTogether; ++i)
      multiplyAdd(step, math.add(k, math.constant(i)));
  });
  math.loop(whole, size, 1, [&](Ix k) { multiplyAdd(step, k); });
}

void Contraction::multiplyAll(const Step &step, Ix size) {
  tile::DotOp op = step.op;
  Operation *right = op.getRhs().getDefiningOp();
  if (right && !isa<tile::LoadOp>(right) && !values.memoryOf(op.getRhs()))
    return multiplyComputed(step, size);
  PanelStream(memory, function, step.op, step.position).emit([&](PanelStream::Fetch fetch) {
    math.loop(math.constant(0), size, 1, [&](Ix k) {
      fetch(k, 1);
      multiplyAdd(step, k);
    });
  });
}

Rows Contraction::emit(tile::DotOp op, const Position &position) {
  int64_t depth = cast<RankedTensorType>(op.getLhs().getType()).getShape().back();
  Step step{op, position, function.typeOf(op.getResult())};
  llvm::Type *vector = vectorOf(step.element, position.width);
  for (llvm::Value *value : values.tileOf(op.getAcc(), position)) {
    step.accumulators.push_back(function.slot(vector));
    ir.CreateStore(value, step.accumulators.back());
  }
  // A k outside of the bounds adds nothing: what is read there is zero.
  Ix size = columns.endOfKeys(op.getLhs(), 0, math.constant(depth));
  size = columns.liveSize(op.getLhs(), 0, size, step.lhsFacts);
  size = columns.liveSize(op.getRhs(), 1, size, step.rhsFacts);
  auto window = op.getLhs().getDefiningOp<tile::LoadOp>();
  if (window && !window.getGuard().empty() && !values.memoryOf(op.getLhs()))
    runTaps(step, depth);
  else
    multiplyAll(step, size);
  Rows result;
  for (llvm::Value *place : step.accumulators)
    result.push_back(ir.CreateLoad(vector, place));
  return result;
}

} // namespace tilewright::host
