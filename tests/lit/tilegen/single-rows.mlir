// A row times a matrix goes through matrix units where the matrix is large and its rows are rows of memory; smaller ones, those whose columns
// are rows of memory, and what no unit multiplies are summed by all threads of a block.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},builtin.module(tilewright-schedule-select{target=sm_90a}))" | FileCheck %s

// CHECK-LABEL: graph.kernel @large
// CHECK-SAME: schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [128], warps = 4, stages = 6, parts = 2, clustered = true, streamed = true>
graph.kernel @large(%x: tensor<1x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<1x4096xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x4096xf16>, tensor<4096x4096xf16> -> tensor<1x4096xf32>
  graph.return %0 : tensor<1x4096xf32>
}

// With more columns than there are blocks at a time nothing is shared.
// CHECK-LABEL: graph.kernel @wide
// CHECK-SAME: schedule = #tile.schedule<matmul, tile = [16, 128], reduce = [64], warps = 4, stages = 6, streamed = true>
graph.kernel @wide(%x: tensor<1x4096xf16>, %w: tensor<4096x32000xf16>) -> tensor<1x32000xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x4096xf16>, tensor<4096x32000xf16> -> tensor<1x32000xf32>
  graph.return %0 : tensor<1x32000xf32>
}

// CHECK-LABEL: graph.kernel @small
// CHECK-SAME: schedule = #tile.schedule<gemv,
graph.kernel @small(%x: tensor<1x768xf16>, %w: tensor<768x768xf16>) -> tensor<1x768xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x768xf16>, tensor<768x768xf16> -> tensor<1x768xf32>
  graph.return %0 : tensor<1x768xf32>
}

// CHECK-LABEL: graph.kernel @turned
// CHECK-SAME: schedule = #tile.schedule<gemv,
graph.kernel @turned(%x: tensor<1x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<1x4096xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x4096xf16>, tensor<4096x4096xf16> -> tensor<1x4096xf32>
  graph.return %0 : tensor<1x4096xf32>
}

// Singles are three products of tf32 there.
// CHECK-LABEL: graph.kernel @floats
// CHECK-SAME: schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [32], warps = 2, stages = 4, parts = 4, streamed = true>
graph.kernel @floats(%x: tensor<1x4096xf32>, %w: tensor<4096x4096xf32>) -> tensor<1x4096xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x4096xf32>, tensor<4096x4096xf32> -> tensor<1x4096xf32>
  graph.return %0 : tensor<1x4096xf32>
}

module attributes {tile.matmul_precision = "ieee"} {
// CHECK-LABEL: graph.kernel @exact
// CHECK-SAME: schedule = #tile.schedule<gemv,
graph.kernel @exact(%x: tensor<1x4096xf32>, %w: tensor<4096x4096xf32>) -> tensor<1x4096xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x4096xf32>, tensor<4096x4096xf32> -> tensor<1x4096xf32>
  graph.return %0 : tensor<1x4096xf32>
}
}
