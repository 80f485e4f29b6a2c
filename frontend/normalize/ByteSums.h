// SPDX-License-Identifier: Apache-2.0
// Sums of a constant's bytes, which the zero point of the other operand is multiplied with.
#pragma once

#include "frontend/graph/GraphOps.h"

#include <optional>

namespace tilewright::normalize {

/// Sums the signed bytes of `constant`, seen through `transposes` (the outermost first), over each dimension d for
/// which places[d] is empty. The result has the other dimensions, in ascending order of their places.
llvm::SmallVector<int32_t> sumBytes(graph::ConstantOp constant, llvm::ArrayRef<mlir::Operation *> transposes,
                                    llvm::ArrayRef<std::optional<int64_t>> places);

} // namespace tilewright::normalize
