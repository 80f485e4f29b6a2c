// SPDX-License-Identifier: Apache-2.0
// Exponentials of f32 whose results are rounded to halves.
//
//   %e = math.exp %x : tensor<1x512xf32>   ->   %e = math.exp %x fastmath<afn> : tensor<1x512xf32>
//
// exp(x) is 2^(x log2 e). Rounding log2 e and the product causes a relative error of at most 1.3 |x| 2^-24, and undoing
// that, with limits that keep infinities out of it, takes nine of eleven instructions. For |x| up to 89, beyond which
// results are infinite, the error is at most 7e-6; that of rounding to f16 is 4.9e-4. Where |x| is below 3, it is no
// larger than that of a GPU's instruction for powers.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright {

/// Lets every exponential of the kernel be approximate from which only halves are computed, smoothly (SmoothUses.h).
void approximateExponentials(tile::KernelOp kernel);

} // namespace tilewright
