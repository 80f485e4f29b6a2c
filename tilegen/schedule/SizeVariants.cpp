// SPDX-License-Identifier: Apache-2.0
#include "tilegen/schedule/SizeVariants.h"

#include "tilegen/roots/RootTable.h"

using namespace mlir;

namespace tilewright::tilegen {

// Bounds that are tried. A size between two of them is taken for the larger one.
constexpr int64_t bounds[] = {1, 16, 64, 128, 512, 1024, 2048, 8192};
constexpr int64_t sizeBeyond = 65536; // what larger sizes are taken for
constexpr double clearLoss = 1.05;    // of time, from which on a kernel more is worth its place

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
  KernelSpace assuming = space;
  auto scheduleFor = [&](int64_t value, bool isMost) {
    assuming.assumed = {size, value, isMost};
    return root.forBlocks(assuming, target);
  };
  SizeVariants result{size, {}, scheduleFor(sizeBeyond, false)};
  tile::ScheduleAttr wider = result.schedule;
  int64_t divisor = size.getLargestKnownDivisor();
  for (int64_t bound : llvm::reverse(bounds)) {
    if (bound < divisor) // nothing is as small
      break;
    tile::ScheduleAttr own = scheduleFor(bound / divisor * divisor, true);
    if (own == wider || !losesClearly(assuming, root, wider, own, target))
      continue;
    result.variants.insert(result.variants.begin(), {bound, own});
    wider = own;
  }
  return result;
}

} // namespace tilewright::tilegen
