// Contractions of one left side whose results meet in an epilogue share a kernel on GPUs: gate and up of an MLP.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=epilogue | FileCheck %s --check-prefix=EPILOGUE
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all cpu=true explain=text' -o /dev/null | FileCheck %s --check-prefix=CPU
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s --check-prefix=TEXT

// The least of it. A core computes one after the other, whose left side and sums stay in its caches.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x64xf16>
// CHECK: graph.launch @matmul_mul(
// CHECK-NOT: graph.launch
// CHECK: graph.kernel @matmul_mul
// CHECK-SAME: root = #graph.root<matmul>
// EPILOGUE-LABEL: func.func @main(%arg0: tensor<16x64xf16>
// EPILOGUE-COUNT-2: graph.launch
// CPU: is not fused with {{.*}} because this target computes such contractions in kernels of their own
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "act|Mul"]} {
  func.func @main(%x: tensor<16x64xf16>, %g: tensor<64x96xf16>, %u: tensor<64x96xf16>) -> tensor<16x96xf32> {
    %0 = graph.contract %x, %g maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x96xf16> -> tensor<16x96xf32>
    %1 = graph.contract %x, %u maps [#x, #w, #y] {graph.node = 1 : i64} : tensor<16x64xf16>, tensor<64x96xf16> -> tensor<16x96xf32>
    %2 = arith.mulf %0, %1 {graph.node = 2 : i64} : tensor<16x96xf32>
    return %2 : tensor<16x96xf32>
  }
}

// -----

// Refused: many singles, which the matrix units multiply in a form that has one sum.
// CHECK-LABEL: func.func @main(%arg0: tensor<8192x64xf32>
// CHECK-COUNT-2: graph.launch
// TEXT: because this target computes such contractions in kernels of their own
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "act|Mul"]} {
  func.func @main(%x: tensor<8192x64xf32>, %g: tensor<64x96xf32>, %u: tensor<64x96xf32>) -> tensor<8192x96xf32> {
    %0 = graph.contract %x, %g maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<8192x64xf32>, tensor<64x96xf32> -> tensor<8192x96xf32>
    %1 = graph.contract %x, %u maps [#x, #w, #y] {graph.node = 1 : i64} : tensor<8192x64xf32>, tensor<64x96xf32> -> tensor<8192x96xf32>
    %2 = arith.mulf %0, %1 {graph.node = 2 : i64} : tensor<8192x96xf32>
    return %2 : tensor<8192x96xf32>
  }
}

// -----

// Few of them are multiplied as fast with two sums.
// CHECK-LABEL: func.func @main(%arg0: tensor<1x64xf32>
// CHECK: graph.launch @matmul_mul(
// CHECK-NOT: graph.launch
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "act|Mul"]} {
  func.func @main(%x: tensor<1x64xf32>, %g: tensor<64x96xf32>, %u: tensor<64x96xf32>) -> tensor<1x96xf32> {
    %0 = graph.contract %x, %g maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<1x64xf32>, tensor<64x96xf32> -> tensor<1x96xf32>
    %1 = graph.contract %x, %u maps [#x, #w, #y] {graph.node = 1 : i64} : tensor<1x64xf32>, tensor<64x96xf32> -> tensor<1x96xf32>
    %2 = arith.mulf %0, %1 {graph.node = 2 : i64} : tensor<1x96xf32>
    return %2 : tensor<1x96xf32>
  }
}

// -----

// The left side is read through equal accesses, and one of the products is wanted in memory, too.
// CHECK-LABEL: func.func @main(%arg0: tensor<2x8x64xf16>
// CHECK: %{{.*}}:2 = graph.launch @matmul_mul(
// CHECK-NOT: graph.launch
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "act|Mul"]} {
  func.func @main(%x: tensor<2x8x64xf16>, %g: tensor<64x96xf16>, %u: tensor<64x96xf16>) -> (tensor<16x96xf32>, tensor<16x96xf32>) {
    %a = graph.reshape %x {graph.node = 0 : i64} : tensor<2x8x64xf16> -> tensor<16x64xf16>
    %b = graph.reshape %x {graph.node = 1 : i64} : tensor<2x8x64xf16> -> tensor<16x64xf16>
    %0 = graph.contract %a, %g maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x96xf16> -> tensor<16x96xf32>
    %1 = graph.contract %b, %u maps [#x, #w, #y] {graph.node = 1 : i64} : tensor<16x64xf16>, tensor<64x96xf16> -> tensor<16x96xf32>
    %2 = arith.mulf %0, %1 {graph.node = 2 : i64} : tensor<16x96xf32>
    return %2, %1 : tensor<16x96xf32>, tensor<16x96xf32>
  }
}

// -----

// Refused: another left side.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x32xf16>
// CHECK-COUNT-2: graph.launch
// TEXT: because a kernel holds one contraction (two around a softmax, or of one left side), and this would be one more
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "act|Mul"]} {
  func.func @main(%x: tensor<16x32xf16>, %h: tensor<16x32xf16>, %g: tensor<32x96xf16>, %u: tensor<32x96xf16>) -> tensor<16x96xf32> {
    %0 = graph.contract %x, %g maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x32xf16>, tensor<32x96xf16> -> tensor<16x96xf32>
    %1 = graph.contract %h, %u maps [#x, #w, #y] {graph.node = 1 : i64} : tensor<16x32xf16>, tensor<32x96xf16> -> tensor<16x96xf32>
    %2 = arith.mulf %0, %1 {graph.node = 2 : i64} : tensor<16x96xf32>
    return %2 : tensor<16x96xf32>
  }
}

// -----

// Refused: a right side that is computed, which would need registers for two.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x128xf16>
// CHECK-COUNT-2: graph.launch
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "act|Mul"]} {
  func.func @main(%x: tensor<16x128xf16>, %g: tensor<128x96xi8>, %u: tensor<128x96xf16>) -> tensor<16x96xf32> {
    %wide = arith.sitofp %g {graph.node = 0 : i64} : tensor<128x96xi8> to tensor<128x96xf16>
    %0 = graph.contract %x, %wide maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x128xf16>, tensor<128x96xf16> -> tensor<16x96xf32>
    %1 = graph.contract %x, %u maps [#x, #w, #y] {graph.node = 1 : i64} : tensor<16x128xf16>, tensor<128x96xf16> -> tensor<16x96xf32>
    %2 = arith.mulf %0, %1 {graph.node = 2 : i64} : tensor<16x96xf32>
    return %2 : tensor<16x96xf32>
  }
}

// -----

// Refused: a left side of windows, whose addresses and masks need the registers.
// CHECK-LABEL: func.func @main(%arg0: tensor<1x9x8x32xf16>
// CHECK-COUNT-2: graph.launch
#v = affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>
#f = affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>
#r = affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>
module attributes {graph.nodes = ["a|Conv", "b|Conv", "mul|Mul"]} {
  func.func @main(%x: tensor<1x9x8x32xf16>, %p: tensor<3x3x32x16xf16>, %q: tensor<3x3x32x16xf16>) -> tensor<1x9x8x16xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<1x9x8x32xf16> -> tensor<1x9x8x3x3x32xf16>
    %0 = graph.contract %v, %p maps [#v, #f, #r] {graph.node = 0 : i64} : tensor<1x9x8x3x3x32xf16>, tensor<3x3x32x16xf16> -> tensor<1x9x8x16xf32>
    %1 = graph.contract %v, %q maps [#v, #f, #r] {graph.node = 1 : i64} : tensor<1x9x8x3x3x32xf16>, tensor<3x3x32x16xf16> -> tensor<1x9x8x16xf32>
    %2 = arith.mulf %0, %1 {graph.node = 2 : i64} : tensor<1x9x8x16xf32>
    return %2 : tensor<1x9x8x16xf32>
  }
}

// -----

// Of few rows three of them are one kernel.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x256xf16>
// CHECK: graph.launch @matmul_mul_add(
// CHECK-NOT: graph.launch
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "third|MatMul", "act|Mul", "more|Add"]} {
  func.func @main(%x: tensor<16x256xf16>, %g: tensor<256x96xf16>, %u: tensor<256x96xf16>, %t: tensor<256x96xf16>) -> tensor<16x96xf32> {
    %0 = graph.contract %x, %g maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x256xf16>, tensor<256x96xf16> -> tensor<16x96xf32>
    %1 = graph.contract %x, %u maps [#x, #w, #y] {graph.node = 1 : i64} : tensor<16x256xf16>, tensor<256x96xf16> -> tensor<16x96xf32>
    %2 = graph.contract %x, %t maps [#x, #w, #y] {graph.node = 2 : i64} : tensor<16x256xf16>, tensor<256x96xf16> -> tensor<16x96xf32>
    %3 = arith.mulf %0, %1 {graph.node = 3 : i64} : tensor<16x96xf32>
    %4 = arith.addf %3, %2 {graph.node = 4 : i64} : tensor<16x96xf32>
    return %4 : tensor<16x96xf32>
  }
}

// -----

// A near miss: of many rows, a third product of the same left side is a kernel of its own.
// CHECK-LABEL: func.func @main(%arg0: tensor<4096x256xf16>
// CHECK-COUNT-2: graph.launch
// CHECK-NOT: graph.launch
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "third|MatMul", "act|Mul", "more|Add"]} {
  func.func @main(%x: tensor<4096x256xf16>, %g: tensor<256x96xf16>, %u: tensor<256x96xf16>, %t: tensor<256x96xf16>) -> tensor<4096x96xf32> {
    %0 = graph.contract %x, %g maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<4096x256xf16>, tensor<256x96xf16> -> tensor<4096x96xf32>
    %1 = graph.contract %x, %u maps [#x, #w, #y] {graph.node = 1 : i64} : tensor<4096x256xf16>, tensor<256x96xf16> -> tensor<4096x96xf32>
    %2 = graph.contract %x, %t maps [#x, #w, #y] {graph.node = 2 : i64} : tensor<4096x256xf16>, tensor<256x96xf16> -> tensor<4096x96xf32>
    %3 = arith.mulf %0, %1 {graph.node = 3 : i64} : tensor<4096x96xf32>
    %4 = arith.addf %3, %2 {graph.node = 4 : i64} : tensor<4096x96xf32>
    return %4 : tensor<4096x96xf32>
  }
}
