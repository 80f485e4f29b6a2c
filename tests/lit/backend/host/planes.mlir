// A 7x7 window of planes, stored as planes: its rows are read in runs of seven without a gather, and nothing is scattered.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" -o %t.mlir
// RUN: tilewright-opt %t.mlir --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s

// CHECK-LABEL: planes:
// CHECK-NOT: {{vp?gather}}
// CHECK-NOT: {{vp?scatter}}
// CHECK: vmovups {{.*}}%ymm{{.*}} {%k
// CHECK: vfmadd
// CHECK: {{vpermt2ps|vpermi2ps|vunpcklps|vpermt2pd|vpermi2pd}}
// CHECK: retq
module attributes {graph.nodes = ["a|Conv"]} {
  graph.kernel @planes(%x: tensor<1x3x224x224xf32>, %w: tensor<7x7x3x64xf32> {graph.constant}) -> tensor<1x64x112x112xf32> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [3, 3] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x3x224x224xf32> -> tensor<1x3x112x112x7x7xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x3x112x112x7x7xf32>, tensor<7x7x3x64xf32> -> tensor<1x112x112x64xf32>
    %t = graph.transpose %c perm [0, 3, 1, 2] {graph.node = 0 : i64} : tensor<1x112x112x64xf32> -> tensor<1x64x112x112xf32>
    graph.return %t : tensor<1x64x112x112xf32>
  }
}
