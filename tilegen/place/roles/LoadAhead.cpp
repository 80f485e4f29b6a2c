// SPDX-License-Identifier: Apache-2.0
// Moves loads of what an epilogue adds to a product's sums in front of the loop that sums.
//
//   scf.for %k ... tile.dot                      %r = tile.load %residual
//   %r = tile.load %residual              ->     scf.for %k ... tile.dot
//   arith.addf %sum, %r                          arith.addf %sum, %r
//
// A block with roles has its multiprocessor to itself, so nothing else hides the latency of such a load: about a
// microsecond, in kernels that take ten (docs/performance.md). The elements occupy registers during the loop, so these
// must be free beside the sums.
#include "tilegen/place/roles/RolePlan.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
constexpr int64_t registersBeside = 56; // of a thread, for addresses, counters and the rest of the epilogue
}

void tilewright::tile::loadAhead(const RolePlan &plan, int64_t registers) {
  if (!plan.carriesSums || plan.splitsSingles) // parts of singles take the registers
    return;
  int64_t free = registers - registersBeside;
  scf::ForOp loop = plan.loop;
  for (Value sum : loop.getResults())
    free -= registersOf(sum);
  SmallVector<LoadOp> moved;
  for (auto load : loop->getBlock()->getOps<LoadOp>()) {
    bool isKnown = llvm::all_of(load->getOperands(), [&](Value operand) {
      return !operand.getDefiningOp() || operand.getDefiningOp()->isBeforeInBlock(loop);
    });
    int64_t needed = registersOf(load);
    if (loop->isBeforeInBlock(load) && isKnown && needed <= free)
      moved.push_back(load), free -= needed;
  }
  for (LoadOp load : moved)
    load->moveBefore(loop);
}
