// SPDX-License-Identifier: Apache-2.0
// The logits of an attention as a multiple of smaller numbers, so that a softmax multiplies once where it would scale
// the scores and then turn the base of its exponential from e to 2:
//
//   logits = scale units
//   exp(logits - max logits) = exp2((scale log2 e) units - (scale log2 e) max units)
//
// The product and the difference are one instruction. A model's own order, the difference first, survives logits
// that are close to the largest float, such as those of a mask that adds the lowest one; the product would not, so the
// magnitude of the units must be known to leave room for it.
#pragma once

#include "fusion/Attention.h"

namespace tilewright::fusion {

struct ScaledLogits {
  mlir::Value units;
  double scale = 1; // positive
};

/// What `value` is a positive constant times of, and that constant; null if it is none, or so small or large that a
/// product might vanish or overflow.
std::pair<mlir::Value, double> withoutFactor(mlir::Value value);

/// The logits with the positive constants that they are multiplied by last as `scale`. nullopt where units might be too
/// large. Scores are taken to be at most 2^100: beyond that they are a factor of 2^28 from infinity.
std::optional<ScaledLogits> scaledLogits(Attention attention);

/// Moves a scale behind the masks that follow it, so that it is what multiplies the logits last:
///
///   scale scores + mask = scale (scores + mask / scale)
///
/// Changes nothing where units might be too large.
void scaleLast(Attention attention);

} // namespace tilewright::fusion
