// SPDX-License-Identifier: Apache-2.0
// Columns: what a reduction along dimensions that are not innermost reduces to one result. A GPU's program that holds
// some of them in registers can read them again, as one that holds a row does: a softmax over a middle dimension, or a
// normalization over the pixels of an image with its channels last, is one kernel.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The elements of the longest column that one program of a GPU holds in registers.
inline constexpr int64_t longestHeldColumn = 4096;

/// Whether the columns that `op` reduces have a known length that a program can hold, where each reduced size counts as
/// the next power of two, as tiles do. Not so elements of windows, which
/// overlap in memory, and which each reduction is to read itself.
bool canHoldColumns(graph::ReduceOp op);

} // namespace tilewright::fusion
