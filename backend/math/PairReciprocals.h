// SPDX-License-Identifier: Apache-2.0
// One reciprocal for two divisions.
//
// A GPU computes a reciprocal at an eighth of the rate of a product, and a GELU of many elements waits for its
// reciprocals and powers. Two divisors, both at least 1, need one reciprocal:
//
//   r = 1 / (a b),   1 / a = b r,   1 / b = a r
//
// So that a b stays in range, both are cut at 2^60, and so that a NaN stays where it is, 1 / a is the lesser of b r and
// a, which is a NaN if a is one.
#pragma once

#include "mlir/IR/Operation.h"

namespace tilewright {

/// On a division that ReciprocalDivisions.h marks as well: its divisor is at least 1, and an error of 2^-60 in the
/// reciprocal does not matter.
constexpr llvm::StringLiteral mayPairAttr = "tilewright.may_pair";

/// Computes marked divisions of f32 in pairs, where a block below `root` has several, and operations can be moved so
/// that both divisors are known before the first quotient is used. Of scalars.
void pairReciprocals(mlir::Operation *root);

} // namespace tilewright
