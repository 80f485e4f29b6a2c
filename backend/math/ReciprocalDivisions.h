// SPDX-License-Identifier: Apache-2.0
// Finds the divisions for which multiplying by an approximate reciprocal is accurate enough.
//
// A GPU's reciprocal treats subnormal operands and results as zeros: 1/b is wrong for subnormal b, and zero for |b| >
// 2^126. A division that is right for every b scales both operands first, which takes most of its instructions. The
// divisor's range follows from how it is computed: 1 + exp(-x) of a sigmoid and 1 + |x| of a softsign need no scaling.
#pragma once

#include "mlir/IR/Operation.h"

namespace tilewright {

/// On an arith.divf: the divisor is a normal number; and it is at most 2^126, or the dividend is at most 1 (then only
/// results that are subnormal become zero).
constexpr llvm::StringLiteral byReciprocalAttr = "tilewright.by_reciprocal";

/// Marks the divisions of f32 below `root` for which that can be proved. To be called before math functions are
/// expanded: the ranges follow from them.
void markReciprocalDivisions(mlir::Operation *root);

} // namespace tilewright
