// SPDX-License-Identifier: Apache-2.0
// Loads that nothing but the program's number decides come first: those of constants before the wait for the kernels
// before this one, the others before the first long work.
//
//   %h = tile.load %state                        %r = tile.load %weights        (constant)
//   %r = tile.load %weights                      tile.await_kernels
//   %s = tile.reduce ... (%h * %r)        ->     %h = tile.load %state
//   %x = tile.load %gates                        %x = tile.load %gates
//   %y = arith.addf %s, %x                       %s = tile.reduce ... (%h * %r)
//                                                %y = arith.addf %s, %x
//
// A kernel of a few microseconds is made of the times of such loads, one after the other. The registers that hold the
// elements meanwhile must be few. Kernels with loops are left alone: those around products have pipelines, which read
// early what they can (PipelineLoops.cpp, roles/LoadAhead.cpp), and beside the sums of others the elements would wait
// for the loop's end.
#include "tilegen/place/Place.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// 32-bit registers of a thread that may hold what is read early, and those of one load that was to come behind a
/// reduction: eight of an epilogue, beside 32 of products, were spilled.
constexpr int64_t mostRegisters = 48, mostBehindReduction = 4;

class EarlyReads {
public:
  EarlyReads(KernelOp kernel, const PlaceFacts &facts)
      : body(kernel.getBody().front()), waitsForKernels(facts.constantsFirst) {}

  void move();

private:
  bool follows(Operation *op, llvm::SetVector<Operation *> &needed);
  void take(LoadOp load, bool isBehindReduction, llvm::SetVector<Operation *> &into);

  Block &body;
  bool waitsForKernels;
  int64_t free = mostRegisters;
};

} // namespace

/// Collects what `op` is computed from, in order. False if that is more than numbers: a tile, or something in memory.
bool EarlyReads::follows(Operation *op, llvm::SetVector<Operation *> &needed) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || needed.contains(producer))
      return true;
    if (producer->getBlock() != &body || producer->getNumRegions() || !isMemoryEffectFree(producer) ||
        isa<RankedTensorType>(operand.getType()) || !follows(producer, needed))
      return false;
    needed.insert(producer);
    return true;
  });
}

/// Adds a load with what it is computed from, if that is possible and there are registers for it.
void EarlyReads::take(LoadOp load, bool isBehindReduction, llvm::SetVector<Operation *> &into) {
  llvm::SetVector<Operation *> needed = into;
  int64_t registers = registersOf(load);
  if (registers > (isBehindReduction ? std::min(free, mostBehindReduction) : free) || !follows(load, needed))
    return;
  free -= registers;
  needed.insert(load);
  into = std::move(needed);
}

void EarlyReads::move() {
  llvm::SetVector<Operation *> constants, others;
  bool isBehindReduction = false;
  for (Operation &op : body) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (waitsForKernels && isConstant(load.getBuffer()))
        take(load, isBehindReduction, constants);
      else if (isBehindReduction)
        take(load, isBehindReduction, others);
    }
    isBehindReduction |= isa<ReduceOp>(op);
  }
  OpBuilder builder(body.getParentOp()->getContext());
  builder.setInsertionPointToStart(&body);
  auto moveHere = [&](const llvm::SetVector<Operation *> &ops) {
    for (Operation *op : ops)
      if (&*builder.getInsertionPoint() == op)
        builder.setInsertionPointAfter(op);
      else
        op->moveBefore(&body, builder.getInsertionPoint());
  };
  moveHere(constants);
  if (llvm::any_of(constants, llvm::IsaPred<LoadOp>))
    AwaitKernelsOp::create(builder, constants.back()->getLoc());
  for (Operation *op : constants) // of which the others may be computed, too
    others.remove(op);
  moveHere(others);
}

void tile::readEarly(KernelOp kernel, const PlaceFacts &facts) {
  bool isStraight = llvm::none_of(kernel.getBody().front(),
                                  [](Operation &op) { return op.getNumRegions() || isa<DotOp, AwaitKernelsOp>(op); });
  if (isStraight)
    EarlyReads(kernel, facts).move();
}
