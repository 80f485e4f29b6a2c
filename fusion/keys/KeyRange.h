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

/// On a kernel: keys count in a row from the largest result of the one, and below the smallest of the other.
inline constexpr llvm::StringLiteral keysFromAttr = "graph.keys_from", keysBelowAttr = "graph.keys_below";

/// The keys that count in a row are at least all of `from`, and below all of `below`.
using KeyRange = KeyInterval;

/// What the operations say that the logits are computed from.
KeyRange findKeyRange(Attention attention);

/// What the attributes of a kernel with this attention say; fails with a diagnostic.
mlir::FailureOr<KeyRange> keyRangeOf(graph::KernelOp kernel, Attention attention);
void setKeyRange(graph::KernelOp kernel, const KeyRange &range, unsigned rank);

/// Two attributes of an operation, `from` and `below`, whose maps take the coordinates of the logits.
void setInterval(mlir::Operation *op, llvm::StringRef from, llvm::StringRef below, const KeyInterval &keys,
                 unsigned rank);
mlir::FailureOr<KeyInterval> intervalOf(mlir::Operation *op, llvm::StringRef from, llvm::StringRef below,
                                        Attention attention);

} // namespace tilewright::fusion
