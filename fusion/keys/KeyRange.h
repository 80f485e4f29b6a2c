// SPDX-License-Identifier: Apache-2.0
// Which keys count in a row of an attention, as far as indices alone tell: under causal masks and sliding windows.
//
//   logits = select(key <= row + past, scores, -inf)           keys below row + past + 1
//   logits = scores + constant, a triangle of 0 and -65504     keys below row + 1
//
// All other keys have weight 0 (docs/decisions.md, "Keys that a mask excludes are not visited"), so that a kernel needs
// not visit them. Fusion sees what the mask is computed from, which the kernel may not: it takes a mask that several
// layers share as an argument. So fusion says it of the kernel, in attributes whose dimensions are the coordinates of
// the logits:
//
//   graph.keys_below = affine_map<(d0, d1, d2)[s0, s1] -> (d1 + s0 + 1)>
#pragma once

#include "fusion/Attention.h"
#include "fusion/keys/KeySpace.h"

namespace tilewright::fusion {

/// Attributes of a kernel. The keys that count in a row begin at the largest result of the map `keys_from` and end
/// below the smallest result of `keys_below`. An absent attribute sets no bound.
inline constexpr llvm::StringLiteral keysFromAttr = "graph.keys_from", keysBelowAttr = "graph.keys_below";

/// The keys that count in a row are at least all of `from`, and below all of `below`.
using KeyRange = KeyInterval;

/// The range of keys, found by following the logits back to the scores. No bounds where nothing is proved.
KeyRange findKeyRange(Attention attention);

/// What the attributes of a kernel with this attention say. Fails with a diagnostic if one is no map of the logits'
/// coordinates other than the key.
mlir::FailureOr<KeyRange> keyRangeOf(graph::KernelOp kernel, Attention attention);
/// Sets these attributes; `rank` is that of the logits.
void setKeyRange(graph::KernelOp kernel, const KeyRange &range, unsigned rank);

/// The same for two attributes of any operation, named `from` and `below`, whose maps take the coordinates of the
/// logits.
void setInterval(mlir::Operation *op, llvm::StringRef from, llvm::StringRef below, const KeyInterval &keys,
                 unsigned rank);
mlir::FailureOr<KeyInterval> intervalOf(mlir::Operation *op, llvm::StringRef from, llvm::StringRef below,
                                        Attention attention);

} // namespace tilewright::fusion
