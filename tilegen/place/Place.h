// SPDX-License-Identifier: Apache-2.0
// Placing, for GPUs: tiles get layouts, operands of contractions go through shared memory, loops over k become software
// pipelines.
#pragma once

#include "tilegen/TargetDesc.h"
#include "tilegen/tile/TileLayouts.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright::tile {

/// What placing asks of a target.
struct PlaceFacts {
  unsigned lanes = 32;         // of a warp or wavefront
  bool copiesAsync = false;    // global to shared memory without registers
  bool copiesBulk = false;     // whole tiles, by the copy engine
  bool constantsFirst = false; // copies of constants start before the wait for the kernels before
  int64_t bulkStoresFrom = 0;  // programs of a block, from which the engine stores results; 0: never
  int64_t stepsAhead = 0;      // so many first steps are asked for when blocks start; 0: none
  int64_t units = 1;           // multiprocessors
  int64_t clusterBlocks = 0;   // that can write to each other's shared memory, at most; 0: none
  int64_t sharedBytes = 0;     // of a block
  llvm::SmallVector<std::pair<MatrixType, llvm::StringRef>>
      fragments; // matrix instructions by preference: elements, and a row of allFragments()
};
PlaceFacts placeFacts(const TargetDesc &target);

/// Has the target a matrix instruction whose results lie as its left side must (tile::chains), so that a product may
/// take another one's result from registers? In both kinds of halves, and in singles.
bool chainsHalves(const PlaceFacts &facts);
bool chainsSingles(const PlaceFacts &facts);

/// The whole stage, for every tile.kernel of the module. Kernels that are placed already are only checked.
mlir::LogicalResult placeTiles(mlir::ModuleOp module, const PlaceFacts &facts);
mlir::LogicalResult placeTiles(mlir::ModuleOp module, const TargetDesc &target);

//===- The steps, in this order; each takes one kernel ------------------------------------------------------------===//

/// Perfectly nested loops that carry the same tiles become one.
void flattenLoops(KernelOp kernel);
/// Sets the type of every tile to one with a layout, and chooses the instruction of every tile.dot (attribute
/// `instruction`, which is absent for fused multiply-add).
mlir::LogicalResult assignLayouts(KernelOp kernel, const PlaceFacts &facts);
/// The blocks of a cluster share each row, where the schedule says so. Where that cannot be, the kernel stays as it is,
/// with the reason as a remark for tilewright-opt.
void shareRows(KernelOp kernel, const PlaceFacts &facts);
/// Several programs share the sums of one tile, where the schedule says so. Where that cannot be, the kernel stays as
/// it is, and where they should be a cluster and cannot, they meet in global memory, with the reason as a remark for
/// tilewright-opt.
void shareSums(KernelOp kernel, const PlaceFacts &facts);
/// Where the schedule asks for groups and the target's copy engine can bring the operands: warps that copy and warps
/// that multiply, in blocks that take several programs. False, and the kernel stays as it is, where the schedule does
/// not ask for that or the target has no engine, and, with the reason as a remark for tilewright-opt, where the
/// operands do not allow it.
bool assignRoles(KernelOp kernel, const PlaceFacts &facts);
/// In kernels with roles whose blocks take one program, the sums of a tile's strips are awaited one by one, where they
/// are used first.
void awaitLate(KernelOp kernel);
/// Stores of roles become bulk stores, where the engine can do them, or staged ones, where rows begin anywhere. Both
/// only where shared memory is left for them.
void stageStores(KernelOp kernel, const PlaceFacts &facts);
/// Where one role stores by the engine, in blocks that take several programs, it holds a program's results in registers
/// and stores them in the steps of the next one.
void storeLate(KernelOp kernel);
/// The blocks of a kernel with roles ask for what their first steps copy when they start, where nothing of it has to be
/// awaited.
void askAhead(KernelOp kernel, const PlaceFacts &facts);
/// Operands of tile.dot go through shared memory.
void stageOperands(KernelOp kernel);
/// Loops around a tile.dot load the next steps' operands while they multiply this one's.
void pipelineLoops(KernelOp kernel, const PlaceFacts &facts);
/// Loads that nothing but the program's number decides come first, in kernels without products and loops.
void readEarly(KernelOp kernel, const PlaceFacts &facts);
/// Gives shared memory addresses; sets the kernel's attributes `threads` and `shared_bytes`.
mlir::LogicalResult allocateShared(KernelOp kernel, const PlaceFacts &facts);

/// Have the warps that multiply registers for the sums of each matrix instruction?
mlir::LogicalResult checkRegisters(RolesOp roles);
/// Has the target clusters as large as the kernel's?
mlir::LogicalResult checkClusters(KernelOp kernel, const PlaceFacts &facts);
/// Can the target run this placed kernel? It may have been placed for another one, or edited.
mlir::LogicalResult checkPlaced(KernelOp kernel, const PlaceFacts &facts);

//===- What several steps ask -------------------------------------------------------------------------------------===//

/// The most bytes of constants that a block copies before it waits for the kernels before it: what memory delivers to a
/// multiprocessor in a microsecond or two. More would delay the copies that follow the wait.
inline constexpr int64_t mostEarlyBytes = 64 << 10;

/// The warps of a block, as the kernel's schedule says; four if it has none.
int64_t warpsOf(KernelOp kernel);
/// Gives everything in shared memory its address, and returns how many bytes are used.
int64_t assignAddresses(KernelOp kernel);
/// Fails with a diagnostic if `used` bytes are more than a block's shared memory.
mlir::LogicalResult checkShared(KernelOp kernel, int64_t used, const PlaceFacts &facts);
/// 32-bit registers of a thread that hold a tile as it was loaded.
int64_t registersOf(mlir::RankedTensorType tile);
int64_t registersOf(mlir::Value tile);
/// Is this operand of a tile.dot computed from the result of another tile.dot? Then it stays in registers.
bool isHeldInRegisters(mlir::Value operand);
/// Does this loop inside of a step only read memory and compute, without products, so that it moves with the step?
bool isPartOfStep(mlir::Operation *loop);
/// The dimension that is contiguous in shared memory where an operand of this type is written there from registers.
unsigned fastDimension(DotOp dot, bool isLhs, mlir::RankedTensorType type);
/// The load that `value` is the result of, if it has no index tiles and dead elements load as zero; else null.
LoadOp plainLoad(mlir::Value value);

} // namespace tilewright::tile
