// SPDX-License-Identifier: Apache-2.0
#include "tilegen/schedule/ContractionTiles.h"

#include "fusion/products/AlignedConstants.h"
#include "fusion/windows/WalkedPixels.h"
#include "tilegen/tile/MatmulPrecision.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {

Type elementOf(const KernelSpace &space) { return cast<RankedTensorType>(space.lhs.getType()).getElementType(); }

std::optional<int64_t> constantOf(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

int64_t powerAbove(int64_t value) { return static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(value, 1))); }

int64_t warpsFor(int64_t elements, int64_t each, const TargetDesc &target) {
  int64_t threads = std::clamp<int64_t>(powerAbove(elements / each), target.warpWidth, target.maxThreads);
  return threads / target.warpWidth;
}

bool areSizesKnown(const KernelSpace &space) {
  return llvm::all_of(space.loops(), [](const Loop &loop) { return isa<AffineConstantExpr>(loop.size); });
}

int64_t blocksOf(const KernelSpace &space, const MatmulTile &tile) {
  int64_t blocks = 1;
  for (auto [i, loop] : llvm::enumerate(space.loops())) {
    int64_t size = space.expectedSize(i);
    int64_t step = loop.kind == LoopKind::Row ? tile.rows : loop.kind == LoopKind::Column ? tile.columns : 1;
    blocks *= loop.kind == LoopKind::Reduction ? 1 : (size + step - 1) / step;
  }
  return blocks;
}

tile::ScheduleAttr makeMatmul(const KernelSpace &space, const MatmulTile &chosen, int64_t step, int64_t stages,
                              int64_t groups, int64_t order) {
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1),
      steps(space.loopsOfKind(LoopKind::Reduction).size(), 1);
  tile.append({chosen.rows, chosen.columns});
  steps.back() = step;
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Matmul, tile, steps, chosen.warps, stages, groups,
                                     order);
}

tile::ScheduleAttr withParts(const KernelSpace &space, tile::ScheduleAttr schedule, int64_t parts, int64_t tiles,
                             bool clustered) {
  return schedule.withParts(parts, clustered, parts == 1 || areSizesKnown(space) ? 0 : tiles);
}

tile::ScheduleAttr withColumns(tile::ScheduleAttr schedule, int64_t columns) {
  SmallVector<int64_t> tile(schedule.getTile());
  tile.back() = columns;
  return schedule.withTile(tile);
}

bool multipliesTf32(const KernelSpace &space, const TargetDesc &target) {
  bool hasTf32 = llvm::any_of(target.matrix, [](const MatrixInstruction &row) { return row.type == MatrixType::TF32; });
  return hasTf32 && elementOf(space).isF32() && matmulPrecisionOf(space.loopOps[0]) != MatmulPrecision::Ieee;
}

bool isReadPlainly(Value operand) {
  while (Operation *access = operand.getDefiningOp()) {
    if (!isa<graph::ReshapeOp, graph::TransposeOp, graph::SliceOp, graph::BroadcastOp>(access))
      return false;
    operand = access->getOperand(0);
  }
  return true;
}

bool isLeftAligned(const KernelSpace &space) {
  constexpr int64_t bytesOfCopy = 16;
  unsigned row = space.loopsOfKind(LoopKind::Row).back(), sum = space.loopsOfKind(LoopKind::Reduction).back();
  int64_t bytes = elementOf(space).getIntOrFloatBitWidth() / 8;
  auto varies = [](const Access &access, unsigned loop) {
    return llvm::any_of(access.coordinates, [&](AffineExpr at) { return dependsOn(at, loop); });
  };
  return llvm::all_of(space.nest.accesses, [&](const Access &access) {
    if (!varies(access, row) || !varies(access, sum))
      return true;
    auto stride = dyn_cast_if_present<AffineConstantExpr>(space.strideOf(access, sum));
    return stride && (stride.getValue() == 1 || stride.getValue() * bytes % bytesOfCopy == 0);
  });
}

// Fitted to two products of 4096x4096x1000 and 4096x5000x1000 with six tiles each, of which one side or both are no
// lines, on an H200 (docs/performance/gpu-products.md, "Rows that are lines").
int64_t linesOfRow(const KernelSpace &space, unsigned loop) {
  constexpr int64_t bytesOfSector = 32, ofSectors = 2, ofOthers = 4;
  unsigned sum = space.loopsOfKind(LoopKind::Reduction).back();
  int64_t apart = 0; // what divides the distances between rows
  for (const Access &access : space.nest.accesses) {
    AffineExpr along = space.strideOf(access, loop), down = space.strideOf(access, sum),
               none = getAffineConstantExpr(0, space.nest.context);
    if (along == none || down == none)
      continue;
    for (unsigned i = 0; i < space.loops().size(); ++i)
      if (auto stride = dyn_cast_if_present<AffineConstantExpr>(space.strideOf(access, i));
          stride && stride.getValue() != 1)
        apart = std::gcd(apart, stride.getValue());
  }
  int64_t bytes = apart * elementOf(space).getIntOrFloatBitWidth() / 8;
  return bytes % fusion::bytesOfLine == 0 ? 1 : bytes % bytesOfSector == 0 ? ofSectors : ofOthers;
}

int64_t bytesOfPixels(const KernelSpace &space) {
  constexpr int64_t wholeRow = 2 * bytesOfHalfRow;
  Value operand = space.lhs;
  while (auto access = operand.getDefiningOp<graph::AccessOpInterface>()) {
    if (auto window = dyn_cast<graph::WindowOp>(access.getOperation())) {
      auto type = cast<RankedTensorType>(window.getData().getType()),
           windows = cast<RankedTensorType>(window.getType());
      int64_t behind = type.getRank() - 1 - window.getDims().back(); // channels, and groups in front of them
      bool areRows = behind == 0; // windows overlap in memory (fusion/windows/FewChannels.h)
      int64_t channels = areRows ? windows.getShape().back() : type.getShape().back();
      int64_t bits = type.getElementTypeBitWidth(), bytes = channels * bits / 8;
      if (!(areRows ? window.getPixels() : behind <= 2) || window.getDims().front() != 1 ||
          !fusion::areWalkable(window) || llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic) ||
          !isReadPlainly(window.getData()))
        return 0;
      if (bytes % wholeRow == 0)
        return wholeRow;
      return bits == 16 && bytes % bytesOfHalfRow == 0 ? bytesOfHalfRow : 0;
    }
    if (!isa<graph::ReshapeOp, graph::TransposeOp>(access.getOperation()))
      return 0;
    operand = access.getData();
  }
  return 0;
}

bool readsPixels(const KernelSpace &space) { return bytesOfPixels(space) > 0; }

int64_t bytesOfDepth(const KernelSpace &space) {
  int64_t elements = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction))
    elements *= space.expectedSize(loop);
  return elements * elementOf(space).getIntOrFloatBitWidth() / 8;
}

int64_t bytesOfRightSide(const KernelSpace &space) {
  return space.expectedSize(space.loopsOfKind(LoopKind::Column).back()) * bytesOfDepth(space);
}

int64_t contractionsOf(const KernelSpace &space) { return 1 + static_cast<int64_t>(space.moreRhs.size()); }

bool areRightSidesReadPlainly(const KernelSpace &space) {
  return isReadPlainly(space.rhs) && llvm::all_of(space.moreRhs, isReadPlainly);
}

} // namespace tilewright::tilegen
