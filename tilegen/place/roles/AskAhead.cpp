// SPDX-License-Identifier: Apache-2.0
// A copy engine's first copy waits until the engine has read the tensor's description, and then for memory. Blocks that
// take one program have nothing to do meanwhile. So all of them together ask for the first steps of both operands, by
// addresses, and the copies find them in the second-level cache:
//
//   %a = tile.tensor_map %x ... sizes (768, 512)    ->    %a = tile.tensor_map %x ... sizes (768, 512) ahead [128, 512]
//
// A kernel that waits for an operand asks for nothing: other kernels run before it, and its description and its
// constants are there when they end.
#include "tilegen/place/Place.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tile;

/// Does each block take a single program, so that this loop over programs, if there is one, has one iteration?
static bool takesOneProgram(scf::ForOp programs) {
  if (!programs)
    return true;
  std::optional<int64_t> end = getConstantIntValue(programs.getUpperBound()),
                         step = getConstantIntValue(programs.getStep());
  return end && step && *end <= *step;
}

/// How many elements of each dimension the first steps copy, by all blocks; nullopt if that is not a corner of a
/// tensor of two dimensions whose size is known, or none at all or too much.
static std::optional<SmallVector<int64_t>> cornerOfSteps(BulkCopyOp copy, int64_t steps) {
  auto map = copy.getMap().getDefiningOp<TensorMapOp>();
  auto loop = copy->getParentOfType<scf::ForOp>();
  if (!map || !loop || map.getType().getBox().size() != 2 || !map.getLower().empty() || !constantsOf(map.getStart()) ||
      !constantsOf(map.getStrides()))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> corner = constantsOf(map.getSizes());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  auto moving = llvm::find(copy.getCoordinates(), loop.getInductionVar());
  if (!corner || !takesOneProgram(loop->getParentOfType<scf::ForOp>()) ||
      !isConstantIntValue(loop.getLowerBound(), 0) || !step || moving == copy.getCoordinates().end())
    return std::nullopt;
  int64_t &extent = (*corner)[moving - copy.getCoordinates().begin()];
  extent = std::min(extent, steps * *step);
  if (llvm::is_contained(*corner, 0) || map.linesOfRow(corner->front()) > TensorMapOp::mostLinesAhead / corner->back())
    return std::nullopt;
  return corner;
}

void tilewright::tile::askAhead(KernelOp kernel, const PlaceFacts &facts) {
  std::optional<SmallVector<int64_t>> grid = constantsOf(kernel.getGrid());
  if (!facts.stepsAhead || !grid || grid->front() < 1)
    return;
  SmallVector<std::pair<TensorMapOp, SmallVector<int64_t>>> corners;
  bool awaits = false;
  kernel.walk([&](BulkCopyOp copy) {
    auto map = copy.getMap().getDefiningOp<TensorMapOp>();
    awaits |= !map || isAwaited(map.getBuffer());
    if (std::optional<SmallVector<int64_t>> corner = cornerOfSteps(copy, facts.stepsAhead))
      corners.push_back({map, std::move(*corner)});
  });
  if (awaits)
    return;
  for (auto &[map, corner] : corners)
    map.setAhead(corner);
}
