// SPDX-License-Identifier: Apache-2.0
// Replaces math operations that no instruction computes by the formulas of MathFunctions.
#pragma once

#include "backend/math/MathFunctions.h"

namespace tilewright {

/// Expands every math.exp, tanh, erf, powf, ... and arith.remf below `root`, on scalars, vectors and tiles of f16,
/// bf16, f32 and f64. What is left of the math dialect: fma, sqrt, absf, copysign, floor, ceil, trunc, round,
/// roundeven, integer operations, and what `native` names. math.exp with fastmath<afn> may be approximate.
void expandMath(mlir::Operation *root, NativeMath native = {});

} // namespace tilewright
