// The same activations in several forms are always one kernel with the contraction, or with the reductions of their rows.
// RUN: tilewright-opt %s --split-input-file --tilewright-normalize-graph --tilewright-group-form-groups=mode=all | FileCheck %s

// GELU: 0.5 * x * (1 + erf(x / sqrt 2)).
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: graph.launch
// CHECK-NEXT: return
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %x = graph.contract %a, %a maps [#mk, #kn, #mn] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %c = arith.constant dense<0.70710678> : tensor<64x64xf32>
    %one = arith.constant dense<1.0> : tensor<64x64xf32>
    %half = arith.constant dense<0.5> : tensor<64x64xf32>
    %0 = arith.mulf %x, %c : tensor<64x64xf32>
    %1 = math.erf %0 : tensor<64x64xf32>
    %2 = arith.addf %1, %one : tensor<64x64xf32>
    %3 = arith.mulf %x, %half : tensor<64x64xf32>
    %4 = arith.mulf %3, %2 : tensor<64x64xf32>
    return %4 : tensor<64x64xf32>
  }
}

// -----

// GELU by tanh, with the cube as products.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: graph.launch
// CHECK-NEXT: return
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %x = graph.contract %a, %a maps [#mk, #kn, #mn] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %c = arith.constant dense<0.044715> : tensor<64x64xf32>
    %one = arith.constant dense<1.0> : tensor<64x64xf32>
    %0 = arith.mulf %x, %x : tensor<64x64xf32>
    %1 = arith.mulf %0, %x : tensor<64x64xf32>
    %2 = arith.mulf %1, %c : tensor<64x64xf32>
    %3 = arith.addf %x, %2 : tensor<64x64xf32>
    %4 = math.tanh %3 : tensor<64x64xf32>
    %5 = arith.addf %4, %one : tensor<64x64xf32>
    %6 = arith.mulf %x, %5 : tensor<64x64xf32>
    return %6 : tensor<64x64xf32>
  }
}

// -----

// The same through a split shape and broadcast scalars, divided instead of multiplied.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: return
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<8x8x64xf32> {
    %r = graph.contract %a, %a maps [#mk, #kn, #mn] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %x = graph.reshape %r : tensor<64x64xf32> -> tensor<8x8x64xf32>
    %c = arith.constant dense<1.41421356> : tensor<f32>
    %cb = graph.broadcast %c dims [] : tensor<f32> -> tensor<8x8x64xf32>
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %oneb = graph.broadcast %one dims [2] : tensor<1xf32> -> tensor<8x8x64xf32>
    %0 = arith.divf %x, %cb : tensor<8x8x64xf32>
    %1 = math.erf %0 : tensor<8x8x64xf32>
    %2 = arith.addf %oneb, %1 : tensor<8x8x64xf32>
    %3 = arith.mulf %2, %x : tensor<8x8x64xf32>
    return %3 : tensor<8x8x64xf32>
  }
}

// -----

// SiLU: x * sigmoid(x) as x / (1 + exp(-x)).
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: graph.launch
// CHECK-NEXT: return
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %x = graph.contract %a, %a maps [#mk, #kn, #mn] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %one = arith.constant dense<1.0> : tensor<64x64xf32>
    %0 = arith.negf %x : tensor<64x64xf32>
    %1 = math.exp %0 : tensor<64x64xf32>
    %2 = arith.addf %1, %one : tensor<64x64xf32>
    %3 = arith.divf %x, %2 : tensor<64x64xf32>
    return %3 : tensor<64x64xf32>
  }
}

// -----

// Softmax without the maximum, over three dimensions; then with keepdims shapes; the log form.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: graph.launch
// CHECK-NOT: graph.launch
// CHECK: return
module {
  func.func @main(%x: tensor<4x8x64xf32>) -> tensor<4x8x64xf32> {
    %4 = math.exp %x : tensor<4x8x64xf32>
    %5 = graph.reduce <sum> %4 axes [2] : tensor<4x8x64xf32> -> tensor<4x8xf32>
    %6 = graph.reshape %5 : tensor<4x8xf32> -> tensor<4x8x1xf32>
    %7 = graph.broadcast %6 dims [0, 1, 2] : tensor<4x8x1xf32> -> tensor<4x8x64xf32>
    %8 = arith.divf %4, %7 : tensor<4x8x64xf32>
    return %8 : tensor<4x8x64xf32>
  }
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: graph.launch
// CHECK-NOT: graph.launch
// CHECK: return
module {
  func.func @main(%x: tensor<4x8x64xf32>) -> tensor<4x8x64xf32> {
    %1 = graph.reduce <max> %x axes [2] : tensor<4x8x64xf32> -> tensor<4x8xf32>
    %2 = graph.reshape %1 : tensor<4x8xf32> -> tensor<4x8x1xf32>
    %3 = graph.broadcast %2 dims [0, 1, 2] : tensor<4x8x1xf32> -> tensor<4x8x64xf32>
    %4 = arith.subf %x, %3 : tensor<4x8x64xf32>
    %5 = math.exp %4 : tensor<4x8x64xf32>
    %6 = graph.reduce <sum> %5 axes [2] : tensor<4x8x64xf32> -> tensor<4x8xf32>
    %7 = math.log %6 : tensor<4x8xf32>
    %8 = graph.broadcast %7 dims [0, 1] : tensor<4x8xf32> -> tensor<4x8x64xf32>
    %9 = arith.subf %4, %8 : tensor<4x8x64xf32>
    %10 = math.exp %9 : tensor<4x8x64xf32>
    return %10 : tensor<4x8x64xf32>
  }
}
