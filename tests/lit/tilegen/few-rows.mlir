// Up to 128 rows of halves times a large matrix, whose time is that of reading the matrix. A cluster of two shares each tile where there are fewer tiles
// than half of the multiprocessors; and no warps are there only to copy.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a})" | FileCheck %s

// CHECK-LABEL: graph.kernel @row
// CHECK-SAME: tile = [16, 64], reduce = [128], warps = 4, stages = 6, parts = 2, clustered = true>
// CHECK-LABEL: graph.kernel @rows32
// CHECK-SAME: tile = [64, 64], reduce = [64], warps = 4, stages = 12, parts = 2, clustered = true>
// CHECK-LABEL: graph.kernel @rows96
// CHECK-SAME: tile = [128, 64], reduce = [64], warps = 8, stages = 8, parts = 2, clustered = true>
// Many rows are a product like others.
// CHECK-LABEL: graph.kernel @rows200
// CHECK-SAME: groups = 1
// More columns: a tile for each multiprocessor, of as many columns as that allows. With 9,728 columns tiles of 64 would be one round and a bit.
// CHECK-LABEL: graph.kernel @columns6144
// CHECK-SAME: tile = [64, 64], reduce = [64], warps = 4, stages = 12>
// CHECK-LABEL: graph.kernel @columns9728
// CHECK-SAME: tile = [16, 128], reduce = [64], warps = 4, stages = 6>
// CHECK-LABEL: graph.kernel @columns28672
// CHECK-SAME: tile = [64, 256], reduce = [64], warps = 4, stages = 5>
// A short sum is not shared, and neither is a small matrix by this table, which is no matter of reading alone.
// CHECK-LABEL: graph.kernel @shallow
// CHECK-SAME: tile = [64, 64], reduce = [64], warps = 4, stages = 12>
// CHECK-LABEL: graph.kernel @small
// CHECK-SAME: groups = 1
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
// CHECK-SAME: tile = [128, 64], reduce = [64], warps = 8, stages = 8, parts = 2, clustered = true, most_tiles = 64>
// CHECK-LABEL: graph.kernel @open_to64
// CHECK-SAME: tile = [64, 64], reduce = [64], warps = 4, stages = 12, parts = 2, clustered = true, most_tiles = 64>
// CHECK-LABEL: graph.kernel @open_to16
// CHECK-SAME: tile = [16, 64], reduce = [128], warps = 4, stages = 6, parts = 2, clustered = true, most_tiles = 64>
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["a|MatMul"], graph.symbols = ["rows"]} {
  func.func @main(%x: tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, %y: tensor<4096x4096xf16>) -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>> {
    %z = graph.launch @open(%x, %y) {graph.bytes = affine_map<() -> (0)>, graph.flops = affine_map<() -> (0)>, graph.nodes_of = array<i64>} : (tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x4096xf16>) -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
    return %z : tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
  }
  graph.kernel @row(%x: tensor<1x4096xf16>, %y: tensor<4096x4096xf16>) -> tensor<1x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<1x4096xf16>, tensor<4096x4096xf16> -> tensor<1x4096xf32>
    graph.return %c : tensor<1x4096xf32>
  }
  graph.kernel @rows32(%x: tensor<32x4096xf16>, %y: tensor<4096x4096xf16>) -> tensor<32x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<32x4096xf16>, tensor<4096x4096xf16> -> tensor<32x4096xf32>
    graph.return %c : tensor<32x4096xf32>
  }
  graph.kernel @rows96(%x: tensor<96x4096xf16>, %y: tensor<4096x4096xf16>) -> tensor<96x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<96x4096xf16>, tensor<4096x4096xf16> -> tensor<96x4096xf32>
    graph.return %c : tensor<96x4096xf32>
  }
  graph.kernel @rows200(%x: tensor<200x4096xf16>, %y: tensor<4096x4096xf16>) -> tensor<200x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<200x4096xf16>, tensor<4096x4096xf16> -> tensor<200x4096xf32>
    graph.return %c : tensor<200x4096xf32>
  }
  graph.kernel @columns6144(%x: tensor<48x4096xf16>, %y: tensor<4096x6144xf16>) -> tensor<48x6144xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<48x4096xf16>, tensor<4096x6144xf16> -> tensor<48x6144xf32>
    graph.return %c : tensor<48x6144xf32>
  }
  graph.kernel @columns9728(%x: tensor<8x2560xf16>, %y: tensor<2560x9728xf16>) -> tensor<8x9728xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<8x2560xf16>, tensor<2560x9728xf16> -> tensor<8x9728xf32>
    graph.return %c : tensor<8x9728xf32>
  }
  graph.kernel @columns28672(%x: tensor<64x4096xf16>, %y: tensor<4096x28672xf16>) -> tensor<64x28672xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<64x4096xf16>, tensor<4096x28672xf16> -> tensor<64x28672xf32>
    graph.return %c : tensor<64x28672xf32>
  }
  graph.kernel @shallow(%x: tensor<32x1024xf16>, %y: tensor<1024x4096xf16>) -> tensor<32x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<32x1024xf16>, tensor<1024x4096xf16> -> tensor<32x4096xf32>
    graph.return %c : tensor<32x4096xf32>
  }
  graph.kernel @small(%x: tensor<64x3072xf16>, %y: tensor<3072x768xf16>) -> tensor<64x768xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<64x3072xf16>, tensor<3072x768xf16> -> tensor<64x768xf32>
    graph.return %c : tensor<64x768xf32>
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
}
