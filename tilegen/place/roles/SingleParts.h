// SPDX-License-Identifier: Apache-2.0
// Singles as matrix units take them: tf32 has the exponent of float32 and the upper 10 bits of its mantissa. The units
// read a float32 as if the bits below were 0: truncated.
//
//   x = truncated(x) + below(x)             below has x's sign; for the side that stays in shared memory as it is
//   x = rounded(x) + (x - rounded(x))       the rest is as often negative; for the side that is in registers
//
// Where one factor of a product is split in the first way and the other one in the second, the product of both lower
// parts, which nobody computes, is zero on average.
#pragma once

#include "tilegen/tile/TileLayouts.h"

namespace tilewright::tile {

/// A tile of float32 that matrix units read as `tile` rounded to the nearest tf32, ties away from zero. NaN stays NaN.
mlir::Value roundToTf32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile);
/// The nearest tf32 itself, with zeros below, as the upper of two parts. It may be a number where `tile` is NaN, since
/// the lower part is NaN then.
mlir::Value upperRounded(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile);
/// What remains of `tile` without the upper part that matrix units read of it, such that they read the remainder
/// rounded to the nearest tf32.
mlir::Value belowTf32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tile);

/// The layout in which the `warps` of a role rewrite a product's left side [m, k] in shared memory, 16 bytes a thread
/// at a time. Each group of `warpsOfGroup` warps, which issue instructions together, has neighbouring rows of its own.
Layout rewriteLayout(const TileShape &shape, unsigned warpsOfGroup, unsigned warps);

} // namespace tilewright::tile
