// SPDX-License-Identifier: Apache-2.0
// How many elements values have, and how often loops run, for estimates: sizes that are not known count as `unknown`.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The assumed value of symbols.
inline constexpr int64_t nominalSize = 64;

llvm::SmallVector<int64_t> nominalSizes(mlir::Value value, int64_t unknown = nominalSize);

/// In floating point, since sizes may be anything.
double elementsOf(mlir::Value value, int64_t unknown = nominalSize);

/// Iterations of those loops of operand `side` that map `without` does not name.
double iterationsWithout(graph::ContractOp op, unsigned side, unsigned without, int64_t unknown = nominalSize);

} // namespace tilewright::fusion
