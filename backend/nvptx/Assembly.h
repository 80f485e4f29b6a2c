// SPDX-License-Identifier: Apache-2.0
// PTX for which LLVM has no intrinsic of the form that is wanted.
#pragma once

#include "backend/gpu/GpuTarget.h"

namespace tilewright {

/// Assembly with one result. If it claims side effects, the optimizer neither moves it nor merges two of them.
mlir::Value assemblyValue(GpuTarget::Builder &b, mlir::Type result, mlir::ValueRange operands, llvm::StringRef text,
                          llvm::StringRef constraints, bool claimsEffects = false);

/// Assembly without a result that accesses memory, or orders such accesses.
void assemblyEffect(GpuTarget::Builder &b, mlir::ValueRange operands, llvm::StringRef text,
                    llvm::StringRef constraints = {});

} // namespace tilewright
