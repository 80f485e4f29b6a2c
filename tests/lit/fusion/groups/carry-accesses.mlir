// Accesses and widening casts move into the groups of their readers, a copy into each; gathers do not.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s

// The cast and the broadcast of one value are copied for both readers.
// CHECK: fusion all: 3 launches
// CHECK-NOT: cast is not fused
module attributes {graph.nodes = ["first|A", "middle|B", "last|C"]} {
  func.func @main(%x: tensor<8x16xf32>, %v: tensor<16xf16>) -> tensor<8x16xf32> {
    %0 = arith.extf %v {graph.node = 0 : i64} : tensor<16xf16> to tensor<16xf32>
    %1 = graph.broadcast %0 dims [1] {graph.node = 0 : i64} : tensor<16xf32> -> tensor<8x16xf32>
    %2 = arith.addf %x, %1 {graph.node = 0 : i64} : tensor<8x16xf32>
    %3 = graph.host_call "Unknown"("", 13) present [true] attributes {} (%2) {graph.node = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %4 = arith.mulf %3, %1 {graph.node = 2 : i64} : tensor<8x16xf32>
    return %4 : tensor<8x16xf32>
  }
}


// -----

// In the second round a transpose moves too, if no producer has stored its result permuted.
// CHECK: fusion all: 2 launches
// CHECK: (matmul): transpose, product
// CHECK: (pointwise): transpose, neg
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["transpose|A", "product|B", "neg|C"]} {
  func.func @main(%a: tensor<64x32xf32>, %b: tensor<64x16xf32>) -> (tensor<32x16xf32>, tensor<32x64xf32>) {
    %0 = graph.transpose %a perm [1, 0] {graph.node = 0 : i64} : tensor<64x32xf32> -> tensor<32x64xf32>
    %1 = graph.contract %0, %b maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<32x64xf32>, tensor<64x16xf32> -> tensor<32x16xf32>
    %2 = arith.negf %0 {graph.node = 2 : i64} : tensor<32x64xf32>
    return %1, %2 : tensor<32x16xf32>, tensor<32x64xf32>
  }
}

// -----

// A gather that two groups read is computed once.
// CHECK: fusion all: 3 launches
// CHECK: (pointwise): gather
module attributes {graph.nodes = ["gather|A", "host|B", "add|C", "mul|D"]} {
  func.func @main(%x: tensor<100xf32>, %i: tensor<50xi64>, %y: tensor<50xf32>) -> tensor<50xf32> {
    %0 = graph.gather %x[%i : tensor<50xi64>] map affine_map<(d0, d1) -> (d1)> {graph.node = 0 : i64} : tensor<100xf32> -> tensor<50xf32>
    %1 = graph.host_call "Unknown"("", 13) present [true] attributes {} (%0) {graph.node = 1 : i64} : (tensor<50xf32>) -> tensor<50xf32>
    %2 = arith.mulf %1, %0 {graph.node = 3 : i64} : tensor<50xf32>
    return %2 : tensor<50xf32>
  }
}
