// SPDX-License-Identifier: Apache-2.0
// Convolutions of many groups of few channels multiply some groups together.
//
//     %g = reshape %x   [n, 32, 4, y, x]                    %g = reshape %x       [n, y, x, 2, 64]   (turned before)
//     %w = window %g    [n, 32, 4, y, x, 3, 3]         ->   %w = window %g        [n, y, x, 3, 3, 2, 64]
//     %y = contract %w, %filter [32, 4, 4, 3, 3]            %y = contract %w, %blocks [2, 64, 64, 3, 3]
//
// A matrix unit multiplies no fewer than 8 columns, a block of threads hardly fewer than 32, and copies take 16 bytes
// or more, so that groups of four channels leave seven eighths of them idle and read their image element by element.
// Sixteen such groups are one of 64 channels whose filter has zeros beside the diagonal: sixteen times the products, in
// a fraction of the time, since they are what the units are made for.
//
// A channel that is infinite or no number reaches the results of the other groups that it is multiplied with.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Rewrites contractions of windows with groups and constant filters, of images [batch, groups, channels, y, x] or
/// [batch, y, x, groups, channels]: of halves, and of large ones of float32 if `singles`. The image is turned channels
/// last. Groups of one channel, which are sums over windows, stay as they are, and so do groups for which no number of
/// groups together gives channels that copies bring well.
void widenGroups(mlir::func::FuncOp main, bool singles);

} // namespace tilewright::fusion
