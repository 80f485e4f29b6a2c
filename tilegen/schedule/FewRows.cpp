// SPDX-License-Identifier: Apache-2.0
#include "tilegen/schedule/FewRows.h"

#include "tilegen/roots/Panels.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

constexpr int64_t bytesOfSector = 32;    // of memory, that a transfer takes at least
constexpr int64_t columnsOfGemv = 4;     // of one block, where each column is a row of memory
constexpr int64_t elementsOfGemv = 8192; // that a block multiplies at a time
constexpr int64_t elementsPerThreadOfGemv = 32;

/// Products whose right side is computed from constants of fewer bytes, such as weights of four bits: tile and step by
/// the rows that there are at most. Measured on an H200 (docs/performance.md). Blocks share sums until there are nearly
/// as many as each multiprocessor wants of them, to hide what each waits for.
struct ComputedTile {
  MatmulTile tile;
  int64_t step;
};
constexpr ComputedTile computedHalves[] = {
    {{16, 128, 8, 2}, 128}, {{16, 64, 4, 4}, 128}, {{32, 64, 4, 2}, 128}, {{64, 64, 4, 2}, 64}, {{128, 64, 4, 2}, 64}};
constexpr ComputedTile computedSingles[] = {{{16, 64, 2, 4}, 64}, {{64, 64, 8, 2}, 64}};
constexpr int64_t columnsOfAccess = 8; // bytes that a thread loads together
// More parts, or fewer steps of a part, whose loop is then unrolled, spill.
constexpr int64_t stagesOfComputed = 4, mostPartsOfComputed = 8, leastStepsOfComputed = 4;

/// Of weights that stream through the device a block reads rows of its columns, and memory is the faster the longer
/// these pieces are: beside 256 bytes, pieces of 128 reached 0.95 and those of 64 bytes 0.73 of the rate on an H100
/// (docs/performance.md). Blocks share sums as long as there are no more of them than multiprocessors.
struct StreamedTile {
  MatmulTile tile;
  int64_t step, stages;
};
constexpr StreamedTile streamed{{16, 128, 4}, 64, 6}, streamedPair{{16, 128, 8}, 32, 6};
constexpr int64_t leastStreamedBytes = 16 << 20; // below, starting and sharing count as much
constexpr int64_t partsOfStreamed[] = {8, 6, 4, 3, 2};
constexpr int64_t leastStepsOfStreamed = 4;

} // namespace

tile::ScheduleAttr scheduleGemv(const KernelSpace &space, const TargetDesc &target) {
  auto contract = cast<graph::ContractOp>(space.loopOps[0]);
  Type element = cast<RankedTensorType>(contract.getLhs().getType()).getElementType();
  std::optional<int64_t> rows = space.mostOf(space.loopsOfKind(LoopKind::Row).back()),
                         columns = constantOf(space.loops()[space.loopsOfKind(LoopKind::Column).back()].size);
  int64_t depth = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction))
    depth *= space.expectedSize(loop);
  if (!isa<FloatType>(element) || !rows || !columns || depth < target.warpWidth)
    return {};
  int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  int64_t width = std::min(powerAbove(*columns), space.columnsAreContiguous() ? bytesOfSector / bytes : columnsOfGemv),
          height = 1;
  bool fewResults = *rows * ((*columns + width - 1) / width) <= int64_t(2) * target.units;
  if (*rows > 1 && *columns > 1 && !fewResults) {
    bool matrixInstructions = bytes <= 2, wideRows = *columns * bytes % (target.vectorBits / 8) == 0;
    if (matrixInstructions || !wideRows || blocksOf(space, {16, 32, 1}) >= target.units)
      return {};
    height = 2; // two rows and twice the columns share what is loaded
    width = std::min(powerAbove(*columns), 2 * width);
  }
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1), steps;
  tile.append({height, width});
  int64_t elements = height * width;
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  for (unsigned loop : llvm::reverse(reduced)) {
    int64_t whole = powerAbove(space.expectedSize(loop));
    steps.insert(steps.begin(), std::min(whole, elementsOfGemv / elements));
    elements *= steps.front();
  }
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Gemv, tile, steps,
                                     warpsFor(elements, elementsPerThreadOfGemv, target));
}

tile::ScheduleAttr scheduleComputed(const KernelSpace &space, const TargetDesc &target) {
  auto sizeOf = [&](LoopKind kind) { return space.mostOf(space.loopsOfKind(kind).back()); };
  std::optional<int64_t> rows = sizeOf(LoopKind::Row), columns = sizeOf(LoopKind::Column),
                         depth = sizeOf(LoopKind::Reduction);
  ArrayRef<ComputedTile> tiles = elementOf(space).getIntOrFloatBitWidth() == 16 ? ArrayRef(computedHalves)
                                 : multipliesTf32(space, target)                ? ArrayRef(computedSingles)
                                                                                : ArrayRef<ComputedTile>();
  if (!isComputedFromConstants(space) || !target.asyncCopies || space.loopsOfKind(LoopKind::Reduction).size() != 1 ||
      !rows || !columns || !depth)
    return {};
  const auto *chosen = llvm::find_if(tiles, [&](const ComputedTile &row) {
    return *rows <= row.tile.rows && row.tile.columns <= *columns && *columns % columnsOfAccess == 0 &&
           row.step <= *depth;
  });
  if (chosen == tiles.end())
    return {};
  int64_t blocks = blocksOf(space, chosen->tile), steps = llvm::divideCeil(*depth, chosen->step), parts = 1;
  auto areEnough = [&] { return 8 * blocks * parts >= 7 * chosen->tile.blocksOfUnit * target.units; };
  while (!areEnough() && parts < mostPartsOfComputed && steps / (2 * parts) >= leastStepsOfComputed)
    parts *= 2;
  return withParts(space, makeMatmul(space, chosen->tile, chosen->step, stagesOfComputed), parts, blocks);
}

tile::ScheduleAttr scheduleStreamed(const KernelSpace &space, const TargetDesc &target) {
  bool isPair = space.pairedRhs != nullptr, isHalf = elementOf(space).isF16() || elementOf(space).isBF16();
  std::optional<int64_t> rows = space.mostOf(space.loopsOfKind(LoopKind::Row).back()),
                         columns = constantOf(space.loops()[space.loopsOfKind(LoopKind::Column).back()].size),
                         depth = constantOf(space.loops()[space.loopsOfKind(LoopKind::Reduction).back()].size);
  bool isPlain = space.loopsOfKind(LoopKind::Reduction).size() == 1 && isReadPlainly(space.rhs) &&
                 (!isPair || isReadPlainly(space.pairedRhs)) &&
                 llvm::all_of(space.loopsOfKind(LoopKind::Parallel),
                              [&](unsigned loop) { return constantOf(space.loops()[loop].size) == 1; });
  const StreamedTile &row = isPair ? streamedPair : streamed;
  if (!target.bulkCopies || !isHalf || !isPlain || !rows || !columns || !depth || *rows > row.tile.rows ||
      *columns % columnsOfAccess || !space.columnsAreContiguous() ||
      (isPair ? 2 : 1) * *columns * *depth * 2 < leastStreamedBytes)
    return {};
  int64_t blocks = blocksOf(space, row.tile), steps = llvm::divideCeil(*depth, row.step);
  const auto *parts = llvm::find_if(partsOfStreamed, [&](int64_t parts) {
    return blocks * parts <= target.units && steps / parts >= leastStepsOfStreamed;
  });
  return withParts(space, makeMatmul(space, row.tile, row.step, row.stages),
                   parts == std::end(partsOfStreamed) ? 1 : *parts, blocks);
}

} // namespace tilewright::tilegen
