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
// elements meanwhile must be few. Kernels with products are left alone: their loops have pipelines, which read early
// what they can (PipelineLoops.cpp, roles/LoadAhead.cpp).
#include "tilegen/place/Place.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {

/// 32-bit registers of a thread that may hold what is read early, and fewer of them while a loop runs.
constexpr int64_t mostRegisters = 48, mostAcrossLoops = 8;

class EarlyReads {
public:
  EarlyReads(KernelOp kernel, const PlaceFacts &facts)
      : body(kernel.getBody().front()), waitsForKernels(facts.constantsFirst) {
    bool hasLoop = llvm::any_of(body, llvm::IsaPred<scf::ForOp>);
    free = hasLoop ? mostAcrossLoops : mostRegisters;
  }

  void move();

private:
  bool follows(Operation *op, llvm::SetVector<Operation *> &needed);
  void take(LoadOp load, llvm::SetVector<Operation *> &into);

  Block &body;
  bool waitsForKernels;
  int64_t free;
};

} // namespace

/// 32-bit registers of a thread that hold a tile as it was loaded.
static int64_t registersOf(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return llvm::divideCeil(layoutOf(type).registers() * type.getElementTypeBitWidth(), 32);
}

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
void EarlyReads::take(LoadOp load, llvm::SetVector<Operation *> &into) {
  llvm::SetVector<Operation *> needed = into;
  int64_t registers = registersOf(load);
  if (registers > free || !follows(load, needed))
    return;
  free -= registers;
  needed.insert(load);
  into = std::move(needed);
}

void EarlyReads::move() {
  llvm::SetVector<Operation *> constants, others;
  if (waitsForKernels)
    for (auto load : body.getOps<LoadOp>())
      if (isConstant(load.getBuffer()))
        take(load, constants);
  bool isAfterWork = false;
  for (Operation &op : body) {
    auto load = dyn_cast<LoadOp>(op);
    if (load && isAfterWork && !constants.contains(load) && !isConstant(load.getBuffer()))
      take(load, others);
    isAfterWork |= isa<ReduceOp, scf::ForOp>(op);
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
  bool multiplies = kernel.walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!multiplies && kernel.getBody().getOps<RolesOp>().empty() && kernel.getBody().getOps<AwaitKernelsOp>().empty())
    EarlyReads(kernel, facts).move();
}
