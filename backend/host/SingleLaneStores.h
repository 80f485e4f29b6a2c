// SPDX-License-Identifier: Apache-2.0
// Masked stores of one lane become stores of one element.
//
// Works around code generation of LLVM 22 for x86: a masked store of a truncated vector whose constant mask has one
// lane is turned into a store of that lane before it was truncated, which overwrites what lies behind.
//
//   %t = trunc <16 x i32> %v to <16 x i16>              %e = extractelement <16 x i16> %t, 0
//   masked.store(%t, %p, <true, false, false, ...>)     store i16 %e, %p
//   becomes vmovd [p], xmm0: four bytes                 vpextrw [p], xmm0, 0: two
#pragma once

#include "llvm/IR/Module.h"

namespace tilewright::host {

void storeSingleLanes(llvm::Module &module);

} // namespace tilewright::host
