// SPDX-License-Identifier: Apache-2.0
// The affine map between integers and reals that the quantized operators share:  real = (integer - zero) * scale.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// (x - zero) * scale. Both parameters may be undefined (0 and 1) and broadcast to x.
std::vector<double> dequantize(const Tensor &x, const Tensor &scale, const Tensor &zero);

/// Rounds value / scale to nearest even, adds zero, and saturates to the type of `zero`. Both parameters broadcast to
/// `shape`.
Tensor quantize(const std::vector<double> &values, const Shape &shape, const Tensor &scale, const Tensor &zero);

/// Rounds to nearest even and saturates to an integer type.
double roundTo(double value, DType type);

} // namespace tilewright::reference
