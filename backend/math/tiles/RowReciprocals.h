// SPDX-License-Identifier: Apache-2.0
// Divisions of a row's elements by one number, as products with its reciprocal.
//
//   %b = tile.broadcast %s                     %big = |%s| > 2^64, %small = |%s| < 2^-64
//   %q = arith.divf %x, %b              ->     %k = %big ? 2^-64 : %small ? 2^64 : 1
//                                              %r = 1 / (%s * %k)
//                                              %q = (%x * broadcast %k) * broadcast %r
//
// A GPU divides in about eight instructions, of which the reciprocal is one. With the power of two, which is a factor
// of both, the reciprocal is a normal number whatever the divisor is; it changes no digit unless the quotient is
// subnormal or infinite. 0, infinities and NaN come out as of a division. The error is that of a reciprocal and a
// product, 1.5 ulp, where NVIDIA's division has 2 (PTX ISA, "div.full").
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright {

/// Replaces the divisions of f32 of the kernel by broadcast tiles, where a thread has several elements for each divisor
/// and where quotients are used smoothly (SmoothUses.h): a quotient that is rounded to an integer keeps its division.
/// Not in kernels with contractions, where registers are short: attention has reciprocals of its own.
void divideByRowReciprocals(tile::KernelOp kernel);

} // namespace tilewright
