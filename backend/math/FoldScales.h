// SPDX-License-Identifier: Apache-2.0
// Products with constants, moved to where they cost nothing.
//
// Epilogues of large matrix products run at the clock that a GPU's power cap allows, so each instruction counts. A GELU
// multiplies by four constants, of which none needs an instruction of its own:
//
//   0.5 x (r + r)                              ->   x r
//   (x + 0.0447 x x x) 0.798 (-2.885)          ->   x (-0.103 x x - 2.302)
//
// Each rewrite leaves out roundings, and none subtracts what was not subtracted before, so results are as accurate.
#pragma once

#include "mlir/IR/Operation.h"

namespace tilewright {

/// Rewrites products of f32 below `root`, of scalars, vectors or tiles; what they were computed from stays, maybe
/// without a use. To be called before functions are expanded: some formulas split a constant into parts on purpose.
void foldScales(mlir::Operation *root);

} // namespace tilewright
