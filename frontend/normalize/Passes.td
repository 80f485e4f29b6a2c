// SPDX-License-Identifier: Apache-2.0
//===- Passes.td - the stage "normalize" as a pass, for tilewright-opt --------------------------------------------===//
#ifndef TILEWRIGHT_NORMALIZE_PASSES
#define TILEWRIGHT_NORMALIZE_PASSES

include "mlir/Pass/PassBase.td"

def NormalizeGraphPass : Pass<"tilewright-normalize-graph", "::mlir::ModuleOp"> {
  let summary = "Give graphs that mean the same one spelling";
  let description = [{
    Works on @main. Accesses are composed, transposes and reshapes moved until they cancel, integer products found
    behind their casts, and operations ordered by the structure of the graph alone.
  }];
  let dependentDialects = ["::tilewright::graph::GraphDialect"];
}

#endif
