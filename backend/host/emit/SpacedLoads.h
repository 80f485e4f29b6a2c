// SPDX-License-Identifier: Apache-2.0
// Loads of every second, third or fourth element, such as every second column of an image.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace tilewright::host {

/// The largest step for which whole vectors and permutations are faster than a gather, which takes an access for each
/// lane.
inline constexpr int64_t mostSpacing = 4;

/// Elements 0, step, 2 * step, ... (`width` of them) at `pointer`: `step` vector loads, merged by permutations, which
/// read nothing behind the last element. With a mask, elements of lanes that are off are not read, and their values are
/// undefined.
llvm::Value *loadSpaced(llvm::IRBuilderBase &ir, llvm::Value *pointer, llvm::Type *element, llvm::Align align,
                        unsigned width, int64_t step, llvm::Value *mask);

} // namespace tilewright::host
