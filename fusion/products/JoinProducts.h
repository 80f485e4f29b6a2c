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

inline constexpr int64_t anyRows = std::numeric_limits<int64_t>::max();
/// On a CPU. A core computes tile after tile, so that joining saves little more than a launch, while the readers of
/// many rows pay for their distance. Measured on one thread, time of BERT-base relative to three products: 1 to 32 rows
/// 0.97 to 1.00, 128 rows 1.02.
inline constexpr int64_t joinedRowsOfCpus = 16;

/// Joins what pays, before there are groups, and says what was decided. More than `mostRows` rows stay apart, and so
/// does a run-time number of rows if there is a limit.
std::vector<Join> joinProducts(mlir::func::FuncOp main, int64_t mostRows);

} // namespace tilewright::fusion
