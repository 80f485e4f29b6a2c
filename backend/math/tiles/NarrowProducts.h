// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f32 on small integers and halves, whose result is rounded to half, done in halves where that gives the
// same bits.
//
//   %q = arith.sitofp %n : i32 to f32            %q = arith.sitofp %n : i32 to f16
//   %c = arith.subf %q, %z                       %c = arith.subf %q, %z'
//   %s = arith.extf %scale : f16 to f32    ->
//   %w = arith.mulf %c, %s                       %w = arith.mulf %c, %scale
//   %h = arith.truncf %w : f32 to f16
//
// The product of two halves has at most twice their digits, so f32 holds it exactly: it was rounded once, to half, and
// a multiplication of halves rounds once too. Halves take half the registers, and one instruction computes two of them,
// which matters in products with weights of four bits: most of their instructions compute weights.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright {

/// Narrows every product of the kernel that is rounded to f16 or bf16 and whose factors are such numbers exactly.
void narrowProducts(tile::KernelOp kernel);

} // namespace tilewright
