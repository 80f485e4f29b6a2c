// SPDX-License-Identifier: Apache-2.0
// In which order the elements of a tile are best read and written: along rows, a short run at a time, or by columns.
//
// A row whose elements lie apart in memory would be gathered or scattered one by one. Where elements of one column lie
// together instead, square blocks are read or written by columns and transposed in registers.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::host {

/// All loads that `value` is computed from may read a row in contiguous runs of one length, counted from the row's
/// start, such as the columns of a window. Returns that length if it is short; 0 if it is long or there is none.
/// `masks`: whether accesses to elements of less than 32 bits can be masked.
int64_t shortRunOfRow(mlir::Value value, bool masks);

/// The widest vector along `axis`, from `narrow` to `widest` elements, that `store` can write without a scatter.
/// Narrower ones than `widest` are for stores that are contiguous only within blocks.
unsigned widestStore(tile::StoreOp store, unsigned axis, unsigned widest, unsigned narrow);

/// The axis along which vectors of `value` lie. A tile of one column, such as the sums of a reduction along rows, has
/// them along the innermost axis that is longer.
unsigned laneAxisOf(mlir::Value value);

/// Whether `store` writes neighbours along `axis` together, `lanes` of them at least.
bool storesAlong(tile::StoreOp store, unsigned axis, unsigned lanes);

/// Whether `load` is one row that has to be gathered and is broadcast to many rows, so that it pays to gather it once,
/// into a buffer.
bool isGatheredOnce(tile::LoadOp load);

/// Whether `store` would scatter each row of its tile, but stores `lanes` rows of one column together.
bool storesTransposed(tile::StoreOp store, unsigned lanes);

/// Whether each row of `value`, a load perhaps converted, would be gathered, while `lanes` rows of one column lie
/// together.
bool loadsTransposed(mlir::Value value, unsigned lanes);

/// Appends the loads for which loadsTransposed is true, of those that `value` is computed from element by element.
void collectTransposedLoads(mlir::Value value, unsigned lanes, llvm::SmallVectorImpl<mlir::Value> &result);

} // namespace tilewright::host
