// A number that multiplies an input, or a concatenation, moves behind the contraction that reads it.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all' | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=none' | FileCheck %s --check-prefix=NONE

// Query and key are scaled: one factor for both, 0.5 x 0.25.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: graph.launch
// CHECK-NOT: graph.launch
// CHECK-LABEL: graph.kernel
// CHECK: %[[P:.*]] = graph.contract %arg0,
// CHECK-NEXT: %[[F:.*]] = arith.constant dense<1.250000e-01>
// CHECK-NEXT: arith.mulf %[[P]], %[[F]]
// NONE: graph.launch @mul(
// NONE: graph.launch @mul
// NONE: graph.launch @matmul(
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["q|Mul", "k|Mul", "s|MatMul"]} {
  func.func @main(%q: tensor<64x32xf16>, %k: tensor<80x32xf16>) -> tensor<64x80xf32> {
    %half = arith.constant dense<0.5> : tensor<64x32xf32>
    %quarter = arith.constant dense<0.25> : tensor<80x32xf32>
    %0 = arith.extf %q {graph.node = 0 : i64} : tensor<64x32xf16> to tensor<64x32xf32>
    %1 = arith.mulf %0, %half {graph.node = 0 : i64} : tensor<64x32xf32>
    %2 = arith.truncf %1 {graph.node = 0 : i64} : tensor<64x32xf32> to tensor<64x32xf16>
    %3 = arith.extf %k {graph.node = 1 : i64} : tensor<80x32xf16> to tensor<80x32xf32>
    %4 = arith.mulf %3, %quarter {graph.node = 1 : i64} : tensor<80x32xf32>
    %5 = arith.truncf %4 {graph.node = 1 : i64} : tensor<80x32xf32> to tensor<80x32xf16>
    %s = graph.contract %2, %5 maps [#mk, #nk, #mn] {graph.node = 2 : i64} : tensor<64x32xf16>, tensor<80x32xf16> -> tensor<64x80xf32>
    return %s : tensor<64x80xf32>
  }
}

// -----

// Sizes that are known only when running: the number is broadcast. A division is a multiplication by its inverse.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: graph.launch
// CHECK-NOT: graph.launch
// CHECK-LABEL: graph.kernel
// CHECK: %[[P:.*]] = graph.contract %arg0,
// CHECK: arith.constant dense<1.250000e-01> : tensor<f32>
// CHECK: graph.broadcast
// CHECK-NEXT: arith.mulf %[[P]]
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#rows = affine_map<()[s0] -> (s0, 32)>
#out = affine_map<()[s0] -> (s0, 48)>
module attributes {graph.symbols = ["rows"], graph.nodes = ["x|Div", "s|MatMul"]} {
  func.func @main(%x: tensor<?x32xf32, #rows>, %w: tensor<32x48xf32>) -> tensor<?x48xf32, #out> {
    %c = arith.constant dense<8.0> : tensor<f32>
    %0 = graph.broadcast %c dims [] {graph.node = 0 : i64} : tensor<f32> -> tensor<?x32xf32, #rows>
    %1 = arith.divf %x, %0 {graph.node = 0 : i64} : tensor<?x32xf32, #rows>
    %s = graph.contract %1, %w maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<?x32xf32, #rows>, tensor<32x48xf32> -> tensor<?x48xf32, #out>
    return %s : tensor<?x48xf32, #out>
  }
}

// -----

// Not where something else reads what is scaled.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @mul(
// CHECK: graph.launch @matmul(
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["x|Mul", "s|MatMul"]} {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> (tensor<64x48xf32>, tensor<64x32xf32>) {
    %c = arith.constant dense<0.125> : tensor<64x32xf32>
    %0 = arith.mulf %x, %c {graph.node = 0 : i64} : tensor<64x32xf32>
    %s = graph.contract %0, %w maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<64x32xf32>, tensor<32x48xf32> -> tensor<64x48xf32>
    return %s, %0 : tensor<64x48xf32>, tensor<64x32xf32>
  }
}

// -----

// Nor where other work is done on the operand: the multiplication is part of that.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @[[CHAIN:exp_mul]](
// CHECK: graph.launch @matmul(
// CHECK-LABEL: graph.kernel @exp_mul
// CHECK: arith.mulf
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["e|Exp", "x|Mul", "s|MatMul"]} {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x48xf32> {
    %c = arith.constant dense<0.125> : tensor<64x32xf32>
    %e = math.exp %x {graph.node = 0 : i64} : tensor<64x32xf32>
    %0 = arith.mulf %e, %c {graph.node = 1 : i64} : tensor<64x32xf32>
    %s = graph.contract %0, %w maps [#mk, #kn, #mn] {graph.node = 2 : i64} : tensor<64x32xf32>, tensor<32x48xf32> -> tensor<64x48xf32>
    return %s : tensor<64x48xf32>
  }
}

// -----

// Nor a number so small that the sum it would multiply might be infinite.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @mul(
// CHECK: graph.launch @matmul(
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["x|Mul", "s|MatMul"]} {
  func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x48xf32> {
    %c = arith.constant dense<1.0e-20> : tensor<64x32xf32>
    %0 = arith.mulf %x, %c {graph.node = 0 : i64} : tensor<64x32xf32>
    %s = graph.contract %0, %w maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<64x32xf32>, tensor<32x48xf32> -> tensor<64x48xf32>
    return %s : tensor<64x48xf32>
  }
}

// -----

// A convolution keeps it.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @mul(
// CHECK: graph.launch @conv(
#x = affine_map<(n, y, x, m, i, j, c) -> (n, y, x, i, j, c)>
#w = affine_map<(n, y, x, m, i, j, c) -> (m, c, i, j)>
#o = affine_map<(n, y, x, m, i, j, c) -> (n, y, x, m)>
module attributes {graph.nodes = ["x|Mul", "s|Conv"]} {
  func.func @main(%x: tensor<1x9x9x16xf32>, %w: tensor<24x16x3x3xf32>) -> tensor<1x9x9x24xf32> {
    %c = arith.constant dense<0.125> : tensor<1x9x9x16xf32>
    %0 = arith.mulf %x, %c {graph.node = 0 : i64} : tensor<1x9x9x16xf32>
    %1 = graph.window %0 dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<1x9x9x16xf32> -> tensor<1x9x9x3x3x16xf32>
    %s = graph.contract %1, %w maps [#x, #w, #o] {graph.node = 1 : i64} : tensor<1x9x9x3x3x16xf32>, tensor<24x16x3x3xf32> -> tensor<1x9x9x24xf32>
    return %s : tensor<1x9x9x24xf32>
  }
}

// -----

// A cache with the newest key behind it, which an attention would read in place.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @concat(
// CHECK: graph.launch @matmul_mul(
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["cat|Concat", "k|Mul", "s|MatMul"]} {
  func.func @main(%q: tensor<64x32xf32>, %cache: tensor<79x32xf32>, %k: tensor<1x32xf32>) -> tensor<64x80xf32> {
    %c = arith.constant dense<0.125> : tensor<80x32xf32>
    %0 = graph.concat axis 0 %cache, %k {graph.node = 0 : i64} : tensor<79x32xf32>, tensor<1x32xf32> -> tensor<80x32xf32>
    %1 = arith.mulf %0, %c {graph.node = 1 : i64} : tensor<80x32xf32>
    %s = graph.contract %q, %1 maps [#mk, #nk, #mn] {graph.node = 2 : i64} : tensor<64x32xf32>, tensor<80x32xf32> -> tensor<64x80xf32>
    return %s : tensor<64x80xf32>
  }
}

// -----

// One that is an output is stored anyway, and the scaled one beside it.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @concat_mul(
// CHECK: graph.launch @matmul(
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["cat|Concat", "k|Mul", "s|MatMul"]} {
  func.func @main(%q: tensor<64x32xf32>, %cache: tensor<79x32xf32>, %k: tensor<1x32xf32>) -> (tensor<64x80xf32>, tensor<80x32xf32>) {
    %c = arith.constant dense<0.125> : tensor<80x32xf32>
    %0 = graph.concat axis 0 %cache, %k {graph.node = 0 : i64} : tensor<79x32xf32>, tensor<1x32xf32> -> tensor<80x32xf32>
    %1 = arith.mulf %0, %c {graph.node = 1 : i64} : tensor<80x32xf32>
    %s = graph.contract %q, %1 maps [#mk, #nk, #mn] {graph.node = 2 : i64} : tensor<64x32xf32>, tensor<80x32xf32> -> tensor<64x80xf32>
    return %s, %0 : tensor<64x80xf32>, tensor<80x32xf32>
  }
}
