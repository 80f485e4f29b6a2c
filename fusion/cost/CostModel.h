// What fusion costs and saves, from sizes alone: nothing is measured when compiling.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// Work of one element of `op`, in additions: 0 for what only renames or converts.
unsigned elementWork(mlir::Operation *op);

/// Why a kernel of `ops` with `geometry` would repeat work that memory should hold instead; null if it would not.
///  * What feeds a contraction is computed again for every tile of the other operand's loop.
///  * What feeds a window is computed again for every window that covers it.
///  * What is read by slices, gathers, pads and concatenations is computed again by each, wherever it is read.
///  * What is read through a broadcast is computed again for every repetition.
///  * What a window pads of a slice, a roll joins of slices, or a transpose of a concatenation makes neighbours, is
///    chosen for each element.
std::optional<Refusal> repeatedWork(llvm::ArrayRef<mlir::Operation *> ops, const Geometry &geometry);

} // namespace tilewright::fusion
