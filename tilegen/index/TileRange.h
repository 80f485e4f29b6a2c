// SPDX-License-Identifier: Apache-2.0
// Between which numbers an index expression lies on a tile, as expressions of where the tile begins.
//
//   d0 + s0 + 1     d0 in [o, o + 64)     from o + s0 + 1 to o + s0 + 64
//   d0 mod s1       d0 in [o, o + 64)     to o mod s1 + 63; from o mod s1, minus s1 for each multiple that is crossed
//
// It is an algebra of affine expressions (frontend/index/Evaluate.h), as Facts are, but its numbers may be known only
// when running.
#pragma once

#include "mlir/IR/AffineExpr.h"

namespace tilewright::index {

/// Inclusive ends. Both are null if nothing is known.
struct TileRange {
  mlir::AffineExpr low, high;
};

/// The range of `expr` where dimension i runs over [d<i>, d<i> + tiles[i]). Assumes that symbols are not negative, and
/// divisors are positive.
TileRange rangeOnTile(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> tiles);

} // namespace tilewright::index
