// SPDX-License-Identifier: Apache-2.0
// For which keys a mask of an attention leaves the scores as they are, as far as indices alone tell: it adds 0, or
// selects the score. A kernel need not compute the mask of such keys, nor read it.
//
//   logits = select(key <= row, scores, -inf)          keys below row + 1
//   logits = scores + constant, a triangle of 0        keys below row + 1
//
// It is said of the operation that adds or selects, for the same reason as the range of keys is said of the kernel
// (KeyRange.h), in attributes whose dimensions are the coordinates of the logits:
//
//   %x = arith.addf %scores, %mask {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 + 1)>}
#pragma once

#include "fusion/keys/KeyRange.h"

namespace tilewright::fusion {

/// Attributes of a mask. For keys from the largest result of the map `neutral_from` on, and below the smallest result
/// of `neutral_below`, its result equals its operand that comes from the scores.
inline constexpr llvm::StringLiteral neutralFromAttr = "graph.neutral_from", neutralBelowAttr = "graph.neutral_below";

struct NeutralMask {
  mlir::Operation *mask;
  unsigned scores; // the operand that comes from the scores
  KeyInterval keys;
};

/// The masks between the scores and the logits, from the logits on, that are neutral for some keys.
llvm::SmallVector<NeutralMask> findNeutralMasks(Attention attention);
/// Finds these masks and sets their attributes.
void noteNeutralMasks(Attention attention);
/// The masks of a kernel with this attention that have the attributes. Fails with a diagnostic if one is malformed.
mlir::FailureOr<llvm::SmallVector<NeutralMask>> neutralMasksOf(Attention attention);

} // namespace tilewright::fusion
