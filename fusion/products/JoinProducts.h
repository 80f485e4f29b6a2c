// SPDX-License-Identifier: Apache-2.0
// Products of the same left side become one: query, key and value of an attention layer, branches of a network.
#pragma once

#include "fusion/products/JoinVerdict.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <limits>
#include <vector>

namespace tilewright::fusion {

struct Join {
  llvm::SmallVector<int64_t> nodes; // the ONNX nodes of the products
  JoinVerdict verdict;
};

/// No limit for the rows of products that are joined.
inline constexpr int64_t anyRows = std::numeric_limits<int64_t>::max();
/// The most rows of products that are joined on a CPU. A core computes tile after tile, so joining saves little more
/// than a launch, while the joined result's rows are longer, and readers of a slice find theirs farther apart. Measured
/// on one thread, time of BERT-base relative to three products: 1 to 32 rows 0.97 to 1.00, 128 rows 1.02.
inline constexpr int64_t joinedRowsOfCpus = 16;

/// Joins the products of one left side where that pays, and returns what was decided about each set of them. Products
/// of more than `mostRows` rows stay apart, and so do those of a run-time number of rows, unless it is `anyRows`. Runs
/// before there are groups.
std::vector<Join> joinProducts(mlir::func::FuncOp main, int64_t mostRows);

} // namespace tilewright::fusion
