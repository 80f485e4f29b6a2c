// Few rows of halves times a large matrix (the sizes are in SelectScheduleTest.cpp): a cluster of two shares each tile where there are too few tiles.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a})" | FileCheck %s

// A left side that is computed as it is read is not one that copies bring.
// CHECK-LABEL: graph.kernel @computed
// CHECK-NOT: clustered
// CHECK: graph.return
// Any number of rows: what was measured has kernels of its own, although the estimate prefers larger tiles.
// CHECK-LABEL: graph.kernel @open
// CHECK-SAME: groups = 2
// CHECK-LABEL: graph.kernel @open_to512
// CHECK-SAME: groups = 1
// CHECK-LABEL: graph.kernel @open_to128
// CHECK-SAME: tile = [128, 64], reduce = [64], warps = 8, stages = 8, parts = 2, clustered = true, streamed = true, most_tiles = 64>
// CHECK-LABEL: graph.kernel @open_to64
// CHECK-SAME: tile = [64, 64], reduce = [64], warps = 4, stages = 12, parts = 2, clustered = true, streamed = true, most_tiles = 64>
// CHECK-LABEL: graph.kernel @open_to16
// CHECK-SAME: tile = [16, 64], reduce = [128], warps = 4, stages = 6, parts = 2, clustered = true, streamed = true, most_tiles = 64>
// CHECK-LABEL: graph.kernel @wide
// CHECK-SAME: groups = 2
// CHECK-LABEL: graph.kernel @wide_to128
// CHECK-SAME: tile = [128, 128], reduce = [64], warps = 4, stages = 6, streamed = true>
// CHECK-LABEL: graph.kernel @wide_to64
// CHECK-SAME: tile = [64, 128], reduce = [64], warps = 4, stages = 9, streamed = true>
// CHECK-LABEL: graph.kernel @wide_to16
// CHECK-SAME: tile = [16, 128], reduce = [64], warps = 4, stages = 6, streamed = true>
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["a|MatMul"], graph.symbols = ["rows"]} {
  func.func @main(%x: tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, %y: tensor<4096x4096xf16>, %v: tensor<4096x14336xf16>) -> (tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>, tensor<?x14336xf32, affine_map<()[s0] -> (s0, 14336)>>) {
    %z = graph.launch @open(%x, %y) {graph.bytes = affine_map<() -> (0)>, graph.flops = affine_map<() -> (0)>, graph.nodes_of = array<i64>} : (tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x4096xf16>) -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
    %w = graph.launch @wide(%x, %v) {graph.bytes = affine_map<() -> (0)>, graph.flops = affine_map<() -> (0)>, graph.nodes_of = array<i64>} : (tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x14336xf16>) -> tensor<?x14336xf32, affine_map<()[s0] -> (s0, 14336)>>
    return %z, %w : tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>, tensor<?x14336xf32, affine_map<()[s0] -> (s0, 14336)>>
  }
  graph.kernel @computed(%x: tensor<32x4096xf16>, %y: tensor<4096x4096xf16>) -> tensor<32x4096xf32> {
    %h = math.erf %x : tensor<32x4096xf16>
    %c = graph.contract %h, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<32x4096xf16>, tensor<4096x4096xf16> -> tensor<32x4096xf32>
    graph.return %c : tensor<32x4096xf32>
  }
  graph.kernel @open(%x: tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, %y: tensor<4096x4096xf16>) -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x4096xf16> -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
    graph.return %c : tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
  }
  graph.kernel @wide(%x: tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, %y: tensor<4096x14336xf16>) -> tensor<?x14336xf32, affine_map<()[s0] -> (s0, 14336)>> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x14336xf16> -> tensor<?x14336xf32, affine_map<()[s0] -> (s0, 14336)>>
    graph.return %c : tensor<?x14336xf32, affine_map<()[s0] -> (s0, 14336)>>
  }
}
