// SPDX-License-Identifier: Apache-2.0
// The cost of fusion: work that would be repeated, computed from sizes alone.
#pragma once

#include "fusion/FusionMode.h"
#include "fusion/Geometry.h"

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The work for one element of `op`, in additions; 0 for accesses and conversions.
unsigned elementWork(mlir::Operation *op);

/// The readers of a transpose for which its result should be in memory, because they would read its operand with a
/// stride again and again. Empty if there are none.
///  * Gathers, slices, rolls and pads that read along rows, and on a CPU windows and broadcasts, if together they read
///    each element twice or more.
///  * On a GPU, windows whose channels could be copied (windows/ChannelsLast.h), however often they read an element.
/// The operand of the transpose has another dimension innermost, so a reader through the transpose collects elements
/// that lie apart. The transpose's producer, or a kernel of its own, does that once. Measured on the host: the half of
/// a bilinear resize that reads two rows for each takes 4.5 times the kernel that reads rows of the transposed image,
/// and the ranks of 150 transposed distances take 7 times.
llvm::SmallVector<mlir::Operation *> repeatedStrides(graph::TransposeOp transpose, Machine machine);

/// Why a kernel of `ops` with `geometry` would repeat work whose result is better kept in memory; nullopt if it would
/// not.
///  * An operand of a contraction is computed again for every tile along the other operand's loop. Weights that are
///    stored in few bytes may be, as long as rows are few or `machine` keeps what it computes for many in its caches.
///  * The operand of a window is computed again for every window that covers it. Windows that are to be copied
///    (windows/SingleWindows.h) are in no kernel with their contraction.
///  * The operand of a slice, roll, gather, pad or concatenation is computed again by each of them.
///  * The operand of a broadcast is computed again for every repetition.
///  * The operand of a transpose is read with a stride by each of its `repeatedStrides`.
///  * Rows of a reduction that are regrouped from a transpose collect elements that lie apart.
///  * A window that pads a slice, a concatenation of slices, and a transpose of a concatenation (a channel shuffle)
///    compute for each element which source it comes from.
std::optional<Refusal> repeatedWork(llvm::ArrayRef<mlir::Operation *> ops, const Geometry &geometry, Machine machine);

/// Why an attention of `ops` is no faster on a core than its three kernels: scores that stay in the caches, or too few
/// rows to share the keys. Unknown sizes count as large enough.
std::optional<Refusal> smallAttention(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace tilewright::fusion
