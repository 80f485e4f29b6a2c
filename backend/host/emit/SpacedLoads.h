// SPDX-License-Identifier: Apache-2.0
// Loads of elements a few apart, as every second column of an image.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace tilewright::host {

/// The largest step for which whole vectors and permutations are faster than a gather, which takes an access for each
/// lane.
inline constexpr int64_t mostSpacing = 4;

/// Elements 0, step, 2 * step, ... (`width` of them) at `pointer`: as many vector loads as `step` says, which touch
/// nothing behind the last element, merged by permutations. With a mask, lanes that are off are not touched, and have
/// any value.
llvm::Value *loadSpaced(llvm::IRBuilderBase &ir, llvm::Value *pointer, llvm::Type *element, llvm::Align align,
                        unsigned width, int64_t step, llvm::Value *mask);

} // namespace tilewright::host
