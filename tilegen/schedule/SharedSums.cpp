// SPDX-License-Identifier: Apache-2.0
// One estimate of a contraction's time, with and without blocks that share tiles:
//
//   max(multiplying, streaming, memory) + waiting + sharing
//
//   multiplying   rounds of blocks * steps of a part * area of a tile, at the tile's share of the target's rate
//   streaming     the same with the bytes of a step, on the way into a multiprocessor
//   memory        both operands, read once
//   waiting       the start, the first load, then for each step what its pipeline does not hide of a load
//   sharing       for each round of blocks: the counter, and the parts' way through the second-level cache; in a
//                 cluster, its barriers, and the shares' way between multiprocessors
//
// Fitted on an H100 to 131 products of halves, 14 convolutions and 4 products of rounded singles, each with up to 72
// tiles and numbers of parts: what is chosen takes 1.013 times as long as the best in the geometric mean, at most 1.13
// (docs/performance/gpu-products.md, "Products of medium size"). The constants of clusters were fitted afterwards, to
// 93 measurements of 73 products ("Sums that a cluster shares"): 1.019, at most 1.12.
#include "tilegen/schedule/SharedSums.h"

#include "tilegen/schedule/RoleSchedules.h"

#include "tilegen/tile/MatmulPrecision.h"
#include "tilegen/tile/PartsTogether.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tilewright::tilegen {
namespace {

constexpr double secondsOfStart = 2e-6;
constexpr double secondsOfLoad = 0.6e-6;        // from memory to shared memory
constexpr double bytesOfUnitPerSecond = 1.2e11; // of a multiprocessor, from the second-level cache to shared memory
constexpr double secondsOfSharing = 2e-6;       // to write the last bytes, and count
constexpr double secondsOfLatency = 0.4e-6;     // until the first bytes of the parts are there that are read together
constexpr double bytesOfPartsPerSecond = 5e10;  // of a multiprocessor, between the second-level cache and registers
constexpr double secondsOfCluster = 1e-6;       // to start together, and to wait for each other
constexpr double bytesGivenPerSecond = 1.25e10; // to a multiprocessor, from the others of its cluster
// A cluster must promise more to be chosen, above all where half of its tile is beyond the result: small tiles without
// roles are as fast then, and start earlier behind other kernels. With clusters BERT took 1.05 times as long for 16
// tokens.
constexpr double costOfClusters = 1.1, costOfClustersOfFew = 1.3;
constexpr double bytesOfGemvPerSecond = 1.4e10; // of a multiprocessor that reads single sectors of many rows
constexpr double clearGain = 0.95;              // of the time of what was chosen first, at most
// Left sides that are not rows of a matrix, such as windows, take this many times as long without roles, since threads
// compute each position.
constexpr double costOfGathering = 1.2;
constexpr int64_t fewestSteps = 4;     // of a part: below, filling the pipeline is all there is
constexpr int64_t mostResident = 2;    // blocks of a multiprocessor that share its memory
constexpr int64_t sumsOfResident = 32; // of a thread: with more, registers are for one block
constexpr int64_t bytesOfSum = 4;
constexpr int64_t mostOfUnknown = 8 << 10; // elements of a tile, 64x128

/// How many blocks share a tile, and whether they are a cluster.
struct Sharing {
  int64_t parts = 1;
  bool clustered = false;
};
constexpr Sharing waysToShare[] = {{1}, {2}, {3}, {4}, {6}, {8}, {2, true}, {4, true}, {8, true}};

/// The sizes of a contraction, all of which are known, assumed, or promised to be no larger.
struct Sizes {
  bool areKnown = true, areMost = true;
  int64_t rows = 1, columns = 1, batch = 1, depth = 1, outerSteps = 1; // of the reduced loops but the innermost
  Type element;
  double multiplications; // a second, of one multiprocessor

  double bytes() const {
    auto products = double(depth) * double(outerSteps) * double(batch);
    return products * double(rows + columns) * element.getIntOrFloatBitWidth() / 8;
  }
};

} // namespace

/// Multiplications a second of one multiprocessor; 0 where the rate is not known. Three products of tf32 for one
/// product of f32 count as one multiplication.
static double multiplicationsOf(const KernelSpace &space, Type element, const TargetDesc &target) {
  double operations = 0;
  if (element.isF16() || element.isBF16())
    operations = target.peakF16;
  else if (element.isInteger(8))
    operations = target.peakI8;
  else if (element.isF32())
    operations = target.peakF32;
  bool hasTf32 = llvm::any_of(target.matrix, [](const MatrixInstruction &row) { return row.type == MatrixType::TF32; });
  if (element.isF32() && hasTf32 && matmulPrecisionOf(space.loopOps[0]) != MatmulPrecision::Ieee)
    operations = target.peakF16 / (matmulPrecisionOf(space.loopOps[0]) == MatmulPrecision::Tf32 ? 2 : 6);
  return operations / 2 / target.units;
}

static std::optional<Sizes> sizesOf(const KernelSpace &space, const TargetDesc &target) {
  Sizes sizes;
  sizes.element = cast<RankedTensorType>(space.lhs.getType()).getElementType();
  unsigned innermost = space.loopsOfKind(LoopKind::Reduction).back();
  for (auto [i, loop] : llvm::enumerate(space.loops())) {
    bool isKnown = isa<AffineConstantExpr>(loop.size), isReduced = loop.kind == LoopKind::Reduction,
         isAssumed = !isReduced && space.assumed && space.assumed->size == loop.size;
    if (!isKnown && !isAssumed)
      return std::nullopt;
    sizes.areKnown &= isKnown;
    sizes.areMost &= space.mostOf(i).has_value();
    int64_t &total = loop.kind == LoopKind::Row        ? sizes.rows
                     : loop.kind == LoopKind::Column   ? sizes.columns
                     : loop.kind == LoopKind::Parallel ? sizes.batch
                     : i == innermost                  ? sizes.depth
                                                       : sizes.outerSteps;
    total *= space.expectedSize(i);
  }
  sizes.multiplications = multiplicationsOf(space, sizes.element, target);
  return sizes.multiplications > 0 && target.bandwidth > 0 ? std::optional(sizes) : std::nullopt;
}

static std::pair<int64_t, int64_t> tileOf(tile::ScheduleAttr schedule) {
  return {schedule.getTile().drop_back().back(), schedule.getTile().back()};
}

/// How many steps a program of this schedule takes through the reduced loops.
static int64_t stepsOf(const Sizes &sizes, tile::ScheduleAttr schedule) {
  return sizes.outerSteps * int64_t(llvm::divideCeil(sizes.depth, schedule.getReduce().back()));
}

static int64_t tilesOf(const Sizes &sizes, int64_t rows, int64_t columns) {
  return sizes.batch * int64_t(llvm::divideCeil(sizes.rows, rows)) * int64_t(llvm::divideCeil(sizes.columns, columns));
}

/// How many blocks a multiprocessor holds at a time.
static int64_t residentOf(const Sizes &sizes, tile::ScheduleAttr schedule, const TargetDesc &target) {
  auto [rows, columns] = tileOf(schedule);
  int64_t bytes = (rows + columns) * schedule.getReduce().back() * sizes.element.getIntOrFloatBitWidth() / 8,
          threads = schedule.getWarps() * target.warpWidth;
  if (schedule.getGroups() || rows * columns > sumsOfResident * threads)
    return 1;
  return std::clamp<int64_t>(target.sharedBytes / (schedule.getStages() * bytes), 1, mostResident);
}

/// Seconds of a product of a row, whose blocks read a sector of each row of the other side. Fitted to what 1x4096x4096,
/// 1x1024x4096 and 1x11008x4096 took on an H200: 22.9, 15.2 and 43.8 us.
static double estimateGemv(const Sizes &sizes, const TargetDesc &target, int64_t columns) {
  double rounds = double(tilesOf(sizes, 1, columns)) / target.units, depth = sizes.depth * sizes.outerSteps,
         bytes = depth * columns * sizes.element.getIntOrFloatBitWidth() / 8;
  return secondsOfStart + secondsOfLoad + std::max(1.0, rounds) * bytes / bytesOfGemvPerSecond;
}

/// The bytes of sums that the others of a cluster give to each block.
static int64_t bytesGiven(tile::ScheduleAttr schedule, int64_t parts) {
  auto [rows, columns] = tileOf(schedule);
  return rows * columns * bytesOfSum / parts * (parts - 1);
}

/// How many blocks run at a time, one on each multiprocessor. Those of a cluster are in one part of the chip, and where
/// a part's multiprocessors are no multiple of their number, some are left over: an H100 runs 66 clusters of two, 30 of
/// four and 15 of eight.
static int64_t unitsFor(Sharing sharing, const TargetDesc &target) {
  constexpr int64_t leftOver = 12;
  return sharing.clustered && sharing.parts > 2 ? target.units - leftOver : target.units;
}

/// The estimate at the top of this file, in seconds.
static double estimate(const Sizes &sizes, const ContractionSchedule &candidate, const TargetDesc &target) {
  tile::ScheduleAttr schedule = candidate.schedule;
  Sharing sharing{schedule.getParts(), schedule.getClustered()};
  auto [rows, columns] = tileOf(schedule);
  int64_t parts = sharing.parts, steps = llvm::divideCeil(stepsOf(sizes, schedule), parts),
          blocks = tilesOf(sizes, rows, columns) * parts,
          rowBytes = schedule.getReduce().back() * sizes.element.getIntOrFloatBitWidth() / 8;
  int64_t stages = schedule.getStages(), resident = residentOf(sizes, schedule, target);
  double rounds = llvm::divideCeil(blocks, unitsFor(sharing, target)),
         roundsOfWaiting = schedule.getGroups() ? 1 : llvm::divideCeil(blocks, target.units * resident);
  int64_t sumsOfThread = rows * columns / (schedule.getWarps() * target.warpWidth),
          waits = parts / tile::partsTogether(parts, sumsOfThread, tile::registersOnTheWay);
  double area = rows * columns, depth = schedule.getReduce().back();
  double multiplying = rounds * steps * area * depth / (sizes.multiplications * candidate.efficiency),
         streaming = rounds * steps * (std::min(rows, sizes.rows) + std::min(columns, sizes.columns)) * rowBytes /
                     bytesOfUnitPerSecond,
         memory = sizes.bytes() / target.bandwidth,
         waiting = secondsOfStart + secondsOfLoad * (1 + roundsOfWaiting * steps / std::max<int64_t>(stages - 1, 1)),
         meeting = sharing.clustered
                       ? secondsOfCluster + static_cast<double>(bytesGiven(schedule, parts)) / bytesGivenPerSecond
                       : secondsOfSharing + static_cast<double>(waits) * secondsOfLatency +
                             area * bytesOfSum * (parts + 1) / bytesOfPartsPerSecond;
  double roundsOfSharing = parts == 1 ? 0 : schedule.getGroups() ? rounds : roundsOfWaiting;
  double cost = !sharing.clustered ? 1 : sizes.rows <= rows / 2 ? costOfClustersOfFew : costOfClusters;
  return cost * (std::max({multiplying, streaming, memory}) + waiting + roundsOfSharing * meeting);
}

std::optional<double> estimateSeconds(const KernelSpace &space, const TargetDesc &target,
                                      const ContractionSchedule &candidate) {
  std::optional<Sizes> sizes = sizesOf(space, target);
  if (!sizes)
    return std::nullopt;
  if (candidate.schedule.getRoot() == graph::RootKind::Gemv)
    return estimateGemv(*sizes, target, tileOf(candidate.schedule).second);
  return estimate(*sizes, candidate, target);
}

/// Does a schedule take half a row of pixels in a step?
static bool takesHalfRows(const KernelSpace &space, tile::ScheduleAttr schedule) {
  return schedule.getGroups() && bytesOfPixels(space) == bytesOfHalfRow;
}

/// The schedule `other` as it is if its tiles are shared in this way; null where they can't be. Without sharing, the
/// choice among tiles with roles was made already, and that among others.
static tile::ScheduleAttr tryToShare(const KernelSpace &space, const Sizes &sizes, tile::ScheduleAttr chosen,
                                     tile::ScheduleAttr other, Sharing sharing, const TargetDesc &target) {
  auto [rows, columns] = tileOf(other);
  int64_t tiles = tilesOf(sizes, rows, columns), steps = stepsOf(sizes, other), parts = sharing.parts;
  // Of half rows the estimate promises too much: 10.0 us, and 8.2 without roles, for an image of 80x80 in steps of two,
  // 96 to 192 channels.
  bool isOfOtherKind = chosen.getRoot() == graph::RootKind::Gemv ||
                       (chosen.getGroups() == 0 && other.getGroups() && !takesHalfRows(space, other));
  // Unknown sizes take registers, which the largest tiles do not have, except for parts of halves with roles.
  bool hasRegisters =
      sizes.areKnown || rows * columns <= mostOfUnknown || (parts > 1 && !sizes.element.isF32() && other.getGroups());
  // Roles need loops of the same length in all programs (tilegen/place/roles/AssignRoles.cpp).
  bool areEven = !other.getGroups() || steps % parts == 0;
  if (!hasRegisters || !areEven || (parts == 1 ? !isOfOtherKind : steps / parts < fewestSteps))
    return {};
  if (parts == 1)
    return other;
  // Without roles, a cluster's share of a tile is seldom in the same registers of all threads.
  if (sharing.clustered && (parts > target.clusterBlocks || other.getGroups() != 1))
    return {};
  if (!sharing.clustered && tiles * parts > target.units * residentOf(sizes, other, target))
    return {};
  tile::ScheduleAttr schedule = sharing.clustered ? leaveRoom(space, other, bytesGiven(other, parts), target) : other;
  return schedule ? withParts(space, schedule, parts, tiles, sharing.clustered) : schedule;
}

/// May programs share the sums of `other`, a schedule that takes half rows, instead of using `best`? Where warps that
/// gather share sums, parts of half rows took 1.07 to 1.13 times as long (288 channels of 7x7, 16 images; 96 to 192 of
/// 28x28 by 2), and 0.83 times where they do not (224 channels of 28x28). With tiles of 128x256 they took 0.98 to 1.13
/// times as long.
static bool mayShareHalfRows(tile::ScheduleAttr best, tile::ScheduleAttr other) {
  constexpr int64_t largest = 24 << 10; // elements, 128x192
  auto [rows, columns] = tileOf(other);
  bool isSharedGather = best.getParts() > 1 && !best.getGroups();
  return !isSharedGather && rows * columns <= largest;
}

tile::ScheduleAttr shareSums(const KernelSpace &space, const TargetDesc &target, const ContractionSchedule &chosen,
                             ArrayRef<ContractionSchedule> others) {
  std::optional<Sizes> sizes = sizesOf(space, target);
  if (!sizes || !sizes->areMost)
    return chosen.schedule;
  tile::ScheduleAttr best = chosen.schedule;
  auto gathering = [&](tile::ScheduleAttr schedule) {
    return space.lhs.getDefiningOp() && !schedule.getGroups() ? costOfGathering : 1;
  };
  double unshared = best.getRoot() == graph::RootKind::Gemv ? estimateGemv(*sizes, target, tileOf(best).second)
                                                            : estimate(*sizes, chosen, target),
         least = clearGain * gathering(best) * unshared;
  for (const ContractionSchedule &other : others) {
    if (takesHalfRows(space, other.schedule) && !mayShareHalfRows(best, other.schedule))
      continue;
    for (Sharing sharing : waysToShare)
      if (tile::ScheduleAttr schedule = tryToShare(space, *sizes, chosen.schedule, other.schedule, sharing, target))
        if (double time = gathering(schedule) * estimate(*sizes, {schedule, other.efficiency}, target); time < least)
          best = schedule, least = time;
  }
  return best;
}

} // namespace tilewright::tilegen
