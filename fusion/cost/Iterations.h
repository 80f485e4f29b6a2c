// SPDX-License-Identifier: Apache-2.0
// How many elements values have, and how often loops run, for estimates: sizes that are not known count as `unknown`.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The assumed value of symbols.
inline constexpr int64_t nominalSize = 64;

/// The sizes of a tensor, with every symbol taken as `unknown`.
llvm::SmallVector<int64_t> nominalSizes(mlir::Value value, int64_t unknown = nominalSize);

/// The number of elements of a tensor, in floating point, since it may exceed an integer.
double elementsOf(mlir::Value value, int64_t unknown = nominalSize);

/// Iterations of those loops of operand `side` (0 or 1) that operand `without` does not have; 2 is the result.
double iterationsWithout(graph::ContractOp op, unsigned side, unsigned without, int64_t unknown = nominalSize);

} // namespace tilewright::fusion
