// SPDX-License-Identifier: Apache-2.0
// Elements of bfloat vectors are moved as 16-bit words.
//
// Works around code generation of LLVM 22 for x86 without AVX512-BF16: it builds a vector of bfloat elements by
// extending each to float and rounding it back, for which it calls a function of the compiler's runtime library, which
// artifacts do not have.
//
//   %v = insertelement <32 x bfloat> poison, bfloat %x, i64 0       %w = bitcast bfloat %x to i16
//   %s = shufflevector <32 x bfloat> %v, poison, zeros              the same of <32 x i16>, and a bitcast at the end
#pragma once

#include "llvm/IR/Module.h"

namespace tilewright::host {

void moveBrainsAsWords(llvm::Module &module);

} // namespace tilewright::host
