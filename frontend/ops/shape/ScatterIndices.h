// SPDX-License-Identifier: Apache-2.0
// The indices of a ScatterND as one vector for each dimension that they index.
//
// Exporters write an assignment to a slice, y[2:5, :, k] = x, as ScatterND with a tuple of indices for each element:
//
//     indices [3, 8, 3] = concat(expand([2, 3, 4] along 0), expand([0 .. 7] along 1), expand([k]))
//
// which are as many numbers as the slice has elements, times its dimensions. Each column of such tuples differs along
// one dimension only, so a vector for each says the same.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

/// The indices of one dimension of the data.
struct IndexColumn {
  std::optional<int64_t> along; // the dimension of the indices that they differ along; nullopt: one index
  Term indices;                 // a vector
  std::optional<std::vector<int64_t>> constants; // their values, if these are known when compiling
};

/// The columns of the index tuples, which are input `i`. nullopt if some column differs along several dimensions, or if
/// two columns differ along the same one.
std::optional<llvm::SmallVector<IndexColumn>> indexColumns(NodeBuilder &b, size_t i);

/// `indices`, each of which is to be from 0 to `count` - 1. They are read from a table of those numbers, so that an
/// index out of range ends the run as that of a gather does. Declines if the table would have more than 2^20 elements,
/// or none.
Term checkedIndices(NodeBuilder &b, Term indices, mlir::AffineExpr count);

} // namespace tilewright::ops
