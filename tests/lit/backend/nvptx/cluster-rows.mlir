// Blocks of a cluster hold a share of a row each. All threads arrive when they start, and wait for that once, before the
// first value is given; each value goes to every block, and each block combines them in the same order.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry softmax(
// CHECK: barrier.cluster.arrive.relaxed.aligned
// CHECK: ld.global.v4
// CHECK: bar.sync
// CHECK: barrier.cluster.wait.aligned
// CHECK: mapa.shared::cluster
// CHECK: st.shared::cluster.b32
// CHECK: barrier.cluster.arrive.aligned
// CHECK-NEXT: barrier.cluster.wait.aligned
// CHECK: ld.shared
// CHECK-COUNT-3: max.NaN.f32
// CHECK: ex2.approx
// CHECK: st.shared::cluster.b32
// CHECK: barrier.cluster.arrive.aligned
// CHECK-NEXT: barrier.cluster.wait.aligned
// CHECK-NOT: barrier.cluster
// CHECK: st.global.v4
// CHECK: ret;
tile.kernel @softmax(%x: !tile.buffer<f32, () -> (6, 8192)>, %y: !tile.buffer<f32, () -> (6, 8192)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 8192) map (d0, d1) -> (d0, d1) fill 0xFF800000 : f32 : !tile.buffer<f32, () -> (6, 8192)> -> tensor<1x8192xf32>
  %max = tile.reduce <max> %v dim 1 : tensor<1x8192xf32> -> tensor<1x1xf32>
  %mb = tile.broadcast %max : tensor<1x1xf32> -> tensor<1x8192xf32>
  %d = arith.subf %v, %mb : tensor<1x8192xf32>
  %e = math.exp %d : tensor<1x8192xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<1x8192xf32> -> tensor<1x1xf32>
  %sb = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x8192xf32>
  %r = arith.divf %e, %sb : tensor<1x8192xf32>
  tile.store %r, %y[%p, %c0] bounds () -> (6, 8192) map (d0, d1) -> (d0, d1) : tensor<1x8192xf32> -> !tile.buffer<f32, () -> (6, 8192)>
  tile.return
}
