// Packed weights are fetched ahead by the register tile that reads them first: one loop with a prefetch for each line of a k, and one without
// for the other rows. Where one register tile has all rows there is no second loop.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" -o %t.mlir
// RUN: tilewright-opt %t.mlir --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s

// CHECK-LABEL: many_rows:
// CHECK-COUNT-4: prefetcht1
// CHECK-NOT: prefetcht1
// CHECK: vfmadd
// CHECK-NOT: prefetcht1
// CHECK: retq

// CHECK-LABEL: four_rows:
// CHECK-COUNT-4: prefetcht1
// CHECK-NOT: prefetcht1
// CHECK: retq
module attributes {graph.nodes = ["a|Gemm"]} {
  graph.kernel @many_rows(%x: tensor<96x768xf32>, %y: tensor<768x256xf32> {graph.constant}) -> tensor<96x256xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<96x768xf32>, tensor<768x256xf32> -> tensor<96x256xf32>
    graph.return %c : tensor<96x256xf32>
  }
  graph.kernel @four_rows(%x: tensor<4x768xf32>, %y: tensor<768x256xf32> {graph.constant}) -> tensor<4x256xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<4x768xf32>, tensor<768x256xf32> -> tensor<4x256xf32>
    graph.return %c : tensor<4x256xf32>
  }
}
