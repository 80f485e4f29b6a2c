// SPDX-License-Identifier: Apache-2.0
// A column is what one result reduces, where its elements are not neighbours in memory: the pixels of a channel, or
// the rows that a softmax over a middle dimension adds up. The threads of a program share the columns of its tile, as
// they share rows: a thread loads vectors of neighbouring columns, many of them at once, and what the threads have is
// combined at the end. So a column of 196 elements costs one wait for memory, not one for every 8 elements.
//
//     [196, 1152] -> [1152]    tile = [32], reduce = [256], 8 warps: 4 threads abreast, 64 down, 4 vectors each
//
// The constants were found by timing 29 means and softmaxes, of 2 to 12,544 elements and 1 to 64 images, on an H100,
// each with up to 90 schedules (docs/performance/gpu-models.md, "Networks of timm, and columns").
#include "tilegen/schedule/ColumnSchedules.h"

#include "tilegen/schedule/ContractionTiles.h"
#include "tilegen/schedule/WindowSchedules.h"

#include "fusion/Columns.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

constexpr int64_t longestStep = 1024;       // through a column that is not held
constexpr int64_t elementsOfProgram = 8192; // of whole columns, if that leaves each a vector
constexpr int64_t fewestElements = 256;
constexpr int64_t elementsOfThread = 32, elementsOfFew = 16, fewElements = 1024; // of a program with few
constexpr int64_t mostThreads = 512;                                             // all of them where columns have steps
constexpr int64_t leastResults = 32, mostResults = 1024; // of a program, where columns are short
constexpr int64_t shortColumn = 16, resultsOfThread = 8; // that one thread reduces in straight code

/// Whether a kernel reads its columns again, once they are reduced.
bool readsAgain(const KernelSpace &space) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  return space.loopOps.size() > 1 || llvm::any_of(space.outputs, [&](const auto &coordinates) {
           return llvm::any_of(coordinates, [&](AffineExpr at) {
             return llvm::any_of(reduced, [&](unsigned loop) { return dependsOn(at, loop); });
           });
         });
}

/// The columns that a thread loads at once: a vector of the narrowest elements that are read. Bytes count as halves,
/// since what they become takes more registers.
int64_t columnsOfVector(const KernelSpace &space) {
  constexpr int64_t bytesOfVector = 16, leastBytes = 2;
  graph::KernelOp kernel = space.source;
  int64_t bytes = bytesOfVector;
  for (Type type : kernel.getBody().getArgumentTypes())
    bytes = std::min<int64_t>(bytes, cast<RankedTensorType>(type).getElementType().getIntOrFloatBitWidth() / 8);
  return bytesOfVector / std::max(bytes, leastBytes);
}

/// The sizes of the reduced loops; empty if some are not known.
SmallVector<int64_t> lengthsOf(const KernelSpace &space) {
  SmallVector<int64_t> lengths;
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction)) {
    std::optional<int64_t> size = constantOf(space.loops()[loop].size);
    if (!size || *size < 1)
      return {};
    lengths.push_back(*size);
  }
  return lengths;
}

} // namespace

tile::ScheduleAttr scheduleColumns(const KernelSpace &space, const TargetDesc &target) {
  SmallVector<int64_t> lengths = lengthsOf(space), steps;
  bool slides = llvm::any_of(space.loopsOfKind(LoopKind::Parallel),
                             [&](unsigned loop) { return windowAlong(space, loop).has_value(); });
  if (space.root != graph::RootKind::Window || lengths.empty() || slides)
    return {};
  bool isHeld = readsAgain(space);
  int64_t wanted = powerAbove(blocks::resultsOf(space) / target.units), column = 1,
          rest = isHeld ? fusion::longestHeldColumn : longestStep;
  if (!isHeld && llvm::product_of(lengths) <= shortColumn) {
    SmallVector<int64_t> tile = blocks::tileParallelLoops(space, std::clamp(wanted, leastResults, mostResults));
    return tile::ScheduleAttr::ofUnrolledWindow(space.nest.context, tile, lengths,
                                                warpsFor(llvm::product_of(tile), resultsOfThread, target));
  }
  for (int64_t length : llvm::reverse(lengths)) {
    steps.insert(steps.begin(), std::min(powerAbove(length), rest / column));
    column *= steps.front();
  }
  bool isStepped =
      llvm::any_of(llvm::zip_equal(lengths, steps), [](auto pair) { return std::get<1>(pair) < std::get<0>(pair); });
  int64_t vector = columnsOfVector(space),
          most = std::clamp(elementsOfProgram / column * (isStepped ? 2 : 1), vector, mostResults),
          least = isStepped || isHeld ? std::max(vector, fewestElements / column) : std::min(leastResults, most);
  SmallVector<int64_t> tile = blocks::tileParallelLoops(space, std::clamp(wanted, least, most));
  int64_t elements = column * llvm::product_of(tile), each = elements <= fewElements ? elementsOfFew : elementsOfThread,
          threads = isStepped ? mostThreads : std::min(powerAbove(elements / each), mostThreads);
  return tile::ScheduleAttr::ofBlock(space.nest.context, space.root, tile, steps,
                                     std::max<int64_t>(1, threads / target.warpWidth));
}

} // namespace tilewright::tilegen
