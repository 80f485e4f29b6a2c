// SPDX-License-Identifier: Apache-2.0
#include "tilegen/steps/StepSchedules.h"

#include "tilegen/schedule/ContractionTiles.h"

using namespace mlir;

namespace tilewright::tilegen {

/// A program's threads, the weights (elements of the right sides) that each keeps in its registers at most, and what a
/// step takes: a part of its own, and one for each row and weight of a thread. In microseconds, fitted to 33
/// recurrences on an H100 (docs/performance/recurrences.md): 0.3 off at most, but for 512 rows of singles, which take
/// 3.7 instead of 1.7.
struct StepProgram {
  int64_t threads, mostWeights;
  double ofStep, ofWeight;
};
constexpr StepProgram stepPrograms[] = {
    {64, 128, 0, 0.0051}, {128, 128, 0, 0.0051}, {256, 128, 0, 0.0051}, {512, 96, 0.1, 0.0095}};
/// By the blocks of a cluster: how many clusters run at the same time without slowing each other down, the rows of a
/// program and the weights of a thread at most, and what it takes until all blocks have each other's states.
struct StepCluster {
  int64_t mostBlocks, together, mostHeight, mostWeights;
  double meeting;
};
constexpr StepCluster stepClusters[] = {
    {1, 132, 4, 128, 0.36}, {2, 66, 1, 64, 1.1}, {4, 32, 1, 64, 1.1}, {8, 4, 1, 128, 1.15}};
/// The most that a step may take: a kernel for each step takes 2.1 to 2.5.
constexpr double longestStep = 2.0;

static bool allAre(const std::vector<std::string> &targets, bool (*predicate)(const TargetDesc &)) {
  return llvm::all_of(targets, [&](const std::string &name) {
    Expected<const TargetDesc *> target = findTarget(name);
    return target && predicate(**target);
  });
}

int64_t mostWeightsTogether(const std::vector<std::string> &targets) {
  bool areCores = allAre(targets, [](const TargetDesc &target) { return target.model == ProgramModel::Vector; });
  return areCores ? int64_t(1) << 18 : std::numeric_limits<int64_t>::max();
}

bool runSteps(const std::vector<std::string> &targets) {
  return allAre(targets, [](const TargetDesc &target) { return target.clusterBlocks > 0; });
}

std::optional<int64_t> blocksOfStates(const KernelSpace &space, tile::ScheduleAttr schedule) {
  int64_t blocks = 1;
  size_t tile = 0;
  for (const Loop &loop : space.loops()) {
    if (loop.kind == LoopKind::Reduction)
      continue;
    int64_t size = schedule.getTile()[tile++];
    std::optional<int64_t> columns = constantOf(loop.size);
    if (loop.kind == LoopKind::Column && !columns)
      return std::nullopt;
    if (loop.kind == LoopKind::Column)
      blocks *= llvm::divideCeil(*columns, size);
  }
  return blocks;
}

namespace {
struct StepTile {
  int64_t height = 0, width = 0, threads = 0;
  double time = longestStep;
};
} // namespace

/// Takes tiles of `width` columns for `best` if they are faster with some number of threads and rows. A thread has one
/// column, the programs of all columns of a state are a cluster, and all clusters run at the same time.
static void consider(StepTile &best, int64_t width, int64_t states, int64_t rows, int64_t columns,
                     int64_t weightsOfColumn) {
  const auto *cluster = llvm::find_if(stepClusters, [&](const StepCluster &row) {
    return int64_t(llvm::divideCeil(columns, width)) <= row.mostBlocks;
  });
  if (cluster == std::end(stepClusters))
    return;
  for (const StepProgram &program : stepPrograms)
    for (int64_t height = 1; height <= cluster->mostHeight && height < 2 * rows; height *= 2) {
      int64_t lanes = program.threads / width;
      if (lanes == 0 || weightsOfColumn > std::min(program.mostWeights, cluster->mostWeights) * lanes ||
          states * int64_t(llvm::divideCeil(rows, height)) > cluster->together)
        continue;
      double weights = static_cast<double>(weightsOfColumn * height) / static_cast<double>(lanes),
             time = cluster->meeting + program.ofStep + weights * program.ofWeight;
      if (time < best.time)
        best = {height, width, program.threads, time};
    }
}

/// The best schedule with at most `mostBlocks` blocks for a state; null if none is fast enough.
static tile::ScheduleAttr scheduleFor(const KernelSpace &space, const TargetDesc &target, int64_t states, int64_t rows,
                                      int64_t mostBlocks) {
  int64_t columns = *constantOf(space.loops()[space.loopsOfKind(LoopKind::Column)[0]].size),
          step = powerAbove(*constantOf(space.loops()[space.loopsOfKind(LoopKind::Reduction)[0]].size));
  StepTile best;
  for (int64_t width = powerAbove(columns); width > 1 && int64_t(llvm::divideCeil(columns, width)) <= mostBlocks;
       width /= 2)
    consider(best, width, states, rows, columns, step * contractionsOf(space));
  if (best.height == 0)
    return {};
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({best.height, best.width});
  return tile::ScheduleAttr::ofBlock(space.nest.context, graph::RootKind::Gemv, tile, {step},
                                     best.threads / target.warpWidth);
}

/// Of an unknown number of rows: a variant for those that run together with one row a program, two, four. With more
/// rows, programs take turns.
static std::optional<SizeVariants> variantsOfRows(const KernelSpace &space, const TargetDesc &target, int64_t states,
                                                  AffineExpr rows) {
  const StepCluster &block = stepClusters[0];
  SizeVariants result{rows, {}, {}};
  for (int64_t height = 1; height <= block.mostHeight; height *= 2) {
    int64_t most = block.together / states * height;
    tile::ScheduleAttr schedule = most > 0 ? scheduleFor(space, target, states, most, 1) : tile::ScheduleAttr();
    if (!schedule)
      return std::nullopt;
    result.variants.push_back({most, schedule});
  }
  result.schedule = result.variants.pop_back_val().schedule;
  return result;
}

std::optional<SizeVariants> scheduleSteps(const KernelSpace &space, const TargetDesc &target) {
  SmallVector<unsigned> columnLoops = space.loopsOfKind(LoopKind::Column), rowLoops = space.loopsOfKind(LoopKind::Row),
                        reduced = space.loopsOfKind(LoopKind::Reduction);
  if (!target.clusterBlocks || space.root != graph::RootKind::Matmul || columnLoops.size() != 1 ||
      rowLoops.size() != 1 || reduced.size() != 1 || !isa<FloatType>(elementOf(space)))
    return std::nullopt;
  auto sizeOf = [&](unsigned loop) { return constantOf(space.loops()[loop].size); };
  int64_t states = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    states *= sizeOf(loop).value_or(0);
  if (!sizeOf(columnLoops[0]) || !sizeOf(reduced[0]) || states == 0)
    return std::nullopt;
  std::optional<int64_t> rows = sizeOf(rowLoops[0]);
  if (!rows)
    return variantsOfRows(space, target, states, space.loops()[rowLoops[0]].size);
  tile::ScheduleAttr schedule = scheduleFor(space, target, states, *rows, target.clusterBlocks);
  return schedule ? std::optional(SizeVariants{{}, {}, schedule}) : std::nullopt;
}

} // namespace tilewright::tilegen
