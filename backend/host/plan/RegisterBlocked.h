// SPDX-License-Identifier: Apache-2.0
// Register-blocked values: contractions and loops, which are computed a register tile (rows x columns) at a time, so
// that their accumulators stay in registers.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::host {

/// A contraction or a loop that yields tiles.
bool isRegisterBlocked(mlir::Operation *op);

/// Whether the register tiles of `blocked` can be stored as soon as they are computed, so that it needs no buffer: its
/// use, through elementwise operations, is a store, or a yield of its own block; or it has several such uses that all
/// are stores.
bool feedsOneStore(mlir::Value blocked);

using IsBuffered = llvm::function_ref<bool(mlir::Value)>;

/// Appends the register-blocked values that `value` is computed from through elementwise operations and that are not
/// buffered.
void collectRegisterBlocked(mlir::Value value, IsBuffered isBuffered, llvm::SmallVectorImpl<mlir::Value> &result);

/// Appends the buffered values that `value` reads element by element.
void collectBuffered(mlir::Value value, IsBuffered isBuffered, llvm::SmallVectorImpl<mlir::Value> &result);

/// Appends the loads that `value` is computed from and that may leave their buffers.
void collectGuarded(mlir::Value value, IsBuffered isBuffered, llvm::SmallVectorImpl<tile::LoadOp> &result);

} // namespace tilewright::host
