// A row times a matrix that each step of a loop reads again, so that it comes from a cache, takes wider panels than one that comes from memory.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},builtin.module(tilewright-schedule-select{target=x86-64-v4}))" | FileCheck %s

// CHECK-LABEL: graph.kernel @once
// CHECK-SAME: registers = [1, 64], pack = 64>
graph.kernel @once(%x: tensor<1x256xf32>, %w: tensor<256x1024xf32> {graph.constant}) -> tensor<1x1024xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x256xf32>, tensor<256x1024xf32> -> tensor<1x1024xf32>
  graph.return %0 : tensor<1x1024xf32>
}

module @body_0 attributes {graph.repeated} {
// CHECK-LABEL: graph.kernel @inEachStep
// CHECK-SAME: registers = [1, 128], pack = 128>
graph.kernel @inEachStep(%x: tensor<1x256xf32>, %w: tensor<256x1024xf32> {graph.constant}) -> tensor<1x1024xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x256xf32>, tensor<256x1024xf32> -> tensor<1x1024xf32>
  graph.return %0 : tensor<1x1024xf32>
}

// Too large for a cache, not of whole panels, or of several rows.
// CHECK-LABEL: graph.kernel @large
// CHECK-SAME: registers = [1, 64], pack = 64>
graph.kernel @large(%x: tensor<1x2048xf32>, %w: tensor<2048x2048xf32> {graph.constant}) -> tensor<1x2048xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x2048xf32>, tensor<2048x2048xf32> -> tensor<1x2048xf32>
  graph.return %0 : tensor<1x2048xf32>
}

// CHECK-LABEL: graph.kernel @half
// CHECK-SAME: registers = [1, 64], pack = 64>
graph.kernel @half(%x: tensor<1x256xf32>, %w: tensor<256x192xf32> {graph.constant}) -> tensor<1x192xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x256xf32>, tensor<256x192xf32> -> tensor<1x192xf32>
  graph.return %0 : tensor<1x192xf32>
}

// CHECK-LABEL: graph.kernel @rows
// CHECK-SAME: registers = [4, 64], pack = 64>
graph.kernel @rows(%x: tensor<4x256xf32>, %w: tensor<256x1024xf32> {graph.constant}) -> tensor<4x1024xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4x256xf32>, tensor<256x1024xf32> -> tensor<4x1024xf32>
  graph.return %0 : tensor<4x1024xf32>
}
}
