// SPDX-License-Identifier: Apache-2.0
//===- RootKind.td - the kinds of kernels -------------------------------------------------------------------------===//
//
// Included by GraphOps.td. The one place that spells a root's name: IR, reports and file names get it from here.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_ROOT_KIND
#define TILEWRIGHT_ROOT_KIND

include "mlir/IR/EnumAttr.td"

/// What a kernel is built around. Fusion says it of every graph.kernel; a schedule says as which of them the kernel is
/// computed. tilegen/roots/RootTable.cpp has a row for each: its iteration space, its schedules, its emitter.
def RootKind : I32EnumAttr<"RootKind", "what a kernel is built around", [
    I32EnumAttrCase<"Pointwise", 0, "pointwise">,        // no reduction
    I32EnumAttrCase<"RowReduction", 1, "row_reduction">, // reductions over the innermost loops: softmax, norms
    I32EnumAttrCase<"Matmul", 2, "matmul">,              // one contraction
    I32EnumAttrCase<"Window", 3, "window">,              // reductions over loops that are not the innermost: pooling
    I32EnumAttrCase<"Gemv", 4, "gemv">,                  // schedules only: a contraction as sums along rows
    I32EnumAttrCase<"Attention", 5, "attention">]> {     // two contractions around a softmax of rows
  let cppNamespace = "::tilewright::graph";
  let genSpecializedAttr = 0;
}

#endif
