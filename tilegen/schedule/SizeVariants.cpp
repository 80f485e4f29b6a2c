// SPDX-License-Identifier: Apache-2.0
#include "tilegen/schedule/SizeVariants.h"

#include "tilegen/roots/Panels.h"
#include "tilegen/roots/RootTable.h"

using namespace mlir;

namespace tilewright::tilegen {

// Bounds that are tried. A size between two of them is taken for the larger one, and one beyond them all for `beyond`.
// Between 128 and 1,024 rows, the lengths of most texts, one tile more can be one round of blocks more.
constexpr int64_t bounds[] = {1, 16, 64, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 32768}, beyond = 131072;
// A size takes the schedule of a larger size if that is estimated to take at most this share of the time of its own
// schedule. Estimates are good to some 5 %, so equal estimates do not suffice, and a size's own schedule was often
// measured: 128 rows by 1,024 columns are estimated to take the same with 64x64 and with 16x32, and take 10.4 and 8.5
// us.
constexpr double mostToServe = 0.95;
// Without a copy engine large tiles spill registers if sizes are not known (docs/performance.md). So there fewer bounds
// are tried, larger sizes have the schedule of a typical one, and a further kernel must be clearly faster.
constexpr int64_t boundsOfHalves[] = {1, 16, 64, 128, 512, 1024, 2048}, boundsOfOthers[] = {1, 16};
constexpr double mostToServeWithoutCopies = 1.05;

// For programs of one thread, where the right side is computed: few rows do that in registers
// (backend/host/plan/DotOperands), and a single row needs no sums for other rows.
constexpr int64_t boundsOfComputed[] = {1, 24};

/// The size of the only loop that is not reduced and whose size is not known. If there are several: that of an
/// attention's rows, since the others only multiply the number of programs; null for other roots, where the best
/// schedule depends on each of them.
static AffineExpr findUnknownSize(const KernelSpace &space) {
  SmallVector<const Loop *> unknown;
  for (const Loop &loop : space.loops())
    if (loop.kind != LoopKind::Reduction && !isa<AffineConstantExpr>(loop.size))
      unknown.push_back(&loop);
  if (unknown.size() == 1)
    return unknown.front()->size;
  const auto *rows = llvm::find_if(unknown, [](const Loop *loop) { return loop->kind == LoopKind::Row; });
  return space.root == graph::RootKind::Attention && rows != unknown.end() ? (*rows)->size : AffineExpr();
}

/// The same schedule but for what depends on the number of tiles, and serves any number of them.
static tile::ScheduleAttr withoutTiles(tile::ScheduleAttr schedule) {
  return schedule.withParts(schedule.getParts(), schedule.getClustered(), /*mostTiles=*/0).withOrder(1).withStrip(0);
}

/// Is `wide`, which was chosen for larger sizes, as good as `own` for the assumed size, so that no further kernel is
/// needed?
static bool serves(const KernelSpace &space, const Root &root, tile::ScheduleAttr wide, tile::ScheduleAttr own,
                   const TargetDesc &target) {
  if (withoutTiles(wide) == withoutTiles(own)) // room for more tiles than there are does no harm
    return true;
  if (!root.estimateForBlocks)
    return false;
  std::optional<double> ofWide = root.estimateForBlocks(space, wide, target),
                        ofOwn = root.estimateForBlocks(space, own, target);
  return ofWide && ofOwn && *ofWide <= (target.bulkCopies ? mostToServe : mostToServeWithoutCopies) * *ofOwn;
}

/// A schedule for each bound of `boundsOfComputed`.
static SizeVariants variantsOfComputed(const KernelSpace &space, AffineExpr size, const TargetDesc &target) {
  const Root &root = rootOf(space.root);
  SizeVariants result{size, {}, root.forVectors(space, target)};
  KernelSpace assuming = space;
  for (int64_t bound : boundsOfComputed) {
    if (bound < size.getLargestKnownDivisor())
      continue;
    assuming.assumed = {size, bound, /*isMost=*/true};
    result.variants.push_back({bound, root.forVectors(assuming, target)});
  }
  return result;
}

/// A constant that some variant reads in panels is stored so for all of them, rather than twice.
static void storeAlike(SizeVariants &all) {
  int64_t pack = all.schedule.getPack();
  for (const SizeVariant &variant : all.variants)
    pack = std::max(pack, variant.schedule.getPack());
  if (pack == 0)
    return;
  all.schedule = all.schedule.withPack(pack);
  for (SizeVariant &variant : all.variants)
    variant.schedule = variant.schedule.withPack(pack);
}

std::optional<SizeVariants> chooseVariants(const KernelSpace &space, const TargetDesc &target) {
  const Root &root = rootOf(space.root);
  AffineExpr size = findUnknownSize(space);
  if (!size)
    return std::nullopt;
  if (target.model == ProgramModel::Vector)
    return space.root == graph::RootKind::Matmul && isComputedFromConstants(space)
               ? std::optional(variantsOfComputed(space, size, target))
               : std::nullopt;
  bool areHalves = space.lhs && cast<RankedTensorType>(space.lhs.getType()).getElementTypeBitWidth() == 16;
  ArrayRef<int64_t> tried(bounds);
  KernelSpace assuming = space;
  int64_t divisor = size.getLargestKnownDivisor();
  if (target.bulkCopies)
    assuming.assumed = {size, static_cast<int64_t>(llvm::alignTo(beyond, divisor)), /*isMost=*/false};
  else
    tried = areHalves ? ArrayRef(boundsOfHalves) : ArrayRef(boundsOfOthers);
  SizeVariants result{size, {}, root.forBlocks(assuming, target)};
  tile::ScheduleAttr wider = result.schedule;
  for (int64_t bound : llvm::reverse(tried)) {
    if (bound < divisor) // nothing is as small
      break;
    assuming.assumed = {size, bound / divisor * divisor, /*isMost=*/true};
    tile::ScheduleAttr own = root.forBlocks(assuming, target);
    if (serves(assuming, root, wider, own, target))
      continue;
    result.variants.insert(result.variants.begin(), {bound, own});
    wider = own;
  }
  storeAlike(result);
  return result;
}

} // namespace tilewright::tilegen
