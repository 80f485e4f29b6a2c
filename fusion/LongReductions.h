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
/// one that may be the softmax of an attention, stay whole; and so do those of rows of at most `longestHeldRow`
/// elements that are read again with the results, since the blocks of a cluster hold such rows.
void splitLongReductions(mlir::func::FuncOp main, Machine machine, int64_t longestHeldRow);

/// Where the squares of what a mean was subtracted from are summed in parts, each reader subtracts the mean itself:
///
///     %c = subf %x, %mean                          %c = subf %x, %mean       %d = subf %x, %mean
///     sum of parts (mulf %c, %c); mulf %c, %r  ->  sum of parts (mulf %c, %c); mulf %d, %r
///
/// The readers are kernels of their own, since whole sums lie between them. What they would share had to be stored, as
/// singles, by one more kernel.
void centerForEachReader(mlir::func::FuncOp main);

} // namespace tilewright::fusion
