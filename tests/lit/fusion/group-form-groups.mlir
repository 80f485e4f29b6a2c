// RUN: tilewright-opt %s --tilewright-group-form-groups=mode=all | FileCheck %s --check-prefix=ALL
// RUN: tilewright-opt %s --tilewright-group-form-groups=mode=none | FileCheck %s --check-prefix=NONE
// RUN: tilewright-opt %s --tilewright-group-form-groups='mode=none explain=text' -o /dev/null | FileCheck %s --check-prefix=EXPLAIN
// RUN: not tilewright-opt %s --tilewright-group-form-groups=mode=some 2>&1 | FileCheck %s --check-prefix=WRONG

// Two nodes are one kernel, or one each; equal kernels are shared.
// ALL: func.func @main
// ALL-COUNT-1: graph.launch
// ALL-NOT: graph.launch
// ALL: graph.kernel
// ALL: math.absf
// ALL: arith.negf
// NONE: func.func @main
// NONE-COUNT-2: graph.launch
// NONE-NOT: graph.launch
// NONE: graph.kernel
// NONE: graph.kernel
// EXPLAIN: abs
// WRONG: expected mode none, epilogue or all, got 'some'
module attributes {graph.nodes = ["abs|Abs", "neg|Neg"], graph.symbols = []} {
  func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
    %a = math.absf %x {graph.node = 0 : i64} : tensor<8x64xf32>
    %n = arith.negf %a {graph.node = 1 : i64} : tensor<8x64xf32>
    return %n : tensor<8x64xf32>
  }
}
