// A product whose columns are read in equal parts that meet is a kernel with a sum for each part: gates of a recurrence, an MLP whose gate and up are one constant.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=epilogue | FileCheck %s --check-prefix=EPILOGUE
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all cpu=true explain=text' -o /dev/null | FileCheck %s --check-prefix=CPU
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s --check-prefix=TEXT

// Two halves of the columns meet: each is a product with its half of the right side. A core keeps the result in its caches.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x64xf16>, %arg1: tensor<64x256xf16>) -> tensor<16x128xf32>
// CHECK: graph.launch @matmul_tanh_mul(%arg0, %arg1)
// CHECK-NOT: graph.launch
// CHECK: graph.kernel @matmul_tanh_mul
// CHECK: %[[V:.*]] = graph.slice %arg1 offsets #[[FIRST:.*]] strides [1, 1] : tensor<64x256xf16> -> tensor<64x128xf16>
// CHECK: graph.contract %arg0, %[[V]]
// CHECK: %[[U:.*]] = graph.slice %arg1 offsets #[[SECOND:.*]] strides [1, 1] : tensor<64x256xf16> -> tensor<64x128xf16>
// CHECK: graph.contract %arg0, %[[U]]
// CHECK: graph.return %{{.*}} : tensor<16x128xf32>
// EPILOGUE-LABEL: func.func @main(%arg0: tensor<16x64xf16>
// EPILOGUE-COUNT-2: graph.launch
// CPU: because the result is read through an access that is not one to one
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["both|MatMul", "split|Split", "act|Tanh", "mul|Mul"]} {
  func.func @main(%x: tensor<16x64xf16>, %v: tensor<64x256xf16>) -> tensor<16x128xf32> {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x256xf16> -> tensor<16x256xf32>
    %a = graph.slice %0 offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %b = graph.slice %0 offsets affine_map<() -> (0, 128)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %t = math.tanh %a {graph.node = 2 : i64} : tensor<16x128xf32>
    %1 = arith.mulf %t, %b {graph.node = 3 : i64} : tensor<16x128xf32>
    return %1 : tensor<16x128xf32>
  }
}

// -----

// What is between the product and the slices is computed for each part: a bias, a number, and a reshape that leaves the columns.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x64xf16>, %arg1: tensor<64x256xf16>, %arg2: tensor<256xf32>)
// CHECK: graph.launch @{{.*}}matmul
// CHECK-NOT: graph.launch
// CHECK: graph.kernel
// CHECK-COUNT-2: graph.contract
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["both|MatMul", "split|Split", "act|Tanh", "mul|Mul", "bias|Add"]} {
  func.func @main(%x: tensor<16x64xf16>, %v: tensor<64x256xf16>, %bias: tensor<256xf32>) -> tensor<2x8x128xf32> {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x256xf16> -> tensor<16x256xf32>
    %wide = graph.broadcast %bias dims [1] {graph.node = 4 : i64} : tensor<256xf32> -> tensor<16x256xf32>
    %half = arith.constant dense<5.0e-01> : tensor<16x256xf32>
    %c = arith.addf %0, %wide {graph.node = 4 : i64} : tensor<16x256xf32>
    %d = arith.mulf %c, %half {graph.node = 4 : i64} : tensor<16x256xf32>
    %e = graph.reshape %d {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<2x8x256xf32>
    %a = graph.slice %e offsets affine_map<() -> (0, 0, 128)> strides [1, 1, 1] {graph.node = 1 : i64} : tensor<2x8x256xf32> -> tensor<2x8x128xf32>
    %b = graph.slice %e offsets affine_map<() -> (0, 0, 0)> strides [1, 1, 1] {graph.node = 1 : i64} : tensor<2x8x256xf32> -> tensor<2x8x128xf32>
    %t = math.tanh %a {graph.node = 2 : i64} : tensor<2x8x128xf32>
    %1 = arith.mulf %t, %b {graph.node = 3 : i64} : tensor<2x8x128xf32>
    return %1 : tensor<2x8x128xf32>
  }
}

// -----

// A near miss: parts that overlap, so that columns would be computed twice.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x64xf16>
// CHECK-COUNT-2: graph.launch
// CHECK-COUNT-1: graph.contract
// CHECK-NOT: graph.contract
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["both|MatMul", "split|Split", "act|Tanh", "mul|Mul"]} {
  func.func @main(%x: tensor<16x64xf16>, %v: tensor<64x256xf16>) -> tensor<16x128xf32> {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x256xf16> -> tensor<16x256xf32>
    %a = graph.slice %0 offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %b = graph.slice %0 offsets affine_map<() -> (0, 64)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %t = math.tanh %a {graph.node = 2 : i64} : tensor<16x128xf32>
    %1 = arith.mulf %t, %b {graph.node = 3 : i64} : tensor<16x128xf32>
    return %1 : tensor<16x128xf32>
  }
}

// -----

// A near miss: every second column, which would be read with gaps.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x64xf16>
// CHECK-COUNT-2: graph.launch
// CHECK-COUNT-1: graph.contract
// CHECK-NOT: graph.contract
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["both|MatMul", "split|Split", "act|Tanh", "mul|Mul"]} {
  func.func @main(%x: tensor<16x64xf16>, %v: tensor<64x256xf16>) -> tensor<16x128xf32> {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x256xf16> -> tensor<16x256xf32>
    %a = graph.slice %0 offsets affine_map<() -> (0, 0)> strides [1, 2] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %b = graph.slice %0 offsets affine_map<() -> (0, 1)> strides [1, 2] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %t = math.tanh %a {graph.node = 2 : i64} : tensor<16x128xf32>
    %1 = arith.mulf %t, %b {graph.node = 3 : i64} : tensor<16x128xf32>
    return %1 : tensor<16x128xf32>
  }
}

// -----

// A near miss: the whole result is wanted, too.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x64xf16>
// CHECK-COUNT-2: graph.launch
// CHECK-COUNT-1: graph.contract
// CHECK-NOT: graph.contract
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["both|MatMul", "split|Split", "act|Tanh", "mul|Mul"]} {
  func.func @main(%x: tensor<16x64xf16>, %v: tensor<64x256xf16>) -> (tensor<16x128xf32>, tensor<16x256xf32>) {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x256xf16> -> tensor<16x256xf32>
    %a = graph.slice %0 offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %b = graph.slice %0 offsets affine_map<() -> (0, 128)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %t = math.tanh %a {graph.node = 2 : i64} : tensor<16x128xf32>
    %1 = arith.mulf %t, %b {graph.node = 3 : i64} : tensor<16x128xf32>
    return %1, %0 : tensor<16x128xf32>, tensor<16x256xf32>
  }
}

// -----

// A near miss: parts that do not meet. One product is less to start than two.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x64xf16>
// CHECK: graph.kernel @matmul
// CHECK-COUNT-1: graph.contract
// CHECK-NOT: graph.contract
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["both|MatMul", "split|Split", "act|Tanh", "mul|Mul"]} {
  func.func @main(%x: tensor<16x64xf16>, %v: tensor<64x256xf16>) -> (tensor<16x128xf32>, tensor<128xf32>) {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x256xf16> -> tensor<16x256xf32>
    %a = graph.slice %0 offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %b = graph.slice %0 offsets affine_map<() -> (0, 128)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x128xf32>
    %t = math.tanh %a {graph.node = 2 : i64} : tensor<16x128xf32>
    %1 = graph.reduce <max> %b axes [0] {graph.node = 3 : i64} : tensor<16x128xf32> -> tensor<128xf32>
    return %t, %1 : tensor<16x128xf32>, tensor<128xf32>
  }
}

// -----

// A near miss: slices without columns.
// CHECK-LABEL: func.func @main(%arg0: tensor<16x64xf16>, %arg1: tensor<64x256xf16>) -> tensor<16x0xf32>
// CHECK: graph.kernel
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["both|MatMul", "split|Split", "mul|Mul"]} {
  func.func @main(%x: tensor<16x64xf16>, %v: tensor<64x256xf16>) -> tensor<16x0xf32> {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<16x64xf16>, tensor<64x256xf16> -> tensor<16x256xf32>
    %a = graph.slice %0 offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x0xf32>
    %b = graph.slice %0 offsets affine_map<() -> (0, 128)> strides [1, 1] {graph.node = 1 : i64} : tensor<16x256xf32> -> tensor<16x0xf32>
    %1 = arith.mulf %a, %b {graph.node = 2 : i64} : tensor<16x0xf32>
    return %1 : tensor<16x0xf32>
  }
}

// -----

// A near miss: five parts, of which a kernel holds four.
// CHECK-LABEL: func.func @main(%arg0: tensor<1x64xf16>
// CHECK-COUNT-2: graph.launch
// CHECK-COUNT-1: graph.contract
// CHECK-NOT: graph.contract
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["all|MatMul", "split|Split", "add|Add"]} {
  func.func @main(%x: tensor<1x64xf16>, %v: tensor<64x160xf16>) -> tensor<1x32xf32> {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<1x64xf16>, tensor<64x160xf16> -> tensor<1x160xf32>
    %p0 = graph.slice %0 offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<1x160xf32> -> tensor<1x32xf32>
    %p1 = graph.slice %0 offsets affine_map<() -> (0, 32)> strides [1, 1] {graph.node = 1 : i64} : tensor<1x160xf32> -> tensor<1x32xf32>
    %p2 = graph.slice %0 offsets affine_map<() -> (0, 64)> strides [1, 1] {graph.node = 1 : i64} : tensor<1x160xf32> -> tensor<1x32xf32>
    %p3 = graph.slice %0 offsets affine_map<() -> (0, 96)> strides [1, 1] {graph.node = 1 : i64} : tensor<1x160xf32> -> tensor<1x32xf32>
    %p4 = graph.slice %0 offsets affine_map<() -> (0, 128)> strides [1, 1] {graph.node = 1 : i64} : tensor<1x160xf32> -> tensor<1x32xf32>
    %s1 = arith.addf %p0, %p1 {graph.node = 2 : i64} : tensor<1x32xf32>
    %s2 = arith.addf %s1, %p2 {graph.node = 2 : i64} : tensor<1x32xf32>
    %s3 = arith.addf %s2, %p3 {graph.node = 2 : i64} : tensor<1x32xf32>
    %s4 = arith.addf %s3, %p4 {graph.node = 2 : i64} : tensor<1x32xf32>
    return %s4 : tensor<1x32xf32>
  }
}

// -----

// A near miss: three parts of many rows, which are multiplied faster in a product of their own.
// TEXT: because this target computes such contractions in kernels of their own
// CHECK-LABEL: func.func @main(%arg0: tensor<65536x64xf16>
// CHECK-COUNT-2: graph.launch
// CHECK-COUNT-1: graph.contract
// CHECK-NOT: graph.contract
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["all|MatMul", "split|Split", "add|Add"]} {
  func.func @main(%x: tensor<65536x64xf16>, %v: tensor<64x96xf16>) -> tensor<65536x32xf32> {
    %0 = graph.contract %x, %v maps [#x, #w, #y] {graph.node = 0 : i64} : tensor<65536x64xf16>, tensor<64x96xf16> -> tensor<65536x96xf32>
    %p0 = graph.slice %0 offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<65536x96xf32> -> tensor<65536x32xf32>
    %p1 = graph.slice %0 offsets affine_map<() -> (0, 32)> strides [1, 1] {graph.node = 1 : i64} : tensor<65536x96xf32> -> tensor<65536x32xf32>
    %p2 = graph.slice %0 offsets affine_map<() -> (0, 64)> strides [1, 1] {graph.node = 1 : i64} : tensor<65536x96xf32> -> tensor<65536x32xf32>
    %s1 = arith.addf %p0, %p1 {graph.node = 2 : i64} : tensor<65536x32xf32>
    %s2 = arith.addf %s1, %p2 {graph.node = 2 : i64} : tensor<65536x32xf32>
    return %s2 : tensor<65536x32xf32>
  }
}
