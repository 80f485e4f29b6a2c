// SPDX-License-Identifier: Apache-2.0
// Which neighbours in a tile are neighbours in memory too.
#pragma once

#include "tilegen/tile/TileOps.h"

#include <optional>

namespace tilewright::host {

/// The length of the blocks within which neighbours along tile dimension `dim` are neighbours in the buffer. 0: all of
/// them are. nullopt: none are.
///
///     (d0, d1) -> (d0 floordiv 28, d0 mod 28 + 3, d1)         along d1: 0
///     (d0, d1) -> (d1, d0 floordiv 28, d0 mod 28 + 3)         along d0: 28, a row of an image
///     (d0, d1) -> (d0, 2 * d1)                                along d1: nullopt
std::optional<int64_t> contiguousRun(mlir::AffineMap map, unsigned dim);

/// The coordinates at which `access` reads or writes, without the last dimensions of its buffer whose size is 1,
/// because they do not separate neighbours. `(d0, d1) -> (d0, d1 + 3, 0)` of a buffer of n by m by 1 is `(d0, d1) ->
/// (d0, d1 + 3)`.
mlir::AffineMap coordinatesOf(tile::LoadOp access);
mlir::AffineMap coordinatesOf(tile::StoreOp access);

/// Whether the distance in the buffer between neighbours along tile dimension `dim` is the same everywhere: no
/// coordinate divides it.
bool isEven(mlir::AffineMap map, unsigned dim);

/// Whether neighbours along the tile's last dimension are neighbours in the buffer, whatever the alignment.
bool isContiguous(tile::LoadOp load);

} // namespace tilewright::host
