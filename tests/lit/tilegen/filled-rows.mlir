// With two groups of warps the last row of tiles begins so early that it is full; the rows that it shares with the one before are computed twice.
// RUN: tilewright-opt %s --tilewright-tile-emit=target=sm_90a | FileCheck %s

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#two = #tile.schedule<matmul, tile = [128, 128], reduce = [64], warps = 4, stages = 6, groups = 2, order = 8>
#one = #tile.schedule<matmul, tile = [128, 128], reduce = [64], warps = 4, stages = 6, groups = 1, order = 8>
module attributes {graph.nodes = ["a|MatMul"], graph.symbols = ["rows"]} {
// CHECK-LABEL: tile.kernel @ragged(
// CHECK-DAG: %[[LAST:.*]] = arith.constant 172 : index
// CHECK-DAG: %[[OFFSET:.*]] = tile.size (d0) -> ((d0 floordiv 16) * 128)(
// CHECK: %[[M:.*]] = arith.minsi %[[OFFSET]], %[[LAST]] : index
// CHECK: tile.load %arg0[%[[M]],
// CHECK: tile.store %{{.*}}, %arg2[%[[M]],
graph.kernel @ragged(%x: tensor<300x256xf16>, %y: tensor<256x2048xf16>) -> tensor<300x2048xf32> attributes {schedule = #two} {
  %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<300x256xf16>, tensor<256x2048xf16> -> tensor<300x2048xf32>
  graph.return %c : tensor<300x2048xf32>
}
// All tiles are full; a tile has more rows than there are; only running tells how many there are; one group; rows of the result, or of the left side, that are neighbours in memory.
// CHECK-NOT: minsi
graph.kernel @even(%x: tensor<256x256xf16>, %y: tensor<256x2048xf16>) -> tensor<256x2048xf32> attributes {schedule = #two} {
  %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<256x256xf16>, tensor<256x2048xf16> -> tensor<256x2048xf32>
  graph.return %c : tensor<256x2048xf32>
}
graph.kernel @few(%x: tensor<100x256xf16>, %y: tensor<256x2048xf16>) -> tensor<100x2048xf32> attributes {schedule = #two} {
  %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<100x256xf16>, tensor<256x2048xf16> -> tensor<100x2048xf32>
  graph.return %c : tensor<100x2048xf32>
}
graph.kernel @open(%x: tensor<?x256xf16, affine_map<()[s0] -> (s0, 256)>>, %y: tensor<256x2048xf16>) -> tensor<?x2048xf32, affine_map<()[s0] -> (s0, 2048)>> attributes {schedule = #two} {
  %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<?x256xf16, affine_map<()[s0] -> (s0, 256)>>, tensor<256x2048xf16> -> tensor<?x2048xf32, affine_map<()[s0] -> (s0, 2048)>>
  graph.return %c : tensor<?x2048xf32, affine_map<()[s0] -> (s0, 2048)>>
}
graph.kernel @one_group(%x: tensor<300x256xf16>, %y: tensor<256x2048xf16>) -> tensor<300x2048xf32> attributes {schedule = #one} {
  %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<300x256xf16>, tensor<256x2048xf16> -> tensor<300x2048xf32>
  graph.return %c : tensor<300x2048xf32>
}
graph.kernel @planes(%x: tensor<300x256xf16>, %y: tensor<256x2048xf16>) -> tensor<2048x300xf32> attributes {schedule = #two} {
  %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<300x256xf16>, tensor<256x2048xf16> -> tensor<300x2048xf32>
  %t = graph.transpose %c perm [1, 0] : tensor<300x2048xf32> -> tensor<2048x300xf32>
  graph.return %t : tensor<2048x300xf32>
}
graph.kernel @across(%x: tensor<256x300xf16>, %y: tensor<256x2048xf16>) -> tensor<300x2048xf32> attributes {schedule = #two} {
  %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (k, m)>, #right, #result] {graph.node = 0 : i64} : tensor<256x300xf16>, tensor<256x2048xf16> -> tensor<300x2048xf32>
  graph.return %c : tensor<300x2048xf32>
}
}
