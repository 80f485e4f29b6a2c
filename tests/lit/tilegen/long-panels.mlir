// A packed panel that is longer than the second-level cache of a core is walked in steps along k, and the sums wait in memory meanwhile.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4})" | FileCheck %s

// CHECK-LABEL: graph.kernel @long
// CHECK-SAME: reduce = [965], registers = [6, 64, 965], pack = 64>
// The panel counts, not the depth: one of halves is half as long, and so is one of 32 columns.
// CHECK-LABEL: graph.kernel @long_halves
// CHECK-SAME: reduce = [1792], registers = [6, 64, 1792], pack = 64>
// CHECK-LABEL: graph.kernel @halves
// CHECK-SAME: reduce = [8192], registers = [6, 64], pack = 64>
// CHECK-LABEL: graph.kernel @narrow
// CHECK-SAME: reduce = [8192], registers = [{{[0-9]+}}, 32], pack = 32>
// A panel of 1 MiB is walked at once, and so is any that few rows read.
// CHECK-LABEL: graph.kernel @short
// CHECK-SAME: reduce = [4096], registers = [6, 64], pack = 64>
// CHECK-LABEL: graph.kernel @few
// CHECK-SAME: reduce = [12544], registers = [6, 64], pack = 64>
// Of two loops the innermost loop is cut, unless it is short by itself.
// CHECK-LABEL: graph.kernel @rows
// CHECK-SAME: reduce = [1, 1024], registers = [6, 64, 1024], pack = 64>
// CHECK-LABEL: graph.kernel @short_rows
// CHECK-SAME: reduce = [1, 1536], registers = [6, 64], pack = 64>
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#left2 = affine_map<(m, n, j, k) -> (j, m, k)>
#right2 = affine_map<(m, n, j, k) -> (j, k, n)>
#result2 = affine_map<(m, n, j, k) -> (m, n)>
module attributes {graph.nodes = ["a|MatMul"]} {
  graph.kernel @long(%x: tensor<150x12544xf32>, %y: tensor<12544x1024xf32> {graph.constant}) -> tensor<150x1024xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<150x12544xf32>, tensor<12544x1024xf32> -> tensor<150x1024xf32>
    graph.return %c : tensor<150x1024xf32>
  }
  graph.kernel @long_halves(%x: tensor<150x12544xf16>, %y: tensor<12544x1024xf16> {graph.constant}) -> tensor<150x1024xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<150x12544xf16>, tensor<12544x1024xf16> -> tensor<150x1024xf32>
    graph.return %c : tensor<150x1024xf32>
  }
  graph.kernel @halves(%x: tensor<150x8192xf16>, %y: tensor<8192x1024xf16> {graph.constant}) -> tensor<150x1024xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<150x8192xf16>, tensor<8192x1024xf16> -> tensor<150x1024xf32>
    graph.return %c : tensor<150x1024xf32>
  }
  graph.kernel @narrow(%x: tensor<150x8192xf32>, %y: tensor<8192x32xf32> {graph.constant}) -> tensor<150x32xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<150x8192xf32>, tensor<8192x32xf32> -> tensor<150x32xf32>
    graph.return %c : tensor<150x32xf32>
  }
  graph.kernel @short(%x: tensor<150x4096xf32>, %y: tensor<4096x1024xf32> {graph.constant}) -> tensor<150x1024xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<150x4096xf32>, tensor<4096x1024xf32> -> tensor<150x1024xf32>
    graph.return %c : tensor<150x1024xf32>
  }
  graph.kernel @few(%x: tensor<6x12544xf32>, %y: tensor<12544x1024xf32> {graph.constant}) -> tensor<6x1024xf32> {
    %c = graph.contract %x, %y maps [#left, #right, #result] {graph.node = 0 : i64} : tensor<6x12544xf32>, tensor<12544x1024xf32> -> tensor<6x1024xf32>
    graph.return %c : tensor<6x1024xf32>
  }
  graph.kernel @rows(%x: tensor<3x96x6144xf32>, %y: tensor<3x6144x512xf32> {graph.constant}) -> tensor<96x512xf32> {
    %c = graph.contract %x, %y maps [#left2, #right2, #result2] {graph.node = 0 : i64} : tensor<3x96x6144xf32>, tensor<3x6144x512xf32> -> tensor<96x512xf32>
    graph.return %c : tensor<96x512xf32>
  }
  graph.kernel @short_rows(%x: tensor<3x96x1536xf32>, %y: tensor<3x1536x512xf32> {graph.constant}) -> tensor<96x512xf32> {
    %c = graph.contract %x, %y maps [#left2, #right2, #result2] {graph.node = 0 : i64} : tensor<3x96x1536xf32>, tensor<3x1536x512xf32> -> tensor<96x512xf32>
    graph.return %c : tensor<96x512xf32>
  }
}
