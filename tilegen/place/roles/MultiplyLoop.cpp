// SPDX-License-Identifier: Apache-2.0
// The four forms of a loop around products whose operands come through rings.
#include "tilegen/place/roles/MultiplyLoop.h"

#include "tilegen/place/AccessFacts.h"
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/roles/LoopRotation.h"
#include "tilegen/place/roles/SingleParts.h"

using namespace mlir;
using namespace tilewright::tile;
using Part = LoopRotation::Part;

namespace {
class MultiplyLoop {
public:
  MultiplyLoop(OpBuilder &b, const RolePlan &plan, const RoleRooms &rooms, IRMapping &now, Value step)
      : b_(b), source_(plan.loop), loc_(source_.getLoc()), plan_(plan), rooms_(rooms), now_(now), step_(step) {}
  Value overlapSums(llvm::function_ref<void()> left);
  Value splitSingles();
  Value runInOrder();
  Value runRotated(const LoopRotation &rotation, llvm::function_ref<void()> left);

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }
  Value plus(Value value, Value other) { return arith::AddIOp::create(b_, loc_, value, other); }
  Value minus(Value value, Value other) { return arith::SubIOp::create(b_, loc_, value, other); }
  Value isGreater(Value value, Value other) {
    return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, value, other);
  }
  Value ringOf(DotOp dot) const { return rooms_.rings[plan_.ringOf.at(dot)]; }
  Value bound(Value value) const { return now_.lookupOrDefault(value); }

  void start(DotOp dot, IRMapping &at, Value slot);
  void startAt(DotOp dot, IRMapping &at, Value step);
  void finish(DotOp dot, IRMapping &at, int64_t pending, Value step);
  void releaseIf(Value condition, Value ring, llvm::function_ref<Value()> step);
  scf::ForOp makeLoop(Value lower, ArrayRef<Value> inits);
  IRMapping insideOf(scf::ForOp loop);
  SmallVector<Value> carriedIn(ArrayRef<unsigned> which);
  SmallVector<Value> yieldedAt(const IRMapping &at, ArrayRef<unsigned> which);

  Value multiplySplit(DotOp dot, Value slot, Value step, Value sum);
  Value isNotEmpty();
  SmallVector<Value> onceIf(Value condition, ArrayRef<Value> inits,
                            llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)> build);
  DotOp emitPart(const LoopRotation &rotation, Part part, IRMapping &at, Operation *after);
  SmallVector<Value> carriedOn(const LoopRotation &rotation, const IRMapping &at);
  SmallVector<Value> emitFirst(const LoopRotation &rotation, Value position, Value step, ArrayRef<Value> early);
  SmallVector<Value> emitBoth(const LoopRotation &rotation, Value position, Value step, ArrayRef<Value> carried);
  SmallVector<Value> finishLate(const LoopRotation &rotation, IRMapping &at, Value step);

  OpBuilder &b_;
  scf::ForOp source_;
  Location loc_;
  const RolePlan &plan_;
  const RoleRooms &rooms_;
  IRMapping &now_;
  Value step_;
};
} // namespace

//===- Products ---------------------------------------------------------------------------------------------------===//

/// Starts a product: reads the operands that are loaded in the loop from `slot`, those of all steps from their
/// program's slot, and what was written to shared memory from its only one.
void MultiplyLoop::start(DotOp dot, IRMapping &at, Value slot) {
  for (bool isLhs : {true, false}) {
    Value operand = isLhs ? dot.getLhs() : dot.getRhs();
    auto room = rooms_.room.find(operand.getDefiningOp());
    if (room == rooms_.room.end()) // it stays in registers
      continue;
    auto type = cast<RankedTensorType>(operand.getType());
    auto read = withLayout(type, operandLayout(dot, isLhs ? Operand::A : Operand::B, type));
    bool isOfStep = operand.getDefiningOp()->getBlock() == source_.getBody();
    auto copy = plan_.copyOf.find(operand.getDefiningOp());
    Value from = isOfStep                     ? slot
                 : copy != plan_.copyOf.end() ? rooms_.slots[plan_.copied[copy->second].ring]
                                              : constant(0);
    at.map(operand, SharedReadOp::create(b_, loc_, read, room->second, from).getResult());
  }
  b_.clone(*dot, at);
}

void MultiplyLoop::startAt(DotOp dot, IRMapping &at, Value step) {
  start(dot, at, RingWaitOp::create(b_, loc_, ringOf(dot), step));
}

/// Waits until at most `pending` later products are running, then releases the slot of `step` that this one has read.
void MultiplyLoop::finish(DotOp dot, IRMapping &at, int64_t pending, Value step) {
  at.map(dot.getResult(), DotWaitOp::create(b_, loc_, at.lookup(dot.getResult()), pending).getResult(0));
  RingReleaseOp::create(b_, loc_, ringOf(dot), step);
}

/// Releases the slot of `step()`, if `condition` holds; null stands for true.
void MultiplyLoop::releaseIf(Value condition, Value ring, llvm::function_ref<Value()> step) {
  OpBuilder::InsertionGuard guard(b_);
  if (condition)
    b_.setInsertionPointToStart(scf::IfOp::create(b_, loc_, condition, /*withElse=*/false).thenBlock());
  RingReleaseOp::create(b_, loc_, ring, step());
}

//===- Loops ------------------------------------------------------------------------------------------------------===//

/// A loop from `lower` to the end of the source loop, with its step.
scf::ForOp MultiplyLoop::makeLoop(Value lower, ArrayRef<Value> inits) {
  return scf::ForOp::create(b_, loc_, lower, bound(source_.getUpperBound()), bound(source_.getStep()), inits);
}

/// The mapping of the source's values in the body of `loop`, which carries what the source carries and the step.
IRMapping MultiplyLoop::insideOf(scf::ForOp loop) {
  IRMapping inside = now_;
  inside.map(source_.getInductionVar(), loop.getInductionVar());
  inside.map(source_.getRegionIterArgs(), loop.getRegionIterArgs().drop_back());
  return inside;
}

SmallVector<Value> MultiplyLoop::carriedIn(ArrayRef<unsigned> which) {
  return llvm::map_to_vector(which, [&](unsigned i) { return now_.lookupOrDefault(source_.getInitArgs()[i]); });
}

/// What the source loop yields for the loop-carried values `which`, mapped by `at`.
SmallVector<Value> MultiplyLoop::yieldedAt(const IRMapping &at, ArrayRef<unsigned> which) {
  return llvm::map_to_vector(
      which, [&](unsigned i) { return at.lookupOrDefault(source_.getBody()->getTerminator()->getOperand(i)); });
}

//===- Sums alone -------------------------------------------------------------------------------------------------===//

/// Each step starts its products, waits for those of the step before, and releases that step's slot.
Value MultiplyLoop::overlapSums(llvm::function_ref<void()> left) {
  SmallVector<Value> inits;
  for (Value init : source_.getInitArgs())
    inits.push_back(bound(init));
  inits.push_back(step_);
  Value ring = rooms_.rings.front();
  scf::ForOp loop = makeLoop(bound(source_.getLowerBound()), inits);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    IRMapping inside = insideOf(loop);
    Value step = loop.getRegionIterArgs().back(), slot = RingWaitOp::create(b_, loc_, ring, step);
    for (DotOp dot : plan_.dots)
      start(dot, inside, slot);
    DotWaitOp::create(b_, loc_, ValueRange(), plan_.dots.size());
    Value isLater = isGreater(loop.getInductionVar(), loop.getLowerBound()), one = constant(1);
    releaseIf(isLater, ring, [&] { return minus(step, one); });
    SmallVector<Value> yielded;
    for (DotOp dot : plan_.dots)
      yielded.push_back(inside.lookup(dot.getResult()));
    yielded.push_back(plus(step, one));
    scf::YieldOp::create(b_, loc_, yielded);
  }
  left();
  Value after = loop.getResults().back();
  for (auto [result, sum] : llvm::zip(source_.getResults(), loop.getResults()))
    now_.map(result, DotWaitOp::create(b_, loc_, sum, 0).getResult(0));
  auto trips = getConstantIntValue(tripCount(b_, loop));
  releaseIf(trips && *trips > 0 ? Value() : isGreater(after, step_), ring, [&] { return minus(after, constant(1)); });
  return after;
}

//===- Singles ----------------------------------------------------------------------------------------------------===//

/// Adds one step's products to `sum`, and waits for them.
Value MultiplyLoop::multiplySplit(DotOp dot, Value slot, Value step, Value sum) {
  Fragments fragments = *fragmentsOf(dot);
  bool inParts = fragments.products > 1;
  auto leftType = cast<RankedTensorType>(dot.getLhs().getType()),
       rightType = cast<RankedTensorType>(dot.getRhs().getType());
  TileShape leftShape(leftType.getShape());
  unsigned warps = 1u << layoutOf(dot.getType()).warp.size();
  auto read = [&](Value room, Value from) -> Value {
    return SharedReadOp::create(b_, loc_, withLayout(leftType, operandLayout(dot, Operand::A, leftType)), room, from);
  };
  auto multiply = [&](Value left, Value right, Value to) -> Value {
    auto product = DotOp::create(b_, loc_, left, right, to, /*lhsUnsigned=*/false, /*rhsUnsigned=*/false);
    product.setInstruction(singleProductOf(fragments));
    return product;
  };
  Value leftRoom = rooms_.room.at(dot.getLhs().getDefiningOp()),
        rightRoom = rooms_.room.at(dot.getRhs().getDefiningOp());
  Value right = SharedLoadOp::create(b_, loc_, withLayout(rightType, operandLayout(dot, Operand::B, rightType)),
                                     rightRoom, slot),
        high = inParts ? upperRounded(b_, loc_, right) : roundToTf32(b_, loc_, right);
  Value zero = arith::ConstantOp::create(b_, loc_, cast<TypedAttr>(b_.getZeroAttr(dot.getType())));
  Value upper = read(leftRoom, slot);
  Value products = inParts ? multiply(upper, arith::SubFOp::create(b_, loc_, right, high), zero) : sum;

  // Two slots suffice: a warp that is one step ahead writes into the other one, and the barrier keeps it from being two
  // steps ahead.
  Value place = arith::RemUIOp::create(b_, loc_, step, constant(roomsOfRewritten));
  Value left = SharedLoadOp::create(b_, loc_, withLayout(leftType, rewriteLayout(leftShape, fragments.warps(), warps)),
                                    leftRoom, slot);
  SharedWriteOp::create(b_, loc_, inParts ? belowTf32(b_, loc_, left) : roundToTf32(b_, loc_, left), rooms_.rewritten,
                        place);
  BarrierOp::create(b_, loc_, b_.getI64IntegerAttr(fragments.warps()));
  products = multiply(read(rooms_.rewritten, place), high, products);
  if (inParts)
    products = multiply(upper, high, products);
  products = DotWaitOp::create(b_, loc_, products, 0).getResult(0);
  return inParts ? arith::AddFOp::create(b_, loc_, sum, products).getResult() : products;
}

Value MultiplyLoop::splitSingles() {
  SmallVector<Value> inits{bound(source_.getInitArgs()[0]), step_};
  scf::ForOp loop = makeLoop(bound(source_.getLowerBound()), inits);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    Value sum = loop.getRegionIterArgs()[0], step = loop.getRegionIterArgs()[1];
    Value slot = RingWaitOp::create(b_, loc_, rooms_.rings.front(), step);
    sum = multiplySplit(plan_.dots.front(), slot, step, sum);
    RingReleaseOp::create(b_, loc_, rooms_.rings.front(), step);
    scf::YieldOp::create(b_, loc_, ValueRange{sum, plus(step, constant(1))});
  }
  now_.map(source_.getResult(0), loop.getResult(0));
  return loop.getResult(1);
}

//===- In order ---------------------------------------------------------------------------------------------------===//

Value MultiplyLoop::runInOrder() {
  SmallVector<Value> inits;
  for (Value init : source_.getInitArgs())
    inits.push_back(bound(init));
  inits.push_back(step_);
  scf::ForOp loop = makeLoop(bound(source_.getLowerBound()), inits);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  IRMapping inside = insideOf(loop);
  Value step = loop.getRegionIterArgs().back();
  for (Operation &op : source_.getBody()->without_terminator()) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      startAt(dot, inside, step);
      finish(dot, inside, 0, step);
    } else if (!plan_.isCopied(&op)) {
      b_.clone(op, inside);
    }
  }
  SmallVector<Value> yielded;
  for (Value value : source_.getBody()->getTerminator()->getOperands())
    yielded.push_back(inside.lookupOrDefault(value));
  yielded.push_back(plus(step, constant(1)));
  scf::YieldOp::create(b_, loc_, yielded);
  now_.map(source_.getResults(), loop.getResults().drop_back());
  return loop.getResults().back();
}

//===- Rotated ----------------------------------------------------------------------------------------------------===//

/// Whether the loop has a step, as a value; null if it has one whatever the sizes are.
Value MultiplyLoop::isNotEmpty() {
  Value lower = bound(source_.getLowerBound()), upper = bound(source_.getUpperBound());
  return tilewright::index::isAlwaysLess(factsOf(lower), factsOf(upper)) ? Value() : isGreater(upper, lower);
}

/// What `build` makes of `inits`, or `inits` if the condition does not hold; a null condition stands for true. An
/// scf.if of placed programs has no results, so this is a loop of at most one step.
SmallVector<Value> MultiplyLoop::onceIf(Value condition, ArrayRef<Value> inits,
                                        llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)> build) {
  if (!condition)
    return build(inits);
  Value zero = constant(0), one = constant(1),
        times = arith::SelectOp::create(b_, loc_, condition, one, zero).getResult();
  auto loop = scf::ForOp::create(b_, loc_, zero, times, one, inits);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs());
  scf::YieldOp::create(b_, loc_, build(carried));
  return loop.getResults();
}

/// Clones the operations of one part of a step, from its first one, or from behind `after` if that is not null, up to a
/// product. Returns this product; null if none follows.
DotOp MultiplyLoop::emitPart(const LoopRotation &rotation, Part part, IRMapping &at, Operation *after) {
  auto operations = llvm::make_range(after ? std::next(after->getIterator()) : source_.getBody()->begin(),
                                     source_.getBody()->getTerminator()->getIterator());
  for (Operation &op : operations) {
    if (plan_.isCopied(&op) || rotation.parts.lookup(&op) != part)
      continue;
    if (auto dot = dyn_cast<DotOp>(op))
      return dot;
    b_.clone(op, at);
  }
  return {};
}

/// What the rotated loop carries to the next step: the early loop-carried values, then the values that cross to the
/// late part. `at` maps the source's values at the end of this step.
SmallVector<Value> MultiplyLoop::carriedOn(const LoopRotation &rotation, const IRMapping &at) {
  SmallVector<Value> values = yieldedAt(at, rotation.carriedEarly);
  for (Value value : rotation.crossing)
    values.push_back(at.lookup(value));
  return values;
}

/// The first step, number `step` at `position`, up to its second product. Returns what the loop carries.
SmallVector<Value> MultiplyLoop::emitFirst(const LoopRotation &rotation, Value position, Value step,
                                           ArrayRef<Value> early) {
  IRMapping at = now_;
  at.map(source_.getInductionVar(), position);
  for (auto [i, value] : llvm::zip(rotation.carriedEarly, early))
    at.map(source_.getRegionIterArg(i), value);
  for (auto [i, value] : llvm::zip(rotation.carriedLate, carriedIn(rotation.carriedLate)))
    at.map(source_.getRegionIterArg(i), value);
  DotOp dot = emitPart(rotation, Part::Early, at, nullptr);
  startAt(dot, at, step);
  finish(dot, at, 0, step);
  emitPart(rotation, Part::Early, at, dot);
  emitPart(rotation, Part::Between, at, nullptr);
  return carriedOn(rotation, at);
}

/// Step `step` at `position` up to its second product, together with the second product of the step before and what
/// follows from it. Returns what the loop carries.
SmallVector<Value> MultiplyLoop::emitBoth(const LoopRotation &rotation, Value position, Value step,
                                          ArrayRef<Value> carried) {
  Value before = minus(step, constant(1));
  IRMapping at = now_, lateAt = now_;
  at.map(source_.getInductionVar(), position);
  for (auto [i, value] : llvm::zip(rotation.carriedEarly, carried))
    at.map(source_.getRegionIterArg(i), value);
  lateAt.map(rotation.crossing, carried.drop_front(rotation.carriedEarly.size()));
  DotOp dot = emitPart(rotation, Part::Early, at, nullptr), lateDot = plan_.dots[1];
  startAt(dot, at, step);
  startAt(lateDot, lateAt, before);
  finish(dot, at, 1, step);
  emitPart(rotation, Part::Early, at, dot);
  SmallVector<Value> late = finishLate(rotation, lateAt, before);
  for (auto [i, value] : llvm::zip(rotation.carriedLate, late))
    at.map(source_.getRegionIterArg(i), value);
  emitPart(rotation, Part::Between, at, nullptr);
  return carriedOn(rotation, at);
}

/// Waits for the second product of `step` and clones what follows from it. Returns the late loop-carried values.
SmallVector<Value> MultiplyLoop::finishLate(const LoopRotation &rotation, IRMapping &at, Value step) {
  finish(plan_.dots[1], at, 0, step);
  emitPart(rotation, Part::Late, at, plan_.dots[1]);
  return yieldedAt(at, rotation.carriedLate);
}

/// The rotated form. Its loop carries the early loop-carried values, the values that cross, and the number of the step
/// whose first product comes next.
Value MultiplyLoop::runRotated(const LoopRotation &rotation, llvm::function_ref<void()> left) {
  size_t early = rotation.carriedEarly.size();
  Value lower = bound(source_.getLowerBound()), condition = isNotEmpty();
  SmallVector<Value> inits = carriedIn(rotation.carriedEarly);
  if (condition)
    for (Value value : rotation.crossing)
      inits.push_back(arith::ConstantOp::create(b_, loc_, cast<TypedAttr>(b_.getZeroAttr(value.getType()))));
  SmallVector<Value> carried = onceIf(condition, inits, [&](ArrayRef<Value> carried) {
    return emitFirst(rotation, lower, step_, carried.take_front(early));
  });
  carried.push_back(plus(step_, constant(1)));
  scf::ForOp loop = makeLoop(plus(lower, bound(source_.getStep())), carried);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> in(loop.getRegionIterArgs());
    Value step = in.pop_back_val();
    SmallVector<Value> next = emitBoth(rotation, loop.getInductionVar(), step, in);
    next.push_back(plus(step, constant(1)));
    scf::YieldOp::create(b_, loc_, next);
  }
  left();
  SmallVector<Value> results(loop.getResults());
  Value end = results.pop_back_val(), last = minus(end, constant(1));
  SmallVector<Value> late = onceIf(condition, carriedIn(rotation.carriedLate), [&](ArrayRef<Value>) {
    IRMapping at = now_;
    at.map(rotation.crossing, ArrayRef(results).drop_front(early));
    startAt(plan_.dots[1], at, last);
    return finishLate(rotation, at, last);
  });
  for (auto [i, value] : llvm::zip(rotation.carriedEarly, results))
    now_.map(source_.getResult(i), value);
  for (auto [i, value] : llvm::zip(rotation.carriedLate, late))
    now_.map(source_.getResult(i), value);
  return condition ? arith::SelectOp::create(b_, loc_, condition, end, step_).getResult() : end;
}

//===- All together -----------------------------------------------------------------------------------------------===//

Value tilewright::tile::emitMultiplyLoop(OpBuilder &b, const RolePlan &plan, const RoleRooms &rooms, IRMapping &now,
                                         Value step, llvm::function_ref<void()> left) {
  MultiplyLoop loop(b, plan, rooms, now, step);
  if (plan.carriesSums && !plan.splitsSingles)
    return loop.overlapSums(left);
  if (std::optional<LoopRotation> rotation = findRotation(plan))
    return loop.runRotated(*rotation, left);
  Value after = plan.splitsSingles ? loop.splitSingles() : loop.runInOrder();
  left();
  return after;
}
