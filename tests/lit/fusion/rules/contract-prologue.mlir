// What a contraction's operand goes through on its way in.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s

// Slices and transposes are maps of the load: one kernel.
// CHECK: fusion all: 1 launches
// CHECK: (matmul): slice, product
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["slice|A", "product|B"]} {
  func.func @main(%a: tensor<64x128xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = graph.slice %a offsets affine_map<() -> (0, 64)> strides [1, 1] {graph.node = 0 : i64} : tensor<64x128xf32> -> tensor<64x64xf32>
    %1 = graph.contract %0, %b maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
}

// -----

// Refused: arithmetic would be repeated. The two shifted operands of equal size, slices of one tensor, share the other kernel.
// CHECK: fusion all: 2 launches
// CHECK: (pointwise): shift, shift2
// CHECK: shift is not fused with product because work would be repeated
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["shift|A", "shift2|A", "product|B"]} {
  func.func @main(%a: tensor<64x128xf32>) -> tensor<64x64xf32> {
    %c = arith.constant dense<0.125> : tensor<64x64xf32>
    %0 = graph.slice %a offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 0 : i64} : tensor<64x128xf32> -> tensor<64x64xf32>
    %1 = arith.addf %0, %c {graph.node = 0 : i64} : tensor<64x64xf32>
    %2 = graph.slice %a offsets affine_map<() -> (0, 64)> strides [1, 1] {graph.node = 1 : i64} : tensor<64x128xf32> -> tensor<64x64xf32>
    %3 = arith.addf %2, %c {graph.node = 1 : i64} : tensor<64x64xf32>
    %4 = graph.contract %1, %3 maps [#mk, #nk, #mn] {graph.node = 2 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    return %4 : tensor<64x64xf32>
  }
}

// -----

// Near miss: the same arithmetic behind the contraction is computed once, a mask with it.
// CHECK: fusion all: 1 launches
// CHECK: (matmul): mask, product, add
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["mask|A", "product|B", "add|C"]} {
  func.func @main(%a: tensor<64x64xf32>, %m: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = math.exp %m {graph.node = 0 : i64} : tensor<64x64xf32>
    %1 = graph.contract %a, %a maps [#mk, #nk, #mn] {graph.node = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %2 = arith.addf %1, %0 {graph.node = 2 : i64} : tensor<64x64xf32>
    return %2 : tensor<64x64xf32>
  }
}
