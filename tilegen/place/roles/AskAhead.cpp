// SPDX-License-Identifier: Apache-2.0
// A copy engine's first copy waits for memory, and before that, as measurements suggest, for the tensor's description.
// Addresses need none, and threads have nothing to do meanwhile. So all blocks together ask for what the first steps of
// their first programs copy, and the copies find it in the second-level cache:
//
//   %a = tile.tensor_map %x ... sizes (768, 512)    ->    %a = tile.tensor_map %x ... sizes (768, 512) ahead [128, 512]
//
// A kernel that waits for an operand asks for nothing: other kernels run before it, and its description and its
// constants are there when they end.
#include "tilegen/place/Place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tile;

/// The value of an index in program `number`; nullopt where it depends on something else.
static std::optional<int64_t> valueIn(Value index, Value program, int64_t number) {
  if (index == program)
    return number;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return constant;
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<SizeOp, OrderedProgramOp, arith::MinSIOp>(op))
    return std::nullopt;
  SmallVector<int64_t> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> value = valueIn(operand, program, number);
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  if (auto ordered = dyn_cast<OrderedProgramOp>(op))
    return ordered.programAt(operands[0]);
  if (isa<arith::MinSIOp>(op)) // where the last row of tiles is filled
    return std::min(operands[0], operands[1]);
  AffineMap map = cast<SizeOp>(op).getExpr();
  SmallVector<Attribute> results;
  bool isPoison = false; // a division by zero
  auto toAttribute = [&](int64_t value) -> Attribute {
    return IntegerAttr::get(IndexType::get(op->getContext()), value);
  };
  if (map.getNumSymbols() || failed(map.constantFold(llvm::map_to_vector(operands, toAttribute), results, &isPoison)) ||
      isPoison)
    return std::nullopt;
  return cast<IntegerAttr>(results[0]).getInt();
}

/// How many elements of each dimension the first steps of all blocks' first programs copy; nullopt if that is not a
/// corner of a tensor of two dimensions whose size is known, or none at all or too much.
static std::optional<SmallVector<int64_t>> cornerOfSteps(BulkCopyOp copy, int64_t blocks, const PlaceFacts &facts) {
  auto map = copy.getMap().getDefiningOp<TensorMapOp>();
  auto loop = copy->getParentOfType<scf::ForOp>();
  auto programs = loop ? loop->getParentOfType<scf::ForOp>() : scf::ForOp();
  if (!map || !programs || map.getType().getBox().size() != 2 || !map.getLower().empty() ||
      !constantsOf(map.getStart()) || !constantsOf(map.getStrides()))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> corner = constantsOf(map.getSizes());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep()),
                         end = getConstantIntValue(programs.getUpperBound());
  if (!corner || !step || !end || !isConstantIntValue(loop.getLowerBound(), 0))
    return std::nullopt;
  RankedTensorType tile = copy.getShared().getType().getTile();
  int64_t row = tile.getDimSize(copy.getShared().getType().getFast()), widths[] = {row, tile.getNumElements() / row};
  bool moves = false;
  for (auto [extent, coordinate, width] : llvm::zip_equal(*corner, copy.getCoordinates(), widths)) {
    int64_t needed = facts.stepsAhead * *step;
    bool isMoving = coordinate == loop.getInductionVar();
    moves |= isMoving;
    for (int64_t block = 0; !isMoving && block < std::min({blocks, *end, facts.units}); ++block) {
      std::optional<int64_t> at = valueIn(coordinate, programs.getInductionVar(), block);
      if (!at)
        return std::nullopt;
      needed = block ? std::max(needed, *at + width) : *at + width;
    }
    extent = std::min(extent, needed);
  }
  if (!moves || llvm::is_contained(*corner, 0) ||
      map.linesOfRow(corner->front()) > TensorMapOp::mostLinesAhead / corner->back())
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
    if (std::optional<SmallVector<int64_t>> corner = cornerOfSteps(copy, grid->front(), facts))
      corners.push_back({map, std::move(*corner)});
  });
  if (awaits)
    return;
  for (auto &[map, corner] : corners) {
    for (auto [extent, other] : llvm::zip(corner, map.getAhead())) // of another strip
      extent = std::max(extent, other);
    map.setAhead(corner);
  }
}
