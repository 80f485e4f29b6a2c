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
// In a kernel of a few microseconds the latencies of such loads, one after the other, are most of the time. The
// elements occupy registers until they are used, so only as many are loaded early as few registers hold. Kernels with
// loops are left alone: loops around products are pipelines, which read early what they can (PipelineLoops.cpp,
// roles/LoadAhead.cpp), and in other loops the elements would occupy registers until the loop ends.
#include "tilegen/place/Place.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// The most 32-bit registers of a thread for all that is read early, and for one load that stood behind a reduction.
/// The latter is less because 8 registers of an epilogue's load, beside 32 of products, were spilled.
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

/// Adds the operations that compute the operands of `op` to `needed`, in order. False if one of them gives a tile,
/// reads memory or has regions.
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

/// Adds a load, behind the operations that compute its operands, if that is possible and there are registers for it.
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
  for (Operation *op : constants) // an operation may compute operands of loads of both sets
    others.remove(op);
  moveHere(others);
}

void tile::readEarly(KernelOp kernel, const PlaceFacts &facts) {
  bool isStraight = llvm::none_of(kernel.getBody().front(),
                                  [](Operation &op) { return op.getNumRegions() || isa<DotOp, AwaitKernelsOp>(op); });
  if (isStraight)
    EarlyReads(kernel, facts).move();
}
