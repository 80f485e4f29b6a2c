// SPDX-License-Identifier: Apache-2.0
// What the verifiers of loads, stores and copies have in common. Internal to tilegen/tile.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::tile {

// Each fails with a diagnostic at `op`; `what` names the map in it.

/// Symbols in maps stand for the kernel's symbol arguments, so a map may not name more of them than there are.
mlir::LogicalResult verifySymbols(mlir::Operation *op, mlir::AffineMap map, llvm::StringRef what);
/// `map` must be from the kernel's symbols to `results` sizes.
mlir::LogicalResult verifySizesMap(mlir::Operation *op, mlir::AffineMap map, unsigned results, llvm::StringRef what);
/// Offsets, bounds and map agree with the tile and the buffer.
mlir::LogicalResult verifyAccess(mlir::Operation *op, mlir::RankedTensorType tile, BufferType buffer, unsigned offsets,
                                 unsigned indices, mlir::AffineMap bounds, mlir::AffineMap map);
/// Guarded dimensions are dimensions of the buffer.
mlir::LogicalResult verifyGuard(mlir::Operation *op, llvm::ArrayRef<int64_t> guard, BufferType buffer);

} // namespace tilewright::tile
