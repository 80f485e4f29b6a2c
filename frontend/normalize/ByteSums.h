// Sums of a constant's bytes, as the zero point of the other operand multiplies them.
#pragma once

#include "frontend/graph/GraphOps.h"

#include <optional>

namespace tilewright::normalize {

/// The sums of `constant`'s signed bytes (weights of any rank, seen through `transposes`, the outermost first) along
/// each dimension d for which places[d] is empty; the others keep their coordinates, in ascending order of their
/// places.
llvm::SmallVector<int32_t> sumBytes(graph::ConstantOp constant, llvm::ArrayRef<mlir::Operation *> transposes,
                                    llvm::ArrayRef<std::optional<int64_t>> places);

} // namespace tilewright::normalize
