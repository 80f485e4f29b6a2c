// What rows that are no multiple of 16 or 128 bytes cost decides tiles and stages.
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_90a | FileCheck %s

#left = affine_map<(m, n, k) -> (m, k)>
#columns_last = affine_map<(m, n, k) -> (k, n)>
#sum_last = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>

// The left side's rows are lines of 128 bytes, then they are not: a larger tile copies fewer rows for what it multiplies.
// CHECK: graph.kernel @lines
// CHECK-SAME: tile = [128, 128], reduce = [64], warps = 4, stages = 6, groups = 2
graph.kernel @lines(%x: tensor<4096x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<4096x4096xf16> attributes {root = #graph.root<matmul>} {
  %c = graph.contract %x, %w maps [#left, #columns_last, #result] {graph.node = 0 : i64} : tensor<4096x1024xf16>, tensor<1024x4096xf16> -> tensor<4096x4096xf32>
  %y = arith.truncf %c : tensor<4096x4096xf32> to tensor<4096x4096xf16>
  graph.return %y : tensor<4096x4096xf16>
}
// CHECK: graph.kernel @no_lines
// CHECK-SAME: tile = [128, 256], reduce = [64], warps = 8, stages = 4, groups = 1
graph.kernel @no_lines(%x: tensor<4096x1000xf16>, %w: tensor<1000x4096xf16>) -> tensor<4096x4096xf16> attributes {root = #graph.root<matmul>} {
  %c = graph.contract %x, %w maps [#left, #columns_last, #result] {graph.node = 0 : i64} : tensor<4096x1000xf16>, tensor<1000x4096xf16> -> tensor<4096x4096xf32>
  %y = arith.truncf %c : tensor<4096x4096xf32> to tensor<4096x4096xf16>
  graph.return %y : tensor<4096x4096xf16>
}

// Odd rows of a result are stored through shared memory, also by blocks that take one program: one stage fewer.
// CHECK: graph.kernel @even_result
// CHECK-SAME: tile = [64, 192], reduce = [64], warps = 4, stages = 7
graph.kernel @even_result(%x: tensor<512x768xf16>, %w: tensor<3072x768xf16>) -> tensor<512x3072xf16> attributes {root = #graph.root<matmul>} {
  %c = graph.contract %x, %w maps [#left, #sum_last, #result] {graph.node = 0 : i64} : tensor<512x768xf16>, tensor<3072x768xf16> -> tensor<512x3072xf32>
  %y = arith.truncf %c : tensor<512x3072xf32> to tensor<512x3072xf16>
  graph.return %y : tensor<512x3072xf16>
}
// CHECK: graph.kernel @odd_result
// CHECK-SAME: tile = [64, 192], reduce = [64], warps = 4, stages = 6
graph.kernel @odd_result(%x: tensor<512x768xf16>, %w: tensor<3071x768xf16>) -> tensor<512x3071xf16> attributes {root = #graph.root<matmul>} {
  %c = graph.contract %x, %w maps [#left, #sum_last, #result] {graph.node = 0 : i64} : tensor<512x768xf16>, tensor<3071x768xf16> -> tensor<512x3071xf32>
  %y = arith.truncf %c : tensor<512x3071xf32> to tensor<512x3071xf16>
  graph.return %y : tensor<512x3071xf16>
}
