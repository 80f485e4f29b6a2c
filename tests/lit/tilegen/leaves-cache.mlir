// Right sides that do not stay in the second-level cache: what is read of them leaves it first (tile.streamed).
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a})" | FileCheck %s
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_80},tilewright-tile-emit{target=sm_80})" | FileCheck %s --check-prefix=NONE
// NONE-NOT: streamed

// 32 MB of weights, read through a transpose, with and without rows of which only running tells the number: where a tile has all of them.
// CHECK-LABEL: tile.kernel @large(
// CHECK-SAME: %{{.*}}: !tile.buffer<f16, () -> (64, 4096)>, %{{.*}}: !tile.buffer<f16, () -> (4096, 4096)> {graph.constant, tile.streamed}, %{{.*}}: !tile.buffer<f16, () -> (64, 4096)>)
// CHECK-SAME: streamed = true
// CHECK-LABEL: tile.kernel @open(
// CHECK-NOT: streamed
// CHECK-LABEL: tile.kernel @open_to128(
// CHECK-SAME: {tile.streamed}
// A second row of tiles has one row of the result, so its blocks read ahead of the others.
// CHECK-LABEL: tile.kernel @ragged(
// CHECK-NOT: streamed
// Both right sides of a pair.
// CHECK-LABEL: tile.kernel @pair(
// CHECK-SAME: (64, 4096)>, %{{.*}} {graph.constant, tile.streamed}, %{{.*}} {graph.constant, tile.streamed}, %{{.*}}: !tile.buffer<f16, () -> (64, 4096)>)
// 20 MB are not more than what stays.
// CHECK-LABEL: tile.kernel @small(
// CHECK-NOT: streamed
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["a|MatMul"], graph.symbols = ["rows"]} {
  func.func @main(%x: tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, %y: tensor<4096x4096xf16>) -> tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>> {
    %0 = graph.launch @open(%x, %y) {graph.bytes = affine_map<() -> (0)>, graph.flops = affine_map<() -> (0)>, graph.nodes_of = array<i64>} : (tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x4096xf16>) -> tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>
    return %0 : tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>
  }
  graph.kernel @large(%x: tensor<64x4096xf16>, %y: tensor<4096x4096xf16> {graph.constant}) -> tensor<64x4096xf16> {
    %t = graph.transpose %y perm [1, 0] : tensor<4096x4096xf16> -> tensor<4096x4096xf16>
    %c = graph.contract %x, %t maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<64x4096xf16>, tensor<4096x4096xf16> -> tensor<64x4096xf32>
    %h = arith.truncf %c : tensor<64x4096xf32> to tensor<64x4096xf16>
    graph.return %h : tensor<64x4096xf16>
  }
  graph.kernel @open(%x: tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, %y: tensor<4096x4096xf16>) -> tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x4096xf16> -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
    %h = arith.truncf %c : tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>> to tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>
    graph.return %h : tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>
  }
  graph.kernel @ragged(%x: tensor<129x4096xf16>, %y: tensor<4096x4096xf16>) -> tensor<129x4096xf16> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<129x4096xf16>, tensor<4096x4096xf16> -> tensor<129x4096xf32>
    %h = arith.truncf %c : tensor<129x4096xf32> to tensor<129x4096xf16>
    graph.return %h : tensor<129x4096xf16>
  }
  graph.kernel @pair(%x: tensor<64x4096xf16>, %y: tensor<4096x4096xf16> {graph.constant}, %z: tensor<4096x4096xf16> {graph.constant}) -> tensor<64x4096xf16> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<64x4096xf16>, tensor<4096x4096xf16> -> tensor<64x4096xf32>
    %d = graph.contract %x, %z maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<64x4096xf16>, tensor<4096x4096xf16> -> tensor<64x4096xf32>
    %p = arith.mulf %c, %d : tensor<64x4096xf32>
    %h = arith.truncf %p : tensor<64x4096xf32> to tensor<64x4096xf16>
    graph.return %h : tensor<64x4096xf16>
  }
  graph.kernel @small(%x: tensor<64x4096xf16>, %y: tensor<4096x2560xf16>) -> tensor<64x2560xf16> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<64x4096xf16>, tensor<4096x2560xf16> -> tensor<64x2560xf32>
    %h = arith.truncf %c : tensor<64x2560xf32> to tensor<64x2560xf16>
    graph.return %h : tensor<64x2560xf16>
  }
}
