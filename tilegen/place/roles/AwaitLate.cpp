// SPDX-License-Identifier: Apache-2.0
// Where a role multiplies a tile's columns in strips, the products of one strip end before those of the next one. Each
// strip's sums are awaited where they are used first, so that results of the first strips are on their way to memory
// while products of the others still run:
//
//   %sums:2 = scf.for %k { dot to the first strip ; dot to the second ; ... }
//   %a = tile.dot_wait 0 of %sums#0           ->    %a = tile.dot_wait 1 of %sums#0
//   %b = tile.dot_wait 0 of %sums#1                 store of %a
//   tile.ring_release                               %b = tile.dot_wait 0 of %sums#1
//   store of %a                                     tile.ring_release
//   store of %b                                     store of %b
//
// Only in blocks that take one program. In others, ptxas 13 serializes products where it believes that their sums are
// read too early (C7514), which they are not: 2688x2096x512, with a result that is stored as columns, took 25.8 us
// instead of 22.4.
//
// On an H200 a block needs 780 cycles to store a tile of 64x192 halves, of the 8,400 that it takes for 512x3072x768
// (docs/performance/gpu-products.md, "Strips awaited one by one").
#include "tilegen/place/LoopBounds.h"
#include "tilegen/place/Place.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

/// A wait for a loop's sums, and how many of a step's products are started after the one that adds to them: so many may
/// still be running.
struct SumsWait {
  DotWaitOp wait;
  int64_t later;
};

} // namespace

/// The waits behind `loop` for all that its products have computed; empty if something else is waited for too.
static SmallVector<SumsWait> waitsFor(scf::ForOp loop) {
  auto dots = llvm::to_vector(loop.getBody()->getOps<DotOp>());
  SmallVector<SumsWait> waits;
  for (auto [result, yielded] : llvm::zip(loop.getResults(), loop.getYieldedValues()))
    for (Operation *user : result.getUsers()) {
      auto wait = dyn_cast<DotWaitOp>(user);
      if (!wait)
        continue;
      auto *dot = llvm::find(dots, yielded.getDefiningOp());
      if (wait->getBlock() != loop->getBlock() || wait.getPending() || wait.getNumOperands() != 1 || dot == dots.end())
        return {};
      waits.push_back({wait, dots.end() - dot - 1});
    }
  return waits;
}

/// The operation in `block` that is the first one to use `value`, itself or inside of it; null if there is none.
static Operation *firstUse(Value value, Block *block) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers()) {
    Operation *op = block->findAncestorOpInBlock(*user);
    if (op && (!first || op->isBeforeInBlock(first)))
      first = op;
  }
  return first;
}

/// The release of the slot that the last products read, behind `wait` and other waits, with the condition around it;
/// null if there is none.
static Operation *releaseBehind(DotWaitOp wait) {
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (isa<RingReleaseOp>(op) || (branch && !branch.thenBlock()->getOps<RingReleaseOp>().empty()))
      return op;
    if (!isa<DotWaitOp>(op) && !isMemoryEffectFree(op))
      return nullptr;
  }
  return nullptr;
}

static void awaitSumsOf(scf::ForOp loop) {
  SmallVector<SumsWait> waits = waitsFor(loop);
  if (waits.size() < 2)
    return;
  llvm::sort(waits, [](const SumsWait &a, const SumsWait &b) { return a.later > b.later; });
  Operation *release = releaseBehind(waits.front().wait), *last = waits.front().wait;
  for (SumsWait &sums : waits) {
    sums.wait.setPending(sums.later);
    Operation *use = firstUse(sums.wait.getResult(0), loop->getBlock());
    if (use && sums.wait != waits.front().wait)
      sums.wait->moveBefore(use);
    if (last->isBeforeInBlock(sums.wait))
      last = sums.wait;
  }
  if (release && release->isBeforeInBlock(last))
    release->moveAfter(last);
}

void tilewright::tile::awaitLate(KernelOp kernel) {
  kernel.walk([](scf::ForOp loop) {
    if (loop->getParentOfType<RolesOp>() && programsOfBlock(loop) == 1)
      awaitSumsOf(loop);
  });
}
