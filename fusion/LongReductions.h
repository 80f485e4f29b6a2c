// SPDX-License-Identifier: Apache-2.0
// Long reductions with few results become two: parts of them, which are independent of each other, and then the parts'
// results.
//
//     %s = reduce <sum> %x axes [1, 2]        %p = reshape %x           [8, 800, 800, 16] -> [8, 100, 8, 800, 16]
//          [8, 800, 800, 16] -> [8, 16]   ->  %q = reduce <sum> %p axes [2, 3]            -> [8, 100, 16]
//                                             %s = reduce <sum> %q axes [1]               -> [8, 16]
//
// One program computes a tile of results from beginning to end, so a mean over a whole image would leave most of a GPU
// idle; and 640,000 numbers added one after the other in float32 lose five digits.
#pragma once

#include "fusion/FusionMode.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Splits the reductions of `main` that pay on this machine. A reduction of sizes that are only known at run time, and
/// one that may be the softmax of an attention, stay whole.
void splitLongReductions(mlir::func::FuncOp main, Machine machine);

} // namespace tilewright::fusion
