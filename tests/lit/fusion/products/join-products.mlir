// Products of one left side are one contraction, with what follows them in step.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=none explain=text' -o /dev/null | FileCheck %s --check-prefix=NONE
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=json cpu=true' -o /dev/null | FileCheck %s --check-prefix=CPU

// Query, key and value of different widths, with biases; query and key are scaled, value is multiplied by 1. Their readers take slices.
// CHECK: fusion all: 3 launches
// CHECK: scale is not fused with s because the result is read through an access that is not one to one
// CHECK: products of one left side q, k, v are joined because one kernel reads their left side once and has the tiles of all
// NONE: fusion none: 10 launches
// NONE-NOT: products of one left side
// CPU: "reason": "many-rows"
// CHECK: graph.launch @mul_matmul_add(%{{.*}}, %{{.*}}) {{.*}} : (tensor<128x64xf32>, tensor<64x192xf32>, tensor<192xf32>, tensor<192xf32>) -> tensor<128x192xf32>
// CHECK-LABEL: graph.kernel @mul_matmul_add
// CHECK: graph.contract
// CHECK: graph.broadcast {{.*}} dims [1] : tensor<192xf32> -> tensor<128x192xf32>
// CHECK: arith.addf
// CHECK: graph.broadcast {{.*}} dims [1] : tensor<192xf32> -> tensor<128x192xf32>
// CHECK: arith.mulf
// CHECK-LABEL: graph.kernel @scores
// CHECK-COUNT-2: graph.slice {{.*}} : tensor<128x192xf32> -> tensor<128x64xf32>
// CHECK-LABEL: graph.kernel @mix
// CHECK: graph.slice {{.*}} : tensor<128x192xf32> -> tensor<128x64xf32>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["q|MatMul", "k|MatMul", "v|MatMul", "qb|Add", "kb|Add", "vb|Add", "scale|Mul", "s|Scores", "y|Mix"]} {
  func.func @main(%x: tensor<128x64xf32>) -> tensor<128x64xf32> {
    %wq = graph.constant "00000000000000000000000000000001" : tensor<64x64xf32>
    %wk = graph.constant "00000000000000000000000000000002" : tensor<64x64xf32>
    %wv = graph.constant "00000000000000000000000000000003" : tensor<64x64xf32>
    %bq = graph.constant "00000000000000000000000000000004" : tensor<64xf32>
    %bk = graph.constant "00000000000000000000000000000005" : tensor<64xf32>
    %bv = graph.constant "00000000000000000000000000000006" : tensor<64xf32>
    %e = arith.constant dense<0.125> : tensor<128x64xf32>
    %q = graph.contract %x, %wq maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<128x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
    %0 = graph.broadcast %bq dims [1] {graph.node = 3 : i64} : tensor<64xf32> -> tensor<128x64xf32>
    %1 = arith.addf %q, %0 {graph.node = 3 : i64} : tensor<128x64xf32>
    %2 = arith.mulf %1, %e {graph.node = 6 : i64} : tensor<128x64xf32>
    %k = graph.contract %x, %wk maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<128x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
    %3 = graph.broadcast %bk dims [1] {graph.node = 4 : i64} : tensor<64xf32> -> tensor<128x64xf32>
    %4 = arith.addf %3, %k {graph.node = 4 : i64} : tensor<128x64xf32>
    %5 = arith.mulf %4, %e {graph.node = 6 : i64} : tensor<128x64xf32>
    %v = graph.contract %x, %wv maps [#mk, #kn, #mn] {graph.node = 2 : i64} : tensor<128x64xf32>, tensor<64x64xf32> -> tensor<128x64xf32>
    %6 = graph.broadcast %bv dims [1] {graph.node = 5 : i64} : tensor<64xf32> -> tensor<128x64xf32>
    %7 = arith.addf %v, %6 {graph.node = 5 : i64} : tensor<128x64xf32>
    %8 = graph.contract %2, %5 maps [#mk, #nk, #mn] {graph.node = 7 : i64} : tensor<128x64xf32>, tensor<128x64xf32> -> tensor<128x128xf32>
    %9 = graph.contract %8, %7 maps [#mk, #kn, #mn] {graph.node = 8 : i64} : tensor<128x128xf32>, tensor<128x64xf32> -> tensor<128x64xf32>
    return %9 : tensor<128x64xf32>
  }
}

// -----

// Half types: the scale is between casts that come back. Weights of a projection are transposed alike, and narrower for the key.
// CHECK: products of one left side q, k are joined
// CHECK-LABEL: graph.kernel @mul_matmul
// CHECK: graph.contract {{.*}} : tensor<8x64xf16>, tensor<96x64xf16> -> tensor<8x96xf32>
// CHECK: arith.mulf {{.*}} : tensor<8x96xf32>
// CHECK: arith.truncf {{.*}} : tensor<8x96xf32> to tensor<8x96xf16>
// CPU: "reason": "joined"
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#mh = affine_map<(m, n, h, d) -> (m, h, d)>
#nd = affine_map<(m, n, h, d) -> (n, d)>
#mnh = affine_map<(m, n, h, d) -> (m, n, h)>
module attributes {graph.nodes = ["q|MatMul", "k|MatMul", "scale|Mul", "s|Scores"]} {
  func.func @main(%x: tensor<8x64xf16>) -> tensor<8x8x2xf32> {
    %wq = graph.constant "00000000000000000000000000000001" : tensor<64x64xf16>
    %wk = graph.constant "00000000000000000000000000000002" : tensor<32x64xf16>
    %e = arith.constant dense<0.125> : tensor<8x64xf32>
    %q = graph.contract %x, %wq maps [#mk, #nk, #mn] {graph.node = 0 : i64} : tensor<8x64xf16>, tensor<64x64xf16> -> tensor<8x64xf32>
    %0 = arith.truncf %q {graph.node = 0 : i64} : tensor<8x64xf32> to tensor<8x64xf16>
    %1 = arith.extf %0 {graph.node = 2 : i64} : tensor<8x64xf16> to tensor<8x64xf32>
    %2 = arith.mulf %1, %e {graph.node = 2 : i64} : tensor<8x64xf32>
    %3 = arith.truncf %2 {graph.node = 2 : i64} : tensor<8x64xf32> to tensor<8x64xf16>
    %4 = graph.reshape %3 {graph.node = 2 : i64} : tensor<8x64xf16> -> tensor<8x2x32xf16>
    %k = graph.contract %x, %wk maps [#mk, #nk, #mn] {graph.node = 1 : i64} : tensor<8x64xf16>, tensor<32x64xf16> -> tensor<8x32xf32>
    %5 = arith.truncf %k {graph.node = 1 : i64} : tensor<8x32xf32> to tensor<8x32xf16>
    %6 = graph.contract %4, %5 maps [#mh, #nd, #mnh] {graph.node = 3 : i64} : tensor<8x2x32xf16>, tensor<8x32xf16> -> tensor<8x8x2xf32>
    return %6 : tensor<8x8x2xf32>
  }
}

// -----

// Gate and up meet in one epilogue, which would become a kernel of its own: they are a pair instead, with two sums in one kernel.
// CHECK: fusion all: 1 launches
// CHECK-NOT: products of one left side
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "act|Tanh", "mul|Mul"]} {
  func.func @main(%x: tensor<8x64xf16>) -> tensor<8x64xf32> {
    %wg = graph.constant "00000000000000000000000000000001" : tensor<64x64xf16>
    %wu = graph.constant "00000000000000000000000000000002" : tensor<64x64xf16>
    %g = graph.contract %x, %wg maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<8x64xf16>, tensor<64x64xf16> -> tensor<8x64xf32>
    %0 = math.tanh %g {graph.node = 2 : i64} : tensor<8x64xf32>
    %u = graph.contract %x, %wu maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<8x64xf16>, tensor<64x64xf16> -> tensor<8x64xf32>
    %1 = arith.mulf %0, %u {graph.node = 3 : i64} : tensor<8x64xf32>
    return %1 : tensor<8x64xf32>
  }
}

// -----

// Of many singles there are no pairs.
// CHECK: fusion all: 2 launches
// CHECK: products of one left side gate, up stay apart because what follows them differs, and is cheaper in their own kernels than in one more
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "act|Tanh", "mul|Mul"]} {
  func.func @main(%x: tensor<8192x64xf32>) -> tensor<8192x64xf32> {
    %wg = graph.constant "00000000000000000000000000000001" : tensor<64x64xf32>
    %wu = graph.constant "00000000000000000000000000000002" : tensor<64x64xf32>
    %g = graph.contract %x, %wg maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<8192x64xf32>, tensor<64x64xf32> -> tensor<8192x64xf32>
    %0 = math.tanh %g {graph.node = 2 : i64} : tensor<8192x64xf32>
    %u = graph.contract %x, %wu maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<8192x64xf32>, tensor<64x64xf32> -> tensor<8192x64xf32>
    %1 = arith.mulf %0, %u {graph.node = 3 : i64} : tensor<8192x64xf32>
    return %1 : tensor<8192x64xf32>
  }
}

// -----

// Of many rows, a third one is neither joined nor of the pair.
// CHECK: fusion all: 2 launches
// CHECK: products of one left side gate, up, third stay apart because what follows them differs, and is cheaper in their own kernels than in one more
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["gate|MatMul", "up|MatMul", "third|MatMul", "mul|Mul", "add|Add"]} {
  func.func @main(%x: tensor<32768x64xf16>) -> tensor<32768x64xf32> {
    %wg = graph.constant "00000000000000000000000000000001" : tensor<64x64xf16>
    %wu = graph.constant "00000000000000000000000000000002" : tensor<64x64xf16>
    %wt = graph.constant "00000000000000000000000000000003" : tensor<64x64xf16>
    %g = graph.contract %x, %wg maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<32768x64xf16>, tensor<64x64xf16> -> tensor<32768x64xf32>
    %u = graph.contract %x, %wu maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<32768x64xf16>, tensor<64x64xf16> -> tensor<32768x64xf32>
    %t = graph.contract %x, %wt maps [#mk, #kn, #mn] {graph.node = 2 : i64} : tensor<32768x64xf16>, tensor<64x64xf16> -> tensor<32768x64xf32>
    %0 = arith.mulf %g, %u {graph.node = 3 : i64} : tensor<32768x64xf32>
    %1 = arith.addf %0, %t {graph.node = 4 : i64} : tensor<32768x64xf32>
    return %1 : tensor<32768x64xf32>
  }
}

// -----

// Near misses: outputs of the model stay apart; so do products over other columns of the left side, which are not listed at all.
// CHECK: fusion all: 2 launches
// CHECK: products of one left side a, b stay apart because an output, a host call, a window or a concatenation needs a result in memory of its own
// CHECK-NOT: products of one left side
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["a|MatMul", "b|MatMul"]} {
  func.func @main(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
    %wa = graph.constant "00000000000000000000000000000001" : tensor<64x64xf32>
    %wb = graph.constant "00000000000000000000000000000002" : tensor<64x64xf32>
    %a = graph.contract %x, %wa maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
    %b = graph.contract %x, %wb maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32>
    return %a, %b : tensor<8x64xf32>, tensor<8x64xf32>
  }
}

// -----

// CHECK: fusion all: 3 launches
// CHECK-NOT: products of one left side
#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["a|MatMul", "b|MatMul", "c|MatMul"]} {
  func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %wa = graph.constant "00000000000000000000000000000001" : tensor<64x64xf32>
    %wb = graph.constant "00000000000000000000000000000002" : tensor<64x64xf32>
    %a = graph.contract %x, %wa maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %b = graph.contract %x, %wb maps [#km, #kn, #mn] {graph.node = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %c = graph.contract %a, %b maps [#mk, #kn, #mn] {graph.node = 2 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    return %c : tensor<64x64xf32>
  }
}
