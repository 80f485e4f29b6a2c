// Packed weights are fetched ahead: the register tile that reads a panel first asks for each line as far ahead as its caller says
// (HostKernelArgs::fetchAhead), those of other rows for one line of the next panel at each k. Where one register tile has all rows, or there is
// one panel, there is less to ask for. A register tile that has all rows has a second loop, which asks for nothing, for callers that say 0; not where
// the weights are larger than a cache.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" -o %t.mlir
// RUN: tilewright-opt %t.mlir --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s

// CHECK-LABEL: many_rows:
// CHECK: movq 40(%rdi), %[[AHEAD:[a-z0-9]+]]
// CHECK: prefetcht1 (%[[AHEAD]],%[[K:[a-z0-9]+]])
// CHECK-NEXT: prefetcht1 64(%[[AHEAD]],%[[K]])
// CHECK-NEXT: prefetcht1 128(%[[AHEAD]],%[[K]])
// CHECK-NEXT: prefetcht1 192(%[[AHEAD]],%[[K]])
// CHECK: vfmadd
// CHECK: prefetcht1
// CHECK-NOT: prefetcht1
// CHECK: vfmadd
// CHECK-NOT: prefetcht1
// CHECK: retq

// CHECK-LABEL: four_rows:
// CHECK: movq 40(%rdi), %[[AHEAD:[a-z0-9]+]]
// CHECK: testq %[[AHEAD]], %[[AHEAD]]
// CHECK-NEXT: jle
// CHECK-COUNT-4: prefetcht1
// CHECK-NOT: prefetcht1
// CHECK: vfmadd
// CHECK: jb
// CHECK-NOT: prefetcht1
// CHECK: vfmadd
// CHECK-NOT: prefetcht1
// CHECK: retq

// CHECK-LABEL: from_memory:
// CHECK-COUNT-4: prefetcht1
// CHECK: vfmadd
// CHECK: jb
// CHECK-NOT: vfmadd
// CHECK: retq

// CHECK-LABEL: one_panel:
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
  graph.kernel @from_memory(%x: tensor<4x4096xf32>, %y: tensor<4096x4096xf32> {graph.constant}) -> tensor<4x4096xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<4x4096xf32>, tensor<4096x4096xf32> -> tensor<4x4096xf32>
    graph.return %c : tensor<4x4096xf32>
  }
  graph.kernel @one_panel(%x: tensor<96x768xf32>, %y: tensor<768x64xf32> {graph.constant}) -> tensor<96x64xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<96x768xf32>, tensor<768x64xf32> -> tensor<96x64xf32>
    graph.return %c : tensor<96x64xf32>
  }
}
