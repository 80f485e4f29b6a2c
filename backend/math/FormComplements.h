// SPDX-License-Identifier: Apache-2.0
// 1 + erf(x) and 1 + tanh(x), as in GELUs. The addition of 1 keeps no relative accuracy near 0 anyway, so functions
// with a small absolute error are as good, and cheaper:
//
//   1 + erf(x)                    erfc(-x)
//   x (1 + erf(c x)) / 2, c > 0   max(x, 0) - |x| erfc(c |x|) / 2, where the target has an exp2, and c is about 1
//   1 + tanh(x)                   2 / (1 + exp(-2 x)), where the target has an exp2
#pragma once

#include "backend/math/MathFunctions.h"

namespace tilewright {

/// Replaces these sums and products below `root`, on scalars, vectors or tiles; what computed a product stays, without
/// a use. To be called before functions are expanded.
void formComplements(mlir::Operation *root, NativeMath native);

} // namespace tilewright
