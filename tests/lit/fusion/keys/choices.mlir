// A causal mask as exporters write it: -inf where a triangle of ones is 0. A comparison with a number that tells nothing of which
// one was chosen excludes no key.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all attention=all explain=text' -o /dev/null | FileCheck %s

// CHECK: a row visits keys below d0 + 1
#md = affine_map<(m, n, d) -> (m, d)>
#nd = affine_map<(m, n, d) -> (n, d)>
#mn = affine_map<(m, n, d) -> (m, n)>
#sh = affine_map<(m, e, n) -> (m, n)>
#ne = affine_map<(m, e, n) -> (n, e)>
#me = affine_map<(m, e, n) -> (m, e)>
module attributes {graph.nodes = ["a|Attention", "m|Where"]} {
  func.func @main(%q: tensor<64x16xf32>, %k: tensor<96x16xf32>, %v: tensor<96x16xf32>) -> tensor<64x16xf32> {
    %row = graph.iota dim 0 {graph.node = 1 : i64} : tensor<64x96xi64>
    %key = graph.iota dim 1 {graph.node = 1 : i64} : tensor<64x96xi64>
    %lower = arith.cmpi sle, %key, %row {graph.node = 1 : i64} : tensor<64x96xi64>
    %one = arith.constant dense<1.0> : tensor<64x96xf32>
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %never = arith.constant dense<0xFF800000> : tensor<64x96xf32>
    %triangle = arith.select %lower, %one, %zero {graph.node = 1 : i64} : tensor<64x96xi1>, tensor<64x96xf32>
    %outside = arith.cmpf oeq, %triangle, %zero {graph.node = 1 : i64} : tensor<64x96xf32>
    %mask = arith.select %outside, %never, %zero {graph.node = 1 : i64} : tensor<64x96xi1>, tensor<64x96xf32>
    %s = graph.contract %q, %k maps [#md, #nd, #mn] {graph.node = 0 : i64} : tensor<64x16xf32>, tensor<96x16xf32> -> tensor<64x96xf32>
    %x = arith.addf %s, %mask {graph.node = 0 : i64} : tensor<64x96xf32>
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<64x96xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<64x96xf32>
    %t = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %tb = graph.broadcast %t dims [0] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 0 : i64} : tensor<64x96xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 0 : i64} : tensor<64x96xf32>, tensor<96x16xf32> -> tensor<64x16xf32>
    return %o : tensor<64x16xf32>
  }
}

// -----

// CHECK: a row visits all keys, since indices alone exclude none
#md = affine_map<(m, n, d) -> (m, d)>
#nd = affine_map<(m, n, d) -> (n, d)>
#mn = affine_map<(m, n, d) -> (m, n)>
#sh = affine_map<(m, e, n) -> (m, n)>
#ne = affine_map<(m, e, n) -> (n, e)>
#me = affine_map<(m, e, n) -> (m, e)>
module attributes {graph.nodes = ["a|Attention", "m|Where"]} {
  func.func @main(%q: tensor<64x16xf32>, %k: tensor<96x16xf32>, %v: tensor<96x16xf32>) -> tensor<64x16xf32> {
    %row = graph.iota dim 0 {graph.node = 1 : i64} : tensor<64x96xi64>
    %key = graph.iota dim 1 {graph.node = 1 : i64} : tensor<64x96xi64>
    %lower = arith.cmpi sle, %key, %row {graph.node = 1 : i64} : tensor<64x96xi64>
    %one = arith.constant dense<1.0> : tensor<64x96xf32>
    %zero = arith.constant dense<0.0> : tensor<64x96xf32>
    %never = arith.constant dense<0xFF800000> : tensor<64x96xf32>
    %triangle = arith.select %lower, %one, %zero {graph.node = 1 : i64} : tensor<64x96xi1>, tensor<64x96xf32>
    %some = arith.cmpf oge, %triangle, %zero {graph.node = 1 : i64} : tensor<64x96xf32>
    %mask = arith.select %some, %zero, %never {graph.node = 1 : i64} : tensor<64x96xi1>, tensor<64x96xf32>
    %s = graph.contract %q, %k maps [#md, #nd, #mn] {graph.node = 0 : i64} : tensor<64x16xf32>, tensor<96x16xf32> -> tensor<64x96xf32>
    %x = arith.addf %s, %mask {graph.node = 0 : i64} : tensor<64x96xf32>
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<64x96xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<64x96xf32>
    %t = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<64x96xf32> -> tensor<64xf32>
    %tb = graph.broadcast %t dims [0] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 0 : i64} : tensor<64x96xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 0 : i64} : tensor<64x96xf32>, tensor<96x16xf32> -> tensor<64x16xf32>
    return %o : tensor<64x16xf32>
  }
}
