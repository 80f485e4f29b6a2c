// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --tilewright-normalize-graph | FileCheck %s

// Two transposes around elementwise work cancel; equal work is shared, whatever the order of its operands was.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<8x64xf32>, %[[Y:.*]]: tensor<8x64xf32>)
// CHECK-NOT: graph.transpose
// CHECK: arith.addf
// CHECK-NOT: arith.addf
// CHECK: return
module attributes {graph.nodes = ["n|N"], graph.symbols = []} {
  func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
    %a = graph.transpose %x perm [1, 0] {graph.node = 0 : i64} : tensor<8x64xf32> -> tensor<64x8xf32>
    %b = graph.transpose %y perm [1, 0] {graph.node = 0 : i64} : tensor<8x64xf32> -> tensor<64x8xf32>
    %s = arith.addf %a, %b {graph.node = 0 : i64} : tensor<64x8xf32>
    %r = graph.transpose %s perm [1, 0] {graph.node = 0 : i64} : tensor<64x8xf32> -> tensor<8x64xf32>
    %t = arith.addf %y, %x {graph.node = 0 : i64} : tensor<8x64xf32>
    return %r, %t : tensor<8x64xf32>, tensor<8x64xf32>
  }
}

// -----

// expected-error @+1 {{expected a function @main because normalization works on it}}
module {
}
