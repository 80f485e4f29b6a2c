// SPDX-License-Identifier: Apache-2.0
#include "tilegen/schedule/SizeVariants.h"

#include "tilegen/roots/RootTable.h"

using namespace mlir;

namespace tilewright::tilegen {

// Bounds that are tried. A size between two of them is taken for the larger one. What is beyond has the schedule of a
// typical size: large tiles spill where sizes are not known, those of singles already with few rows
// (docs/performance.md).
constexpr int64_t boundsOfHalves[] = {1, 16, 64, 128, 512, 1024, 2048}, boundsOfOthers[] = {1, 16};
constexpr double clearLoss = 1.05; // of time, from which on a kernel more is worth its place

/// The one size of a loop that is not reduced and that is not known. For several of them, nothing is assumed: what is
/// best depends on each.
static AffineExpr findUnknownSize(const KernelSpace &space) {
  AffineExpr found;
  for (const Loop &loop : space.loops()) {
    if (loop.kind == LoopKind::Reduction || isa<AffineConstantExpr>(loop.size))
      continue;
    if (found)
      return {};
    found = loop.size;
  }
  return found;
}

/// Does `wide`, which was chosen for larger sizes, take clearly longer than `own` for what is assumed?
static bool losesClearly(const KernelSpace &space, const Root &root, tile::ScheduleAttr wide, tile::ScheduleAttr own,
                         const TargetDesc &target) {
  if (!root.estimateForBlocks)
    return true;
  std::optional<double> before = root.estimateForBlocks(space, wide, target),
                        after = root.estimateForBlocks(space, own, target);
  return !before || !after || *before > clearLoss * *after;
}

std::optional<SizeVariants> chooseVariants(const KernelSpace &space, const TargetDesc &target) {
  const Root &root = rootOf(space.root);
  AffineExpr size = findUnknownSize(space);
  if (!size || target.model != ProgramModel::Block)
    return std::nullopt;
  bool areHalves = space.lhs && cast<RankedTensorType>(space.lhs.getType()).getElementTypeBitWidth() == 16;
  ArrayRef<int64_t> bounds = areHalves ? ArrayRef(boundsOfHalves) : ArrayRef(boundsOfOthers);
  KernelSpace assuming = space;
  SizeVariants result{size, {}, root.forBlocks(space, target)};
  tile::ScheduleAttr wider = result.schedule;
  int64_t divisor = size.getLargestKnownDivisor();
  for (int64_t bound : llvm::reverse(bounds)) {
    if (bound < divisor) // nothing is as small
      break;
    assuming.assumed = {size, bound / divisor * divisor, /*isMost=*/true};
    tile::ScheduleAttr own = root.forBlocks(assuming, target);
    if (own == wider || !losesClearly(assuming, root, wider, own, target))
      continue;
    result.variants.insert(result.variants.begin(), {bound, own});
    wider = own;
  }
  return result;
}

} // namespace tilewright::tilegen
