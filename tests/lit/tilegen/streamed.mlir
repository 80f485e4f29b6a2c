// Few rows times a large matrix that lies as it is: programs take a few of the matrix's rows at a time along many columns, sums in memory.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4})" | FileCheck %s

// CHECK-LABEL: graph.kernel @row
// CHECK-SAME: tile = [1, 1024], reduce = [12], registers = [1, 64, 12]>
// CHECK-LABEL: graph.kernel @few
// CHECK-SAME: tile = [1, 6, 2048], reduce = [12], registers = [6, 64, 12]>
// A constant is packed, many rows read the matrix more than once, a small or narrow matrix stays in the cache, and one that lies the other way has no
// rows to stream: it is read in place by dots along k, unless there are many rows.
// CHECK-LABEL: graph.kernel @constant
// CHECK-SAME: reduce = [4096], registers = [1, 64], pack = 64>
// CHECK-LABEL: graph.kernel @many
// CHECK-SAME: reduce = [4096], registers = [13, 32]>
// CHECK-LABEL: graph.kernel @small
// CHECK-SAME: reduce = [512], registers = [1, 128]>
// CHECK-LABEL: graph.kernel @narrow
// CHECK-SAME: reduce = [8192], registers = [1, 128]>
// CHECK-LABEL: graph.kernel @transposed
// CHECK-SAME: <gemv, tile = [1, 32], reduce = [4096]
// CHECK-LABEL: graph.kernel @transposed_many
// CHECK-SAME: <matmul
// CHECK-LABEL: graph.kernel @vector
// CHECK-SAME: <gemv, tile = [32, 1], reduce = [4096]
// One column: vectors lie along the rows, four of them, and divide the rows of an image where there are any number of images.
// CHECK-LABEL: graph.kernel @columns
// CHECK-SAME: <gemv, tile = [60, 1], reduce = [256]
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#across = affine_map<(m, n, k) -> (n, k)>
#result = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["a|MatMul"]} {
  graph.kernel @row(%x: tensor<1x4096xf32>, %y: tensor<4096x4096xf32>) -> tensor<1x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<1x4096xf32>, tensor<4096x4096xf32> -> tensor<1x4096xf32>
    graph.return %c : tensor<1x4096xf32>
  }
  graph.kernel @few(%x: tensor<2x6x1024xf32>, %y: tensor<2x1024x4096xf32>) -> tensor<2x6x4096xf32> {
    %c = graph.contract %x, %y maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 0 : i64} : tensor<2x6x1024xf32>, tensor<2x1024x4096xf32> -> tensor<2x6x4096xf32>
    graph.return %c : tensor<2x6x4096xf32>
  }
  graph.kernel @constant(%x: tensor<1x4096xf32>, %y: tensor<4096x4096xf32> {graph.constant}) -> tensor<1x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<1x4096xf32>, tensor<4096x4096xf32> -> tensor<1x4096xf32>
    graph.return %c : tensor<1x4096xf32>
  }
  graph.kernel @many(%x: tensor<13x4096xf32>, %y: tensor<4096x4096xf32>) -> tensor<13x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<13x4096xf32>, tensor<4096x4096xf32> -> tensor<13x4096xf32>
    graph.return %c : tensor<13x4096xf32>
  }
  graph.kernel @small(%x: tensor<1x512xf32>, %y: tensor<512x512xf32>) -> tensor<1x512xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<1x512xf32>, tensor<512x512xf32> -> tensor<1x512xf32>
    graph.return %c : tensor<1x512xf32>
  }
  graph.kernel @narrow(%x: tensor<1x8192xf32>, %y: tensor<8192x192xf32>) -> tensor<1x192xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<1x8192xf32>, tensor<8192x192xf32> -> tensor<1x192xf32>
    graph.return %c : tensor<1x192xf32>
  }
  graph.kernel @transposed(%x: tensor<1x4096xf32>, %y: tensor<4096x4096xf32>) -> tensor<1x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #across, #result] {graph.node = 0 : i64} : tensor<1x4096xf32>, tensor<4096x4096xf32> -> tensor<1x4096xf32>
    graph.return %c : tensor<1x4096xf32>
  }
  graph.kernel @transposed_many(%x: tensor<13x4096xf32>, %y: tensor<4096x4096xf32>) -> tensor<13x4096xf32> {
    %c = graph.contract %x, %y maps [#left, #across, #result] {graph.node = 0 : i64} : tensor<13x4096xf32>, tensor<4096x4096xf32> -> tensor<13x4096xf32>
    graph.return %c : tensor<13x4096xf32>
  }
  graph.kernel @vector(%x: tensor<4096x4096xf32>, %y: tensor<4096x1xf32> {graph.constant}) -> tensor<4096x1xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<4096x4096xf32>, tensor<4096x1xf32> -> tensor<4096x1xf32>
    graph.return %c : tensor<4096x1xf32>
  }
  graph.kernel @columns(%x: tensor<?x256xf32, affine_map<()[s0] -> (s0 * 7200, 256)>>, %y: tensor<256x1xf32>) -> tensor<?x1xf32, affine_map<()[s0] -> (s0 * 7200, 1)>> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<?x256xf32, affine_map<()[s0] -> (s0 * 7200, 256)>>, tensor<256x1xf32> -> tensor<?x1xf32, affine_map<()[s0] -> (s0 * 7200, 1)>>
    graph.return %c : tensor<?x1xf32, affine_map<()[s0] -> (s0 * 7200, 1)>>
  }
}
