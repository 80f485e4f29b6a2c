// SPDX-License-Identifier: Apache-2.0
// Which operands do the blocks of a cluster read alike?
//
// A cluster's blocks take programs with neighbouring numbers. Where these are tiles of one column, as in the order that
// a schedule gives them, they multiply different rows by the same columns, so each block copies the columns of every
// other step for both.
#pragma once

#include "tilegen/place/roles/RolePlan.h"

namespace tilewright::tile {

/// For each operand of `plan`: do all programs of a cluster, which are `blocks` with consecutive numbers, copy the same
/// in each step? False for all where the number of programs is not known or no multiple of `blocks`, or too many to look at.
llvm::SmallVector<bool> readAlike(KernelOp kernel, const RolePlan &plan, int64_t blocks);

} // namespace tilewright::tile
