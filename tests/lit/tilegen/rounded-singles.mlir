// Products of singles by one product of tf32 on sm_90a: what runs along the sum on both sides is rounded as it is copied, in the tiles of
// halves; a constant right side is stored so. Others pass through registers, in smaller tiles.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},builtin.module(tilewright-schedule-select{target=sm_90a}))" | FileCheck %s

module attributes {tile.matmul_precision = "tf32"} {
// CHECK-LABEL: graph.kernel @turned
// CHECK-SAME: schedule = #tile.schedule<matmul, tile = [128, 256], reduce = [32], warps = 8, stages = 4, groups = 1, order = 8, strip = 128>
graph.kernel @turned(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2048x2048xf32>, tensor<2048x2048xf32> -> tensor<2048x2048xf32>
  graph.return %0 : tensor<2048x2048xf32>
}

// CHECK-LABEL: graph.kernel @constant
// CHECK-SAME: schedule = #tile.schedule<matmul, tile = [128, 256], reduce = [32], warps = 8, stages = 4, pack = 1, groups = 1, order = 8, strip = 128>
graph.kernel @constant(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32> {graph.constant}) -> tensor<2048x2048xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2048x2048xf32>, tensor<2048x2048xf32> -> tensor<2048x2048xf32>
  graph.return %0 : tensor<2048x2048xf32>
}

// CHECK-LABEL: graph.kernel @value
// CHECK-SAME: schedule = #tile.schedule<matmul, tile = [128, 128], reduce = [32], warps = 8, stages = 6, groups = 1, order = 4>
graph.kernel @value(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2048x2048xf32>, tensor<2048x2048xf32> -> tensor<2048x2048xf32>
  graph.return %0 : tensor<2048x2048xf32>
}
}

// By three products, whose parts are made in registers, nothing is stored otherwise.
// CHECK-LABEL: graph.kernel @inParts
// CHECK-SAME: schedule = #tile.schedule<matmul, tile = [128, 128], reduce = [32], warps = 8, stages = 6, groups = 1, order = 4>
graph.kernel @inParts(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32> {graph.constant}) -> tensor<2048x2048xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2048x2048xf32>, tensor<2048x2048xf32> -> tensor<2048x2048xf32>
  graph.return %0 : tensor<2048x2048xf32>
}
