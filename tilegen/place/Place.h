// Placing: every tile gets a layout, operands of contractions a place in shared memory, loops over k a software
// pipeline.
#pragma once

#include "tilegen/tile/Layout.h"
#include "tilegen/TargetDesc.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright::tile {

/// What placing asks of a target.
struct PlaceFacts {
  unsigned lanes = 32;      // of a warp or wavefront
  bool copiesAsync = false; // global to shared memory without registers
  int64_t sharedBytes = 0;  // of a block
  llvm::SmallVector<std::pair<MatrixType, llvm::StringRef>>
      fragments; // matrix instructions by preference: elements, and a row of allFragments()
};
PlaceFacts placeFacts(const TargetDesc &target);

/// The whole stage, for every tile.kernel of the module.
mlir::LogicalResult placeTiles(mlir::ModuleOp module, const PlaceFacts &facts);
mlir::LogicalResult placeTiles(mlir::ModuleOp module, const TargetDesc &target);

//===- The steps, in this order; each takes one kernel ------------------------------------------------------------===//

/// Perfectly nested loops that carry the same tiles become one.
void flattenLoops(KernelOp kernel);
/// Sets the type of every tile to one with a layout, and chooses the instruction of every tile.dot (attribute
/// `instruction`; none is fused multiply-add).
mlir::LogicalResult assignLayouts(KernelOp kernel, const PlaceFacts &facts);
/// Operands of tile.dot go through shared memory.
void stageOperands(KernelOp kernel);
/// Loops around a tile.dot load the next steps' operands while they multiply this one's.
void pipelineLoops(KernelOp kernel, const PlaceFacts &facts);
/// Gives shared memory addresses; sets the kernel's attributes `threads` and `shared_bytes`.
mlir::LogicalResult allocateShared(KernelOp kernel, const PlaceFacts &facts);

//===- Layouts on types -------------------------------------------------------------------------------------------===//

LayoutAttr toAttr(mlir::MLIRContext *context, const Layout &layout);
Layout toLayout(LayoutAttr attr);
Layout layoutOf(mlir::Type tile);
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const Layout &layout);
/// How a slot's elements are addressed.
SharedLayout sharedLayout(SharedType type);
/// What the instruction of a placed tile.dot reads and writes; null where it is multiply-add.
const Fragments *fragmentsOf(DotOp dot);
/// The loaded tile, if `value` comes straight from memory in one access and dead elements are zero.
LoadOp plainLoad(mlir::Value value);

} // namespace tilewright::tile
