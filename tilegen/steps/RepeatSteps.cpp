// SPDX-License-Identifier: Apache-2.0
// One step's program, with a loop around it:
//
//   scf.for %step = 0 to %count {
//     %x  = tile.buffer_slice %sequence[%step]            what the step reads
//     %h  = first step ? %initial : tile.buffer_slice %states[(%step + 1) mod 2]
//     %h' = last step ? %final : tile.buffer_slice %states[%step mod 2]
//     %y  = tile.buffer_slice %results[%step]             where it stores
//     ... the program ...
//     tile.step_end
//   }
//
// What no step changes is computed, and loaded, before the loop: the weights then stay in registers. Within a step all
// loads come first, so that slices are on their way together with the states that the blocks before have stored.
#include "tilegen/steps/RepeatSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

class Repeater {
public:
  Repeater(tile::KernelOp kernel, graph::StepsAttr steps, AffineExpr count, unsigned arguments)
      : kernel(kernel), body(kernel.getBody().front()), steps(steps), count(count), arguments(arguments),
        results(kernel.getNumBuffers() - arguments), builder(kernel.getContext()), loc(kernel.getLoc()) {}
  void repeat(int64_t blocks);

private:
  unsigned carried() const { return steps.getCarried().size(); }
  BlockArgument argument(unsigned number) { return body.getArgument(number); }
  BlockArgument statesOf(unsigned result) { return body.getArgument(arguments + result); }
  BlockArgument result(unsigned number) { return body.getArgument(arguments + carried() + number); }
  void widenArguments();
  void makeLoop();
  Value index(AffineExpr ofStep);
  Value slice(BlockArgument buffer, Value number, tile::BufferType type);
  void sliceSequence(BlockArgument buffer, tile::BufferType type, bool isBackward);
  void chooseState(unsigned number);
  void storeInitialStates();
  void hoist();
  void loadFirst(Operation *last);

  tile::KernelOp kernel;
  Block &body;
  graph::StepsAttr steps;
  AffineExpr count;
  unsigned arguments, results;
  OpBuilder builder;
  Location loc;
  scf::ForOp loop;
  Value isFirst, isLast;
  SmallVector<tile::BufferType> argumentTypes, resultTypes; // in one step
};

/// `one` with a dimension of `number` in front.
tile::BufferType several(tile::BufferType one, AffineExpr number) {
  SmallVector<AffineExpr> sizes{number};
  llvm::append_range(sizes, one.getSizes().getResults());
  AffineMap map = AffineMap::get(0, one.getSizes().getNumSymbols(), sizes, one.getContext());
  return tile::BufferType::get(one.getContext(), one.getElementType(), map);
}

/// Makes sequences of slices, and adds buffers for states in front of the results.
void Repeater::widenArguments() {
  for (unsigned i = 0; i < arguments + results; ++i) {
    auto type = cast<tile::BufferType>(body.getArgument(i).getType());
    (i < arguments ? argumentTypes : resultTypes).push_back(type);
    if (i < arguments ? steps.isSequence(i) : i - arguments >= carried())
      body.getArgument(i).setType(several(type, count));
  }
  for (unsigned i = 0; i < carried(); ++i)
    body.insertArgument(arguments + i, several(resultTypes[i], builder.getAffineConstantExpr(2)), loc);
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
  SmallVector<Attribute> attributes(kernel.getArgAttrsAttr().getValue());
  attributes.insert(attributes.begin() + arguments, carried(), builder.getDictionaryAttr({}));
  kernel.setArgAttrsAttr(builder.getArrayAttr(attributes));
}

/// Moves the program into a loop over the steps.
void Repeater::makeLoop() {
  builder.setInsertionPointToStart(&body);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value zero = constant(0), one = constant(1), end;
  if (auto known = dyn_cast<AffineConstantExpr>(count))
    end = constant(known.getValue());
  else
    end = tile::SizeOp::create(builder, loc, AffineMap::get(0, kernel.getNumSymbols(), count), ValueRange());
  loop = scf::ForOp::create(builder, loc, zero, end, one);
  Operation *last = loop.getBody()->getTerminator();
  while (&body.back() != loop && !isa<tile::ReturnOp>(loop->getNextNode()))
    loop->getNextNode()->moveBefore(last);
}

/// The value of an expression of the step's number, d0, and of the kernel's symbols.
Value Repeater::index(AffineExpr ofStep) {
  return tile::SizeOp::create(builder, loc, AffineMap::get(1, kernel.getNumSymbols(), ofStep), loop.getInductionVar());
}

Value Repeater::slice(BlockArgument buffer, Value number, tile::BufferType type) {
  return tile::BufferSliceOp::create(builder, loc, type, buffer, number);
}

void replaceInside(scf::ForOp loop, Value from, Value to) {
  from.replaceUsesWithIf(to, [&](OpOperand &use) {
    return loop->isProperAncestor(use.getOwner()) && isa<tile::LoadOp, tile::StoreOp>(use.getOwner());
  });
}

void Repeater::sliceSequence(BlockArgument buffer, tile::BufferType type, bool isBackward) {
  AffineExpr step = builder.getAffineDimExpr(0);
  Value which = isBackward ? index(count - 1 - step) : loop.getInductionVar();
  replaceInside(loop, buffer, slice(buffer, which, type));
}

/// Where the step reads the state that this result carries, and where it leaves it.
void Repeater::chooseState(unsigned number) {
  auto from = static_cast<unsigned>(steps.getCarried()[number]);
  AffineExpr step = builder.getAffineDimExpr(0);
  Value before = slice(statesOf(number), index((step + 1) % 2), argumentTypes[from]),
        after = slice(statesOf(number), index(step % 2), resultTypes[number]);
  Value read = arith::SelectOp::create(builder, loc, isFirst, argument(from), before),
        stored = arith::SelectOp::create(builder, loc, isLast, result(number), after);
  replaceInside(loop, argument(from), read);
  replaceInside(loop, result(number), stored);
}

/// Without any step, the last states are the first ones.
void Repeater::storeInitialStates() {
  SmallVector<std::pair<tile::StoreOp, unsigned>> stores;
  for (auto store : loop.getBody()->getOps<tile::StoreOp>())
    if (auto select = store.getBuffer().getDefiningOp<arith::SelectOp>())
      stores.emplace_back(store, cast<BlockArgument>(select.getTrueValue()).getArgNumber() - result(0).getArgNumber());
  builder.setInsertionPointAfter(loop);
  Value none =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, loop.getUpperBound(), loop.getLowerBound());
  auto branch = scf::IfOp::create(builder, loc, none, /*withElse=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (auto [store, number] : stores) {
    auto type = cast<tile::BufferType>(store.getBuffer().getType());
    Value initial = slice(argument(static_cast<unsigned>(steps.getCarried()[number])), loop.getLowerBound(), type);
    Value state =
        tile::LoadOp::create(builder, loc, store.getValue().getType(), initial, store.getOffsets(), ValueRange(),
                             store.getBounds(), store.getMap(), ArrayRef<int64_t>(), TypedAttr());
    tile::StoreOp::create(builder, loc, state, result(number), store.getOffsets(), store.getBoundsAttr(),
                          store.getMapAttr());
  }
}

/// Computes and loads before the loop what is the same in every step.
void Repeater::hoist() {
  for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    auto load = dyn_cast<tile::LoadOp>(op);
    bool isSame = isMemoryEffectFree(&op) || (load && tile::isConstant(load.getBuffer()));
    if (isSame && op.getNumRegions() == 0 &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return loop.isDefinedOutsideOfLoop(operand); }))
      op.moveBefore(loop);
  }
}

/// Moves the loads that wait for no other load to the beginning of the step, behind `last`.
void Repeater::loadFirst(Operation *last) {
  for (auto load : llvm::make_early_inc_range(loop.getBody()->getOps<tile::LoadOp>())) {
    bool isReady = llvm::all_of(load->getOperands(), [&](Value operand) {
      Operation *from = operand.getDefiningOp();
      return loop.isDefinedOutsideOfLoop(operand) || !from || from == last || from->isBeforeInBlock(last);
    });
    if (!isReady || load->isBeforeInBlock(last))
      continue;
    load->moveAfter(last);
    last = load;
  }
}

void Repeater::repeat(int64_t blocks) {
  widenArguments();
  makeLoop();
  builder.setInsertionPointToStart(loop.getBody());
  isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, loop.getInductionVar(), loop.getLowerBound());
  isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index(builder.getAffineDimExpr(0) + 1),
                                 loop.getUpperBound());
  for (unsigned i = 0; i < arguments; ++i)
    if (steps.isSequence(i))
      sliceSequence(argument(i), argumentTypes[i], llvm::is_contained(steps.getBackward().asArrayRef(), i));
  for (unsigned i = carried(); i < results; ++i)
    sliceSequence(result(i), resultTypes[i], llvm::is_contained(steps.getBackwardResults().asArrayRef(), i));
  for (unsigned i = 0; i < carried(); ++i)
    chooseState(i);
  Operation *lastChoice = builder.getInsertionPoint()->getPrevNode();
  hoist();
  loadFirst(lastChoice);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  tile::StepEndOp::create(builder, loc, blocks);
  if (auto known = dyn_cast<AffineConstantExpr>(count); !known || known.getValue() == 0)
    storeInitialStates();
}

} // namespace

void repeatSteps(tile::KernelOp kernel, graph::StepsAttr steps, AffineExpr count, unsigned arguments, int64_t blocks) {
  Repeater(kernel, steps, count, arguments).repeat(blocks);
}

} // namespace tilewright::tilegen
