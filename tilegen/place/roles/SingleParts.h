// SPDX-License-Identifier: Apache-2.0
// Singles as matrix units take them: tf32 has their exponent and the upper 10 bits of their mantissa. What the units
// read of a single is truncated to that.
//
//   x = truncated(x) + below(x)             below has x's sign; for what stays in shared memory as it is
//   x = rounded(x) + (x - rounded(x))       the rest is as often negative; for what is in registers
//
// Where one factor of a product is split in the first way and the other one in the second, the product of both lower
// parts, which nobody computes, is zero on average.
#pragma once

#include "tilegen/tile/TileLayouts.h"

namespace tilewright::tile {

/// To the nearest tf32, ties away from zero, once matrix units have truncated it.
mlir::Value roundToTf32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile);
/// The same as one of two parts, of which either may be the NaN of a NaN.
mlir::Value upperRounded(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile);
/// What is left of a tile without what matrix units read of it; it is rounded once they have truncated it.
mlir::Value belowTf32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile);

/// The layout in which groups of `warpsOfGroup` of the block's `warps` rewrite a product's left side [m, k] in shared
/// memory, 16 bytes a thread at a time: each group has neighbouring rows of its own.
Layout rewriteLayout(const TileShape &shape, unsigned warpsOfGroup, unsigned warps);

} // namespace tilewright::tile
