// A number that multiplies slices of a product's columns becomes a factor of each column, in the epilogue of the product.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all' | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=none' | FileCheck %s --check-prefix=NONE

// The query is scaled, the key is not.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul_mul(
// CHECK: graph.launch @split_s(
// CHECK-NOT: graph.launch
// CHECK-LABEL: graph.kernel @matmul_mul
// CHECK: graph.contract
// CHECK-NEXT: %[[F:.*]] = graph.broadcast %arg2 dims [1] : tensor<48xf32> -> tensor<64x48xf32>
// CHECK-NEXT: arith.mulf %{{.*}}, %[[F]]
// CHECK-NEXT: arith.truncf
// CHECK-LABEL: graph.kernel @split_s
// CHECK-NOT: arith.mulf
// NONE: graph.launch @matmul(
// NONE: graph.launch @split(
// NONE: graph.launch @mul(
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["p|MatMul", "split|Split", "scale|Mul", "s|S"]} {
  func.func @main(%x: tensor<64x32xf16>) -> tensor<64x64xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<32x48xf16>
    %c = arith.constant dense<0.125> : tensor<64x16xf32>
    %p = graph.contract %x, %w maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x32xf16>, tensor<32x48xf16> -> tensor<64x48xf32>
    %h = arith.truncf %p {graph.node = 0 : i64} : tensor<64x48xf32> to tensor<64x48xf16>
    %v = graph.reshape %h {graph.node = 1 : i64} : tensor<64x48xf16> -> tensor<64x3x16xf16>
    %0 = graph.slice %v offsets affine_map<() -> (0, 0, 0)> strides [1, 1, 1] {graph.node = 1 : i64} : tensor<64x3x16xf16> -> tensor<64x1x16xf16>
    %1 = graph.reshape %0 {graph.node = 1 : i64} : tensor<64x1x16xf16> -> tensor<64x16xf16>
    %2 = arith.extf %1 {graph.node = 2 : i64} : tensor<64x16xf16> to tensor<64x16xf32>
    %3 = arith.mulf %2, %c {graph.node = 2 : i64} : tensor<64x16xf32>
    %q = arith.truncf %3 {graph.node = 2 : i64} : tensor<64x16xf32> to tensor<64x16xf16>
    %4 = graph.slice %v offsets affine_map<() -> (0, 1, 0)> strides [1, 1, 1] {graph.node = 1 : i64} : tensor<64x3x16xf16> -> tensor<64x1x16xf16>
    %k = graph.reshape %4 {graph.node = 1 : i64} : tensor<64x1x16xf16> -> tensor<64x16xf16>
    %s = graph.contract %q, %k maps [#mk, #nk, #mn] {graph.node = 3 : i64} : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
    return %s : tensor<64x64xf32>
  }
}

// -----

// Columns of several heads: the factors are those of each head in turn. The number of rows is not known.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul_mul(
// CHECK-LABEL: graph.kernel @matmul_mul
// CHECK: arith.mulf
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#lhs = affine_map<(h, m, n, k) -> (m, h, k)>
#rhs = affine_map<(h, m, n, k) -> (n, h, k)>
#out = affine_map<(h, m, n, k) -> (h, m, n)>
module attributes {graph.symbols = ["rows"], graph.nodes = ["p|MatMul", "split|Split", "scale|Mul", "s|S"]} {
  func.func @main(%x: tensor<?x32xf32, affine_map<()[s0] -> (s0, 32)>>) -> tensor<2x?x?xf32, affine_map<()[s0] -> (2, s0, s0)>> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<32x64xf32>
    %one = arith.constant dense<0.25> : tensor<f32>
    %p = graph.contract %x, %w maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<?x32xf32, affine_map<()[s0] -> (s0, 32)>>, tensor<32x64xf32> -> tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
    %v = graph.reshape %p {graph.node = 1 : i64} : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>> -> tensor<?x2x32xf32, affine_map<()[s0] -> (s0, 2, 32)>>
    %0 = graph.slice %v offsets affine_map<() -> (0, 0, 0)> strides [1, 1, 1] {graph.node = 1 : i64} : tensor<?x2x32xf32, affine_map<()[s0] -> (s0, 2, 32)>> -> tensor<?x2x16xf32, affine_map<()[s0] -> (s0, 2, 16)>>
    %c = graph.broadcast %one dims [] {graph.node = 2 : i64} : tensor<f32> -> tensor<?x2x16xf32, affine_map<()[s0] -> (s0, 2, 16)>>
    %q = arith.mulf %0, %c {graph.node = 2 : i64} : tensor<?x2x16xf32, affine_map<()[s0] -> (s0, 2, 16)>>
    %k = graph.slice %v offsets affine_map<() -> (0, 0, 16)> strides [1, 1, 1] {graph.node = 1 : i64} : tensor<?x2x32xf32, affine_map<()[s0] -> (s0, 2, 32)>> -> tensor<?x2x16xf32, affine_map<()[s0] -> (s0, 2, 16)>>
    %s = graph.contract %q, %k maps [#lhs, #rhs, #out] {graph.node = 3 : i64} : tensor<?x2x16xf32, affine_map<()[s0] -> (s0, 2, 16)>>, tensor<?x2x16xf32, affine_map<()[s0] -> (s0, 2, 16)>> -> tensor<2x?x?xf32, affine_map<()[s0] -> (2, s0, s0)>>
    return %s : tensor<2x?x?xf32, affine_map<()[s0] -> (2, s0, s0)>>
  }
}

// -----

// Near misses: slices that overlap, and a slice that is also read without the scale.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul(
// CHECK: graph.launch @matmul(
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["p|MatMul", "split|Split", "scale|Mul", "q|MatMul"]} {
  func.func @main(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
    %w = graph.constant "00000000000000000000000000000001" : tensor<32x48xf32>
    %c = arith.constant dense<0.125> : tensor<64x16xf32>
    %p = graph.contract %x, %w maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x32xf32>, tensor<32x48xf32> -> tensor<64x48xf32>
    %0 = graph.slice %p offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<64x48xf32> -> tensor<64x16xf32>
    %q = arith.mulf %0, %c {graph.node = 2 : i64} : tensor<64x16xf32>
    %k = graph.slice %p offsets affine_map<() -> (0, 8)> strides [1, 1] {graph.node = 1 : i64} : tensor<64x48xf32> -> tensor<64x16xf32>
    %u = graph.constant "00000000000000000000000000000002" : tensor<32x48xf32>
    %r = graph.contract %y, %u maps [#mk, #kn, #mn] {graph.node = 3 : i64} : tensor<64x32xf32>, tensor<32x48xf32> -> tensor<64x48xf32>
    %1 = graph.slice %r offsets affine_map<() -> (0, 16)> strides [1, 1] {graph.node = 1 : i64} : tensor<64x48xf32> -> tensor<64x16xf32>
    %2 = arith.mulf %1, %c {graph.node = 2 : i64} : tensor<64x16xf32>
    %3 = arith.addf %2, %1 {graph.node = 2 : i64} : tensor<64x16xf32>
    return %q, %k, %3 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>
  }
}
