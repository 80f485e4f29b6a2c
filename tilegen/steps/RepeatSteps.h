// SPDX-License-Identifier: Apache-2.0
// Stage "tile": the loop of steps around a program that computes one step.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tilegen {

/// Puts a loop around the program of `kernel`, which computes one step of `steps`, its `count` in the kernel's symbols.
/// Arguments become those of a launch (StepsAttr). Every `blocks` blocks along the grid are a cluster and meet at the
/// end of each step. `arguments` is how many of the kernel's buffers are arguments; results follow.
void repeatSteps(tile::KernelOp kernel, graph::StepsAttr steps, mlir::AffineExpr count, unsigned arguments,
                 int64_t blocks);

} // namespace tilewright::tilegen
