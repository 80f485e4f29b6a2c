// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/OpenNest.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

/// The end of the loop along `axis`, whose tile has `size` elements, where the bounds of `store` end it; what they say
/// is known at `position`.
static Ix limitOf(tile::StoreOp store, unsigned axis, int64_t size, KernelFunction &function, Position &position) {
  IndexMath &math = function.math;
  Ix whole = math.constant(size);
  unsigned dim = store.getOffsets().size() - 1 - axis;
  Position::Live fact{axis, function.index(store.getOffsets()[dim]), function.evaluate(store.getBounds(), dim)};
  position.live.push_back(fact);
  // A tile whose size divides its offset and the bound is whole, whatever the symbols.
  if (std::gcd(math.facts(fact.offset).divisor, math.facts(fact.bound).divisor) % std::max<int64_t>(1, size) == 0)
    return whole;
  return math.min(whole, math.max(math.sub(fact.bound, fact.offset), math.constant(0)));
}

OpenNest openNest(const Nest &plan, const KernelPlan &kernel, KernelFunction &function, TileMemory &memory) {
  IndexMath &math = function.math;
  OpenNest nest{&plan};
  for (const Nest::Root &root : plan.roots)
    nest.targets.push_back(root.store ? TileInMemory() : memory.inWorkspace(root.target));
  unsigned rank = plan.shape.size();
  Position &position = nest.position;
  position.outer.resize(rank < 2 ? 0 : rank - 2, math.constant(0));
  position.rows = {math.constant(0)};
  position.column = math.constant(0);
  position.clampable = kernel.clampableAxes & ~1u;
  nest.limits.assign(std::max(rank, 2u), math.constant(1));
  for (unsigned axis = 0; axis < rank; ++axis) {
    int64_t size = plan.shape[rank - 1 - axis];
    nest.limits[axis] =
        plan.limits[axis] ? limitOf(plan.limits[axis], axis, size, function, position) : math.constant(size);
    if (plan.keysAxis == axis)
      nest.limits[axis] = function.keysIn(kernel.keys, nest.limits[axis]);
  }
  position.laneAxis = plan.laneAxis;
  std::swap(nest.limits[0], nest.limits[plan.laneAxis]);
  return nest;
}

bool sharesRows(const OpenNest &earlier, const OpenNest &later) {
  return !earlier.isRegisterBlocked() && !later.isRegisterBlocked() && earlier.plan->laneAxis == later.plan->laneAxis &&
         ArrayRef(earlier.plan->shape).drop_back() == ArrayRef(later.plan->shape).drop_back() &&
         ArrayRef(earlier.limits).drop_front() == ArrayRef(later.limits).drop_front();
}

} // namespace tilewright::host
