// A schedule that is already there is kept, and changes the kernel.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=host},tilewright-tile-emit{target=host})" | FileCheck %s

// The tile text depends on the schedule alone, not on the target.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-tile-emit{target=sm_90a})" > %t.nvidia
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-tile-emit{target=gfx942})" > %t.amd
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-tile-emit{target=host})" > %t.host
// RUN: cmp %t.nvidia %t.amd
// RUN: cmp %t.nvidia %t.host

// CHECK: tile.kernel @product
// CHECK-SAME: grid = #[[GRID:.*]], schedule = #tile.schedule<matmul, tile = [32, 16], reduce = [8], warps = 2, stages = 3>
// CHECK: scf.for
// CHECK: tile.dot {{.*}} : tensor<32x8xf32>, tensor<8x16xf32>, tensor<32x16xf32>
module {
  graph.kernel @product(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32>
      attributes {schedule = #tile.schedule<matmul, tile = [32, 16], reduce = [8], warps = 2, stages = 3>} {
    %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    graph.return %a : tensor<64x64xf32>
  }
}
