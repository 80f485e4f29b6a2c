// SPDX-License-Identifier: Apache-2.0
// Finds out, for the report, why each remaining edge between groups was not fused.
#pragma once

#include "fusion/FusionReport.h"
#include "fusion/groups/OutlineGroups.h"
#include "fusion/products/JoinProducts.h"

namespace tilewright::fusion {

/// A report whose launches do not have the names of their kernels yet.
struct UnnamedReport {
  FusionReport report;
  llvm::SmallVector<Group *> groups; // of each launch
};

/// Describes the groups before they are outlined, because outlining moves the operations and their ONNX nodes away.
UnnamedReport explainFusion(const GroupGraph &graph, FusionOptions options, llvm::ArrayRef<Join> joins,
                            mlir::ModuleOp module);

/// Adds the names of the kernels after outlining.
FusionReport withKernelNames(UnnamedReport unnamed, const OutlinedGroups &outlined);

} // namespace tilewright::fusion
