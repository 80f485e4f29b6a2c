// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/OpenNest.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

/// The offset of the tile and the bound of `store` along `axis`.
static Position::Live boundsOf(tile::StoreOp store, unsigned axis, KernelFunction &function) {
  unsigned dim = store.getOffsets().size() - 1 - axis;
  return {axis, function.index(store.getOffsets()[dim]), function.evaluate(store.getBounds(), dim)};
}

/// How many of `size` elements are inside of `bounds`.
static Ix sizeInside(const Position::Live &bounds, int64_t size, IndexMath &math) {
  Ix whole = math.constant(size);
  // A tile whose size divides its offset and the bound is whole, whatever the symbols.
  if (std::gcd(math.facts(bounds.offset).divisor, math.facts(bounds.bound).divisor) % std::max<int64_t>(1, size) == 0)
    return whole;
  return math.min(whole, math.max(math.sub(bounds.bound, bounds.offset), math.constant(0)));
}

/// The end of the loop of `plan` along `axis`. `position` gets the fact that coordinates are inside of the store's
/// bounds, unless the loop runs past them to a multiple of columnUnit.
static Ix limitOf(const Nest &plan, unsigned axis, KernelFunction &function, Position &position) {
  IndexMath &math = function.math;
  int64_t size = plan.shape[plan.shape.size() - 1 - axis];
  if (!plan.limits[axis])
    return math.constant(size);
  Position::Live bounds = boundsOf(plan.limits[axis], axis, function);
  Ix limit = sizeInside(bounds, size, math);
  if (axis == 0 && plan.columnUnit > 1)
    return math.min(math.constant(size), math.roundUp(limit, plan.columnUnit));
  position.live.push_back(bounds);
  return limit;
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
    nest.limits[axis] = limitOf(plan, axis, function, position);
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
