// SPDX-License-Identifier: Apache-2.0
// The group stage: normalized graph IR in, kernels and their launches out.
//
//   func.func @main(%x, %w, %b) {             func.func @main(%x, %w, %b) {
//     %0 = graph.contract %x, %w                %0 = graph.launch @gemm_relu(%x, %w, %b)
//     %1 = graph.broadcast %b                   return %0
//     %2 = arith.addf %0, %1           ->     }
//     %3 = arith.maximumf %2, %zero           graph.kernel @gemm_relu(%x, %w {graph.constant}, %b {graph.constant}) {
//     return %3                                 ...
//   }                                         }
#pragma once

#include "fusion/FusionMode.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace tilewright::fusion {

struct FusionReport;

/// Afterwards @main contains only launches, host calls, constants, sizes, and reshapes as views, and `analyze` accepts
/// every kernel and tells its root. Fills `report` if it is given.
mlir::LogicalResult formGroups(mlir::ModuleOp module, FusionOptions options, FusionReport *report = nullptr);

} // namespace tilewright::fusion
