// Reductions over the same rows form one kernel with the elementwise work before, between and after them. The residual sum
// before a normalization is stored too, because others read it.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=none | FileCheck %s --check-prefix=NONE
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all cpu=true' | FileCheck %s --check-prefix=CPU
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=json' -o /dev/null | FileCheck %s --check-prefix=JSON

// JSON: "rules": [
// JSON-NEXT: "reduction-epilogue",
// JSON-NEXT: "reduction-chain",
// JSON-NEXT: "reduction-prologue"
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @scale_softmax(%arg0)
// CHECK-NOT: graph.launch
// CHECK: graph.kernel @scale_softmax
// CHECK: graph.reduce <max>
// CHECK: graph.reduce <sum>
// NONE-LABEL: func.func @main
// NONE: graph.launch @scale(
// NONE: graph.launch @softmax(
// NONE-NEXT: return
module attributes {graph.nodes = ["s|Scale", "p|Softmax"]} {
  func.func @main(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
    %c = arith.constant dense<0.125> : tensor<64x1000xf32>
    %0 = arith.mulf %x, %c {graph.node = 0 : i64} : tensor<64x1000xf32>
    %1 = graph.reduce <max> %0 axes [1] {graph.node = 1 : i64} : tensor<64x1000xf32> -> tensor<64xf32>
    %2 = graph.broadcast %1 dims [0] {graph.node = 1 : i64} : tensor<64xf32> -> tensor<64x1000xf32>
    %3 = arith.subf %0, %2 {graph.node = 1 : i64} : tensor<64x1000xf32>
    %4 = math.exp %3 {graph.node = 1 : i64} : tensor<64x1000xf32>
    %5 = graph.reduce <sum> %4 axes [1] {graph.node = 1 : i64} : tensor<64x1000xf32> -> tensor<64xf32>
    %6 = graph.broadcast %5 dims [0] {graph.node = 1 : i64} : tensor<64xf32> -> tensor<64x1000xf32>
    %7 = arith.divf %4, %6 {graph.node = 1 : i64} : tensor<64x1000xf32>
    return %7 : tensor<64x1000xf32>
  }
}

// -----

// NONE-LABEL: func.func @main
// NONE: graph.launch @add(
// NONE: graph.launch @norm(
// NONE-NEXT: return
// CHECK-LABEL: func.func @main
// CHECK: %[[L:.*]]:2 = graph.launch @add_norm
// CHECK-NEXT: return %[[L]]#1, %[[L]]#0
module attributes {graph.nodes = ["a|Add", "n|Norm"]} {
  func.func @main(%x: tensor<64x768xf32>, %r: tensor<64x768xf32>) -> (tensor<64x768xf32>, tensor<64x768xf32>) {
    %0 = arith.addf %x, %r {graph.node = 0 : i64} : tensor<64x768xf32>
    %1 = graph.reduce <sum> %0 axes [1] {graph.node = 1 : i64} : tensor<64x768xf32> -> tensor<64xf32>
    %n = arith.constant dense<768.0> : tensor<64xf32>
    %2 = arith.divf %1, %n {graph.node = 1 : i64} : tensor<64xf32>
    %3 = graph.broadcast %2 dims [0] {graph.node = 1 : i64} : tensor<64xf32> -> tensor<64x768xf32>
    %4 = arith.subf %0, %3 {graph.node = 1 : i64} : tensor<64x768xf32>
    %5 = arith.mulf %4, %4 {graph.node = 1 : i64} : tensor<64x768xf32>
    %6 = graph.reduce <sum> %5 axes [1] {graph.node = 1 : i64} : tensor<64x768xf32> -> tensor<64xf32>
    %7 = math.rsqrt %6 {graph.node = 1 : i64} : tensor<64xf32>
    %8 = graph.broadcast %7 dims [0] {graph.node = 1 : i64} : tensor<64xf32> -> tensor<64x768xf32>
    %9 = arith.mulf %4, %8 {graph.node = 1 : i64} : tensor<64x768xf32>
    return %9, %0 : tensor<64x768xf32>, tensor<64x768xf32>
  }
}

// -----

// Columns that a program of a GPU can hold are rows to it; on a CPU each reading of them is a loop, and a kernel. A dimension
// of size 1 does not matter.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @softmax(%arg0)
// CHECK-NOT: graph.launch
// CPU-LABEL: func.func @main
// CPU: graph.launch @softmax(%arg0)
// CPU: graph.launch @softmax_0(
module attributes {graph.nodes = ["p|Softmax"]} {
  func.func @main(%x: tensor<1x785x64xf32>) -> tensor<1x785x64xf32> {
    %1 = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<1x785x64xf32> -> tensor<1x64xf32>
    %2 = graph.reshape %1 {graph.node = 0 : i64} : tensor<1x64xf32> -> tensor<64xf32>
    %3 = graph.broadcast %2 dims [2] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<1x785x64xf32>
    %4 = arith.subf %x, %3 {graph.node = 0 : i64} : tensor<1x785x64xf32>
    %5 = math.exp %4 {graph.node = 0 : i64} : tensor<1x785x64xf32>
    %6 = graph.reduce <sum> %5 axes [1] {graph.node = 0 : i64} : tensor<1x785x64xf32> -> tensor<1x64xf32>
    %7 = graph.broadcast %6 dims [0, 2] {graph.node = 0 : i64} : tensor<1x64xf32> -> tensor<1x785x64xf32>
    %8 = arith.divf %5, %7 {graph.node = 0 : i64} : tensor<1x785x64xf32>
    return %8 : tensor<1x785x64xf32>
  }
}
