// SPDX-License-Identifier: Apache-2.0
#include "backend/host/contract/Contraction.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/DotOperands.h"

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
  auto [left, right] = sidesAt(step, k);
  addProducts(step, values.tileOf(tile::DotOp(step.op).getLhs(), left), right);
}

/// Adds the products of `a`, one element of each row of the left side, and the vector of columns of the right side at
/// `right`.
void Contraction::addProducts(const Step &step, const Rows &a, const Position &right) {
  tile::DotOp op = step.op;
  unsigned width = step.position.width;
  llvm::Type *vector = vectorOf(step.element, width);
  llvm::Value *b = widen(values.tileOf(op.getRhs(), right).front(), step.element, width, op.getRhsUnsigned());
  for (auto [row, place] : llvm::enumerate(step.accumulators)) {
    llvm::Value *scalar = splat(ir, {widen(a[row], step.element, 1, op.getLhsUnsigned())}, 1, width).front(),
                *sum = ir.CreateLoad(vector, place);
    llvm::Value *next = step.element->isIntegerTy()
                            ? ir.CreateAdd(sum, ir.CreateMul(scalar, b))
                            : ir.CreateIntrinsic(llvm::Intrinsic::fma, {vector}, {scalar, b, sum});
    ir.CreateStore(next, place);
  }
}

/// Emits straight code for each element of a window that is read in place. Neighbouring elements with the same guards
/// share one branch on these, which skips them outside of the image if the fill is zero.
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

/// Multiplies windows whose runs of `together` elements have the same guards. If all rows of the register tile are
/// inside of the image, no element is tested; if all are outside, nothing is done; else multiplyBorder.
void Contraction::multiplyWindow(const Step &step, Ix size, int64_t together) {
  auto load = tile::DotOp(step.op).getLhs().getDefiningOp<tile::LoadOp>();
  Position left = sidesAt(step, math.constant(0)).left;
  unsigned last = load.getResult().getType().getRank() - 1;
  llvm::DenseSet<GuardedDim> guards;
  llvm::Value *inside = nullptr, *outside = nullptr; // all elements of all rows
  for (Ix row : step.position.rows) {
    Position one = left;
    one.rows = {row};
    llvm::Value *mayBeInside = nullptr; // some element of this row
    for (auto [guard, condition] : addresses.guardsOfRow(load, one, load.getResult().getType().getShape().back())) {
      guards.insert(guard);
      inside = math.both(inside, condition);
      if (!load.getMap().getResult(guard.second).isFunctionOfDim(last))
        mayBeInside = math.both(mayBeInside, condition);
    }
    outside = math.both(outside, mayBeInside ? math.negate(mayBeInside) : ir.getFalse());
  }
  math.when(inside, [&] { addresses.withoutGuards(guards, [&] { multiplyAll(step, size); }); });
  if (inside && outside)
    math.when(math.negate(inside),
              [&] { math.when(math.negate(outside), [&] { multiplyBorder(step, size, together); }); });
}

/// Reads each run of `together` elements of a row from the image, or from zeros if it is outside.
void Contraction::multiplyBorder(const Step &step, Ix size, int64_t together) {
  auto load = tile::DotOp(step.op).getLhs().getDefiningOp<tile::LoadOp>();
  llvm::Type *element = function.typeOf(load.getResult());
  llvm::Value *zeros = function.zeros(together * element->getPrimitiveSizeInBits() / 8);
  PanelStream(memory, function, step.op, step.position).emit([&](PanelStream::Fetch fetch) {
    math.loop(math.constant(0), size, together, [&](Ix start) {
      Position left = sidesAt(step, start).left;
      SmallVector<llvm::Value *> places;
      for (unsigned row = 0; row < left.rows.size(); ++row)
        places.push_back(memory.addressOf(load, left, row, 0, zeros));
      math.loop(math.constant(0), math.constant(together), 1, [&](Ix inner) {
        Ix k = math.add(start, inner);
        fetch(k, 1);
        Rows a;
        for (llvm::Value *place : places)
          a.push_back(ir.CreateLoad(element, math.pointer(element, place, inner)));
        addProducts(step, a, sidesAt(step, k).right);
      });
    });
  });
}

/// So many steps of k are emitted together if their right side is computed, because neighbours share operands: a byte
/// holds two numbers of four bits, and many numbers have one scale.
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
  bool isWindow = window && !window.getGuard().empty() && !values.memoryOf(op.getLhs());
  if (isWindow && isWindowOfRuns(window))
    multiplyWindow(step, size, guardedTogether(window));
  else if (isWindow)
    runTaps(step, depth);
  else
    multiplyAll(step, size);
  Rows result;
  for (llvm::Value *place : step.accumulators)
    result.push_back(ir.CreateLoad(vector, place));
  return result;
}

} // namespace tilewright::host
