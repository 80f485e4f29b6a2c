// SPDX-License-Identifier: Apache-2.0
// Layouts as the types of placed tile programs have them.
#pragma once

#include "tilegen/tile/Layout.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tile {

/// The 32-bit registers of a multiprocessor, in all GPUs with a copy engine so far (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
inline constexpr int64_t registersOfUnit = 65536;

LayoutAttr toAttr(mlir::MLIRContext *context, const Layout &layout);
Layout toLayout(LayoutAttr attr);
/// The layout in the type of a placed tile.
Layout layoutOf(mlir::Type tile);
mlir::RankedTensorType withLayout(mlir::RankedTensorType type, const Layout &layout);

/// How the elements of a slot are addressed: rows along `fast`, swizzled.
SharedLayout sharedLayout(SharedType type);

/// What the instruction of a placed tile.dot reads and writes; null where it is multiply-add.
const Fragments *fragmentsOf(DotOp dot);
/// The layout in which a placed tile.dot reads an operand of this type. It follows from the accumulator's.
Layout operandLayout(DotOp dot, Operand operand, mlir::RankedTensorType type);

/// The bytes of shared memory through which the warps of a placed reduction exchange their parts: for each element of
/// the result one value of each warp along the dimension. 0 if no two warps share a result.
int64_t exchangedBytes(ReduceOp reduce);
/// Cuts a placed tile along `dim` into `parts` shares, a power of two: the type of a share. nullopt if a share's
/// elements are not in the same registers of all threads.
std::optional<mlir::RankedTensorType> shareType(mlir::RankedTensorType tile, unsigned dim, int64_t parts);
/// The dimension along which `tile` is cut into shares of type `share`; nullopt if it is not.
std::optional<unsigned> cutDim(mlir::RankedTensorType tile, mlir::RankedTensorType share, int64_t parts);
/// For each register of a share, the register of `tile` that holds that element of share number `number`.
llvm::SmallVector<unsigned> registersOfShare(mlir::RankedTensorType tile, unsigned dim, int64_t parts, int64_t number);

/// The bytes of shared memory by which a tile.part_arrive tells a block's threads its answer.
inline constexpr int64_t arrivalBytes = 4;
/// The bytes of shared memory in which a block is given its share of all other blocks' values, for tile.part_sum.
int64_t givenBytes(PartSumOp sum);
/// The bytes in which it is given the values of all blocks, for tile.part_reduce.
int64_t givenBytes(PartReduceOp reduce);
/// The registers of a placed tile that hold elements below `live` in some thread; all of them if it is empty.
llvm::SmallVector<unsigned> liveRegisters(mlir::Type tile, llvm::ArrayRef<int64_t> live);
/// How many elements all threads together hold in these registers; an element that several threads hold counts for
/// each.
int64_t heldElements(mlir::Type tile, llvm::ArrayRef<int64_t> live);

} // namespace tilewright::tile
