// SPDX-License-Identifier: Apache-2.0
// Register-blocked values: contractions and loops, which are computed a register tile (rows x columns) at a time, so
// that their accumulators stay in registers.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::host {

/// A contraction or a loop that yields tiles.
bool isRegisterBlocked(mlir::Operation *op);

/// Whether a register-blocked value has a single use, which leads through single uses of elementwise operations to a
/// store, or to a yield of its own block: its register tiles are stored as soon as they are computed.
bool feedsOneStore(mlir::Value blocked);

using IsBuffered = llvm::function_ref<bool(mlir::Value)>;

/// The register-blocked values that `value` reaches through elementwise operations and that are not buffered.
void collectRegisterBlocked(mlir::Value value, IsBuffered isBuffered, llvm::SmallVectorImpl<mlir::Value> &result);

/// The buffered values that `value` reads element by element.
void collectBuffered(mlir::Value value, IsBuffered isBuffered, llvm::SmallVectorImpl<mlir::Value> &result);

/// The loads that `value` is computed from which may leave their buffers.
void collectGuarded(mlir::Value value, IsBuffered isBuffered, llvm::SmallVectorImpl<tile::LoadOp> &result);

} // namespace tilewright::host
