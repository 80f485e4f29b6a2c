// SPDX-License-Identifier: Apache-2.0
//===- Passes.td - the stage "group" as a pass, for tilewright-opt ------------------------------------------------===//
#ifndef TILEWRIGHT_FUSION_PASSES
#define TILEWRIGHT_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def FormGroupsPass : Pass<"tilewright-group-form-groups", "::mlir::ModuleOp"> {
  let summary = "Form groups of operations and outline each as a kernel";
  let description = [{
    The whole stage: @main keeps a graph.launch for each group, whose operations become a graph.kernel; equal groups
    share one. The module must be normalized (tilewright-normalize-graph) for groups to be found as in a compile.
  }];
  let options = [Option<"mode", "mode", "std::string", "\"all\"", "none, epilogue or all, as --fuse spells it">,
                 Option<"attention", "attention", "std::string", "\"all\"",
                        "Which softmaxes are fused with the contractions around them: none, large, halves, floats or "
                        "all">,
                 Option<"explain", "explain", "std::string", "\"none\"",
                        "Print why edges are not fused: none, text or json">,
                 Option<"cpu", "cpu", "bool", "false",
                        "Join and pair products, and split reductions, as it pays on a CPU">,
                 Option<"copiedColumns", "copied-columns", "int64_t", "0",
                        "Copy windows of singles that are multiplied by so many columns or more; 0: none">,
                 Option<"pixelColumns", "pixel-columns", "int64_t", "0",
                        "Leave windows of singles that are multiplied by so many columns or more to an engine that "
                        "walks pixels, with channels last; 0: none">,
                 Option<"longestHeldRow", "longest-held-row", "int64_t", "0",
                        "Elements of a row that the blocks of a cluster can hold; 0: there are no clusters">,
                 Option<"walksPixels", "walks-pixels", "bool", "false",
                        "Read windows of few channels as rows that an engine brings which walks pixels">];
  let dependentDialects = ["::tilewright::graph::GraphDialect"];
}

#endif
