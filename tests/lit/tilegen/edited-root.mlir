// The schedule says as which root a kernel is computed: a reduction with its reduced loops innermost or outermost, a
// contraction with or without matrix instructions.
// RUN: tilewright-opt %s --tilewright-tile-emit=target=sm_90a | FileCheck %s

// CHECK: tile.kernel @rows
// CHECK-SAME: schedule = #tile.schedule<row_reduction
// CHECK: tile.reduce <sum> %{{.*}} dim 1 : tensor<4x16xf32> -> tensor<4x1xf32>
graph.kernel @rows(%x: tensor<4x16xf32>) -> tensor<4xf32>
    attributes {root = #graph.root<row_reduction>, schedule = #tile.schedule<row_reduction, tile = [4], reduce = [16]>} {
  %s = graph.reduce <sum> %x axes [1] {graph.node = 0 : i64} : tensor<4x16xf32> -> tensor<4xf32>
  graph.return %s : tensor<4xf32>
}

// CHECK: tile.kernel @columns
// CHECK-SAME: schedule = #tile.schedule<window
// CHECK: tile.reduce <sum> %{{.*}} dim 0 : tensor<16x4xf32> -> tensor<1x4xf32>
graph.kernel @columns(%x: tensor<4x16xf32>) -> tensor<4xf32>
    attributes {root = #graph.root<row_reduction>, schedule = #tile.schedule<window, tile = [4], reduce = [16]>} {
  %s = graph.reduce <sum> %x axes [1] {graph.node = 0 : i64} : tensor<4x16xf32> -> tensor<4xf32>
  graph.return %s : tensor<4xf32>
}

// CHECK: tile.kernel @dots
// CHECK-NOT: tile.dot
// CHECK: tile.reduce <sum>
graph.kernel @dots(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32>
    attributes {root = #graph.root<matmul>, schedule = #tile.schedule<gemv, tile = [4, 4], reduce = [8]>} {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  graph.return %a : tensor<4x4xf32>
}
