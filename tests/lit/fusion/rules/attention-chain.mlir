// A softmax between two contractions becomes one kernel with both, whatever is done to the scores before it, and however the
// exporter wrote it.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=none | FileCheck %s --check-prefix=NONE
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all attention=none explain=text' -o /dev/null | FileCheck %s --check-prefix=TARGET
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all attention=large explain=text' -o /dev/null | FileCheck %s --check-prefix=LARGE
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all attention=halves explain=text' -o /dev/null | FileCheck %s --check-prefix=TARGET
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all attention=floats explain=text' -o /dev/null | FileCheck %s --check-prefix=FLOATS

// The least of it. In mode none each node is a kernel, and a target may have none with two contractions.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul_softmax(%arg0, %arg1, %arg2)
// CHECK-NOT: graph.launch
// CHECK: graph.kernel @matmul_softmax
// CHECK-SAME: root = #graph.root<attention>
// NONE-LABEL: func.func @main
// NONE: graph.launch @matmul(
// NONE: graph.launch @softmax(
// NONE: graph.launch @matmul_0(
// TARGET: softmax is not fused with pv because this target computes such contractions in kernels of their own
// FLOATS-NOT: softmax is not fused with pv because this target
// LARGE: softmax is not fused with pv because the scores are so few that they stay in a core's cache between kernels
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x32xf32>) -> tensor<8x64x32xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf32>, tensor<8x96x32xf32> -> tensor<8x64x96xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 2 : i64} : tensor<8x64x96xf32>, tensor<8x96x32xf32> -> tensor<8x64x32xf32>
    return %o : tensor<8x64x32xf32>
  }
}

// -----

// A scale, a mask that is selected, and shares of rows without a live key made 0: behind views of the scores.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul_mul_where_reshape_etc(
// CHECK-NOT: graph.launch
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "mul|Mul", "where|Where", "softmax|Softmax", "isnan|Where", "pv|MatMul", "view|Reshape"]} {
  func.func @main(%q: tensor<8x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x32xf32>, %mask: tensor<64x96xi1>) -> tensor<8x64x32xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf32>, tensor<8x96x32xf32> -> tensor<8x64x96xf32>
    %c = arith.constant dense<0.125> : tensor<8x64x96xf32>
    %1 = arith.mulf %s, %c {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %never = arith.constant dense<0xFF800000> : tensor<8x64x96xf32>
    %mb0 = graph.broadcast %mask dims [1, 2] {graph.node = 2 : i64} : tensor<64x96xi1> -> tensor<8x64x96xi1>
    %2 = arith.select %mb0, %1, %never {graph.node = 2 : i64} : tensor<8x64x96xi1>, tensor<8x64x96xf32>
    %3 = graph.reshape %2 {graph.node = 6 : i64} : tensor<8x64x96xf32> -> tensor<2x4x64x96xf32>
    %m = graph.reduce <max> %3 axes [3] {graph.node = 3 : i64} : tensor<2x4x64x96xf32> -> tensor<2x4x64xf32>
    %mb = graph.broadcast %m dims [0, 1, 2] {graph.node = 3 : i64} : tensor<2x4x64xf32> -> tensor<2x4x64x96xf32>
    %d = arith.subf %3, %mb {graph.node = 3 : i64} : tensor<2x4x64x96xf32>
    %e = math.exp %d {graph.node = 3 : i64} : tensor<2x4x64x96xf32>
    %t = graph.reduce <sum> %e axes [3] {graph.node = 3 : i64} : tensor<2x4x64x96xf32> -> tensor<2x4x64xf32>
    %tb = graph.broadcast %t dims [0, 1, 2] {graph.node = 3 : i64} : tensor<2x4x64xf32> -> tensor<2x4x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 3 : i64} : tensor<2x4x64x96xf32>
    %nan = arith.cmpf uno, %p, %p {graph.node = 4 : i64} : tensor<2x4x64x96xf32>
    %zero = arith.constant dense<0.0> : tensor<2x4x64x96xf32>
    %g = arith.select %nan, %zero, %p {graph.node = 4 : i64} : tensor<2x4x64x96xi1>, tensor<2x4x64x96xf32>
    %4 = graph.reshape %g {graph.node = 6 : i64} : tensor<2x4x64x96xf32> -> tensor<8x64x96xf32>
    %o = graph.contract %4, %v maps [#sh, #ne, #me] {graph.node = 5 : i64} : tensor<8x64x96xf32>, tensor<8x96x32xf32> -> tensor<8x64x32xf32>
    return %o : tensor<8x64x32xf32>
  }
}

// -----

// A single head: the softmax has no dimension for it, the contractions have.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul_softmax(
// CHECK-NOT: graph.launch
#qd = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#kd = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#mn = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#ne = affine_map<(b, h, m, e, n) -> (b, h, n, e)>
#sh = affine_map<(b, h, m, e, n) -> (b, h, m, n)>
#me = affine_map<(b, h, m, e, n) -> (b, h, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x1x64x32xf32>, %k: tensor<8x1x96x32xf32>, %v: tensor<8x1x96x32xf32>) -> tensor<8x1x64x32xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x1x64x32xf32>, tensor<8x1x96x32xf32> -> tensor<8x1x64x96xf32>
    %0 = graph.reshape %s {graph.node = 0 : i64} : tensor<8x1x64x96xf32> -> tensor<8x64x96xf32>
    %m = graph.reduce <max> %0 axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %0, %mb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %1 = graph.reshape %p {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x1x64x96xf32>
    %o = graph.contract %1, %v maps [#sh, #ne, #me] {graph.node = 2 : i64} : tensor<8x1x64x96xf32>, tensor<8x1x96x32xf32> -> tensor<8x1x64x32xf32>
    return %o : tensor<8x1x64x32xf32>
  }
}

// -----

// The scores are an output too.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch
// CHECK: graph.launch
// CHECK: graph.launch
// TEXT: softmax is not fused with pv because the value is needed in memory by several kernels
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x32xf32>) -> (tensor<8x64x32xf32>, tensor<8x64x96xf32>) {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf32>, tensor<8x96x32xf32> -> tensor<8x64x96xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 2 : i64} : tensor<8x64x96xf32>, tensor<8x96x32xf32> -> tensor<8x64x32xf32>
    return %o, %s : tensor<8x64x32xf32>, tensor<8x64x96xf32>
  }
}

// -----

// The shares are an output too.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch
// CHECK: graph.launch
// CHECK: graph.launch
// TEXT: softmax is not fused with pv because the value is needed in memory by several kernels
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x32xf32>) -> (tensor<8x64x32xf32>, tensor<8x64x96xf32>) {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf32>, tensor<8x96x32xf32> -> tensor<8x64x96xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 2 : i64} : tensor<8x64x96xf32>, tensor<8x96x32xf32> -> tensor<8x64x32xf32>
    return %o, %p : tensor<8x64x32xf32>, tensor<8x64x96xf32>
  }
}

// -----

// Squares instead of exponentials: their sum does not follow from sums relative to another largest score.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch
// CHECK: graph.launch
// CHECK: graph.launch
// TEXT: softmax is not fused with pv because between the two contractions is no softmax whose rows can be summed a few keys at a time
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x32xf32>) -> tensor<8x64x32xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf32>, tensor<8x96x32xf32> -> tensor<8x64x96xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %e = arith.mulf %d, %d {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 2 : i64} : tensor<8x64x96xf32>, tensor<8x96x32xf32> -> tensor<8x64x32xf32>
    return %o : tensor<8x64x32xf32>
  }
}

// -----

// The softmax runs along the keys, the second contraction along the rows.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch
// CHECK: graph.launch
// CHECK: graph.launch
// TEXT: softmax is not fused with pv because the rows between the two contractions are not those along which both have a loop of its own
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x64x32xf32>, %k: tensor<8x64x32xf32>, %v: tensor<8x64x32xf32>) -> tensor<8x64x32xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf32>, tensor<8x64x32xf32> -> tensor<8x64x64xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x64xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x64xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x64x64xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x64x64xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x64xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x64xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x64xf32>
    %o = graph.contract %p, %v maps [affine_map<(b, m, e, n) -> (b, n, m)>, #ne, #me] {graph.node = 2 : i64} : tensor<8x64x64xf32>, tensor<8x64x32xf32> -> tensor<8x64x32xf32>
    return %o : tensor<8x64x32xf32>
  }
}

// -----

// A single row streams its keys and values, in one kernel or in three.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul_softmax(
// CHECK-NOT: graph.launch
// LARGE: softmax is not fused with pv because too few rows would share what one kernel reads again for each of its blocks of rows
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x1x32xf32>, %k: tensor<8x65536x32xf32>, %v: tensor<8x65536x32xf32>) -> tensor<8x1x32xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x1x32xf32>, tensor<8x65536x32xf32> -> tensor<8x1x65536xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x1x65536xf32> -> tensor<8x1xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x1xf32> -> tensor<8x1x65536xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x1x65536xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x1x65536xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x1x65536xf32> -> tensor<8x1xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x1xf32> -> tensor<8x1x65536xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x1x65536xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 2 : i64} : tensor<8x1x65536xf32>, tensor<8x65536x32xf32> -> tensor<8x1x32xf32>
    return %o : tensor<8x1x32xf32>
  }
}

// -----

// A head of a size that no tile holds.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch
// CHECK: graph.launch
// CHECK: graph.launch
// TEXT: softmax is not fused with pv because the size of a head is not known when compiling, or more than one tile can hold
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x64x512xf32>, %k: tensor<8x96x512xf32>, %v: tensor<8x96x512xf32>) -> tensor<8x64x512xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x512xf32>, tensor<8x96x512xf32> -> tensor<8x64x96xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 2 : i64} : tensor<8x64x96xf32>, tensor<8x96x512xf32> -> tensor<8x64x512xf32>
    return %o : tensor<8x64x512xf32>
  }
}

// -----

// Logits that are relative to their row's largest already: two maxima, one of which stays in the product's kernel.
// CHECK-LABEL: func.func @main
// CHECK-NOT: #graph.root<attention>
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "max|ReduceMax", "sub|Sub", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x32xf32>) -> tensor<8x64x32xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf32>, tensor<8x96x32xf32> -> tensor<8x64x96xf32>
    %n = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %nb = graph.broadcast %n dims [0, 1] {graph.node = 2 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %l = arith.subf %s, %nb {graph.node = 2 : i64} : tensor<8x64x96xf32>
    %m = graph.reduce <max> %l axes [2] {graph.node = 3 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 3 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %l, %mb {graph.node = 3 : i64} : tensor<8x64x96xf32>
    %e = math.exp %d {graph.node = 3 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 3 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 3 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 3 : i64} : tensor<8x64x96xf32>
    %o = graph.contract %p, %v maps [#sh, #ne, #me] {graph.node = 4 : i64} : tensor<8x64x96xf32>, tensor<8x96x32xf32> -> tensor<8x64x32xf32>
    return %o : tensor<8x64x32xf32>
  }
}

// -----

// Scores by relative position: batch and heads are rows of that product, so the values differ from row to row.
// CHECK-LABEL: func.func @main
// CHECK-NOT: #graph.root<attention>
module attributes {graph.nodes = ["einsum|Einsum", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<2x4x64x16xf32>, %p: tensor<64x96x16xf32>, %v: tensor<2x4x96x16xf32>) -> tensor<2x4x64x16xf32> {
    %s = graph.contract %q, %p maps [affine_map<(b, h, l, r, d) -> (b, h, l, d)>, affine_map<(b, h, l, r, d) -> (l, r, d)>, affine_map<(b, h, l, r, d) -> (b, h, l, r)>] {graph.node = 0 : i64}
        : tensor<2x4x64x16xf32>, tensor<64x96x16xf32> -> tensor<2x4x64x96xf32>
    %m = graph.reduce <max> %s axes [3] {graph.node = 1 : i64} : tensor<2x4x64x96xf32> -> tensor<2x4x64xf32>
    %mb = graph.broadcast %m dims [0, 1, 2] {graph.node = 1 : i64} : tensor<2x4x64xf32> -> tensor<2x4x64x96xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<2x4x64x96xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<2x4x64x96xf32>
    %t = graph.reduce <sum> %e axes [3] {graph.node = 1 : i64} : tensor<2x4x64x96xf32> -> tensor<2x4x64xf32>
    %tb = graph.broadcast %t dims [0, 1, 2] {graph.node = 1 : i64} : tensor<2x4x64xf32> -> tensor<2x4x64x96xf32>
    %w = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<2x4x64x96xf32>
    %o = graph.contract %w, %v maps [affine_map<(b, h, l, c, r) -> (b, h, l, r)>, affine_map<(b, h, l, c, r) -> (b, h, r, c)>, affine_map<(b, h, l, c, r) -> (b, h, l, c)>] {graph.node = 2 : i64}
        : tensor<2x4x64x96xf32>, tensor<2x4x96x16xf32> -> tensor<2x4x64x16xf32>
    return %o : tensor<2x4x64x16xf32>
  }
}

// -----

// The scores are of float32 and the values of halves: on a GPU both products have operands of one type, or both have values of halves.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul_softmax(%arg0, %arg1, %arg2)
// FLOATS: softmax is not fused with pv because this target computes such contractions in kernels of their own
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%q: tensor<8x64x32xf32>, %k: tensor<8x96x32xf32>, %v: tensor<8x96x32xf16>) -> tensor<8x64x32xf32> {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf32>, tensor<8x96x32xf32> -> tensor<8x64x96xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %h = arith.truncf %p {graph.node = 1 : i64} : tensor<8x64x96xf32> to tensor<8x64x96xf16>
    %o = graph.contract %h, %v maps [#sh, #ne, #me] {graph.node = 2 : i64} : tensor<8x64x96xf16>, tensor<8x96x32xf16> -> tensor<8x64x32xf32>
    return %o : tensor<8x64x32xf32>
  }
}

// -----

// A model of halves whose mask is of float32, so that its softmax is, and the values are widened before they are mixed. A GPU's
// kernel multiplies with the halves, for which the conversion moves behind the accesses. Values of the other half type, and ones
// that are widened for the scores too, are not of one type with the scores.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @matmul_softmax_cast(
// CHECK-LABEL: graph.kernel @matmul_softmax_cast
// CHECK: %[[V:.*]] = graph.transpose %{{.*}} perm [1, 0, 2] : tensor<96x8x32xf16> -> tensor<8x96x32xf16>
// CHECK: %[[W:.*]] = arith.extf %[[V]] : tensor<8x96x32xf16> to tensor<8x96x32xf32>
// CHECK: graph.contract %{{.*}}, %[[W]]
// TARGET: softmax is not fused with pv because this target computes such contractions in kernels of their own
// FLOATS-NOT: softmax is not fused with pv because this target
// FLOATS: other is not fused with mixed because this target computes such contractions in kernels of their own
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["qk|MatMul", "softmax|Softmax", "cast|Cast", "pv|MatMul", "kq|MatMul", "other|Softmax", "mixed|MatMul"]} {
  func.func @main(%q: tensor<8x64x32xf16>, %k: tensor<8x96x32xf16>, %v: tensor<96x8x32xf16>, %b: tensor<8x96x32xbf16>) -> (tensor<8x64x32xf32>, tensor<8x64x32xf32>) {
    %s = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<8x64x32xf16>, tensor<8x96x32xf16> -> tensor<8x64x96xf32>
    %m = graph.reduce <max> %s axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d = arith.subf %s, %mb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %e = math.exp %d {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %t = graph.reduce <sum> %e axes [2] {graph.node = 1 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb = graph.broadcast %t dims [0, 1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p = arith.divf %e, %tb {graph.node = 1 : i64} : tensor<8x64x96xf32>
    %w = arith.extf %v {graph.node = 2 : i64} : tensor<96x8x32xf16> to tensor<96x8x32xf32>
    %vt = graph.transpose %w perm [1, 0, 2] {graph.node = 2 : i64} : tensor<96x8x32xf32> -> tensor<8x96x32xf32>
    %o = graph.contract %p, %vt maps [#sh, #ne, #me] {graph.node = 3 : i64} : tensor<8x64x96xf32>, tensor<8x96x32xf32> -> tensor<8x64x32xf32>
    %s2 = graph.contract %k, %q maps [#kd, #qd, #mn] {graph.node = 4 : i64} : tensor<8x96x32xf16>, tensor<8x64x32xf16> -> tensor<8x64x96xf32>
    %m2 = graph.reduce <max> %s2 axes [2] {graph.node = 5 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %mb2 = graph.broadcast %m2 dims [0, 1] {graph.node = 5 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %d2 = arith.subf %s2, %mb2 {graph.node = 5 : i64} : tensor<8x64x96xf32>
    %e2 = math.exp %d2 {graph.node = 5 : i64} : tensor<8x64x96xf32>
    %t2 = graph.reduce <sum> %e2 axes [2] {graph.node = 5 : i64} : tensor<8x64x96xf32> -> tensor<8x64xf32>
    %tb2 = graph.broadcast %t2 dims [0, 1] {graph.node = 5 : i64} : tensor<8x64xf32> -> tensor<8x64x96xf32>
    %p2 = arith.divf %e2, %tb2 {graph.node = 5 : i64} : tensor<8x64x96xf32>
    %bw = arith.extf %b {graph.node = 6 : i64} : tensor<8x96x32xbf16> to tensor<8x96x32xf32>
    %o2 = graph.contract %p2, %bw maps [#sh, #ne, #me] {graph.node = 6 : i64} : tensor<8x64x96xf32>, tensor<8x96x32xf32> -> tensor<8x64x32xf32>
    return %o, %o2 : tensor<8x64x32xf32>, tensor<8x64x32xf32>
  }
}
