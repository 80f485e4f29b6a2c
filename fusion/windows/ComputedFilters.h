// SPDX-License-Identifier: Apache-2.0
// Filters that are computed are stored in the order in which a convolution sums.
//
//     %w = window %x dims [1, 2]                      %t = transpose %f perm [0, 1, 3, 4, 2]
//     contract %w [n, y, x, ky, kx, c],        ->     contract %w [n, y, x, ky, kx, c],
//              %f [n, m, c, ky, kx]                            %t [n, m, ky, kx, c]
//
// Constants are packed as a kernel reads them. A filter that is computed for each image (modulated convolutions) lies
// as the model has it, taps innermost, so that neighbours in memory are neighbours neither along the sum nor among the
// columns. A GPU would gather its elements one by one, again for every tile of pixels. The kernel that computes the
// filter stores it in the other order without another pass.
#pragma once

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

/// Whether side `filter` of a contraction is multiplied with windows whose channels a GPU copies (copiesChannels).
bool isFilterOfCopies(graph::ContractOp contract, unsigned filter);

/// Transposes such filters of `main` that are no constants, and in which neighbours are neither channels nor columns or
/// that are gathered from where channels are neighbours.
void turnComputedFilters(mlir::func::FuncOp main);

} // namespace tilewright::fusion
