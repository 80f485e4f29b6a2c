// SPDX-License-Identifier: Apache-2.0
// The normalize stage: brings graphs that compute the same into one form, so that later stages depend neither on the
// exporter nor on the order of nodes in the file.
//
//  * Accesses are composed. Transposes sink until they cancel or become part of a contraction's maps (which makes whole
//    CNNs channels-last). Reshapes that split dimensions sink and reshapes that merge dimensions rise, so that
//    elementwise operations have as few loops as possible.
//  * Operations, and the operands of commutative operations, are ordered by the structure of the graph alone.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace tilewright {

/// Normalizes @main of `module`. Fails with a diagnostic if there is none, or if rewrites undo each other.
mlir::LogicalResult normalizeGraph(mlir::ModuleOp module);

} // namespace tilewright
