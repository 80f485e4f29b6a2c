// Arithmetic on what a contraction multiplies, or several operations read, is done before its elements are repeated, elsewhere
// behind the repeats.
// RUN: tilewright-opt %s --split-input-file --tilewright-normalize-graph | FileCheck %s

// Scaled keys that four heads of queries share.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = arith.mulf %arg1, %{{.*}} : tensor<8x512x64xf32>
// CHECK: %[[B:.*]] = graph.broadcast %[[S]] dims [0, 2, 3] {{.*}} -> tensor<8x4x512x64xf32>
// CHECK: %[[R:.*]] = graph.reshape %[[B]]
// CHECK: graph.contract %arg0, %[[R]]
#q = affine_map<(h, m, n, d) -> (h, m, d)>
#k = affine_map<(h, m, n, d) -> (h, n, d)>
#s = affine_map<(h, m, n, d) -> (h, m, n)>
module attributes {graph.nodes = ["expand|Expand", "reshape|Reshape", "mul|Mul", "scores|MatMul"]} {
  func.func @main(%q: tensor<32x16x64xf32>, %k: tensor<8x512x64xf32>) -> tensor<32x16x512xf32> {
    %s = arith.constant dense<0.35> : tensor<32x512x64xf32>
    %0 = graph.broadcast %k dims [0, 2, 3] {graph.node = 0 : i64} : tensor<8x512x64xf32> -> tensor<8x4x512x64xf32>
    %1 = graph.reshape %0 {graph.node = 1 : i64} : tensor<8x4x512x64xf32> -> tensor<32x512x64xf32>
    %2 = arith.mulf %1, %s {graph.node = 2 : i64} : tensor<32x512x64xf32>
    %3 = graph.contract %q, %2 maps [#q, #k, #s] {graph.node = 3 : i64} : tensor<32x16x64xf32>, tensor<32x512x64xf32> -> tensor<32x16x512xf32>
    return %3 : tensor<32x16x512xf32>
  }
}

// -----

// Sizes that are not known, a scale that only running tells, and more steps.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = graph.broadcast %arg2 dims [] {{.*}} -> tensor<8x?x64xf32, #{{.*}}>
// CHECK: %[[M:.*]] = arith.mulf %{{.*}}, %[[S]]
// CHECK: %[[E:.*]] = math.exp %[[M]]
// CHECK: graph.broadcast %[[E]] dims [0, 2, 3]
#q = affine_map<(h, m, n, d) -> (h, m, d)>
#k = affine_map<(h, m, n, d) -> (h, n, d)>
#s = affine_map<(h, m, n, d) -> (h, m, n)>
#keys = affine_map<()[s0] -> (8, s0, 64)>
#four = affine_map<()[s0] -> (8, 4, s0, 64)>
#heads = affine_map<()[s0] -> (32, s0, 64)>
#scores = affine_map<()[s0] -> (32, 16, s0)>
module attributes {graph.symbols = ["keys"], graph.nodes = ["expand|Expand", "reshape|Reshape", "mul|Mul", "exp|Exp", "scores|MatMul"]} {
  func.func @main(%q: tensor<32x16x64xf32>, %k: tensor<8x?x64xf32, #keys>, %scale: tensor<f32>) -> tensor<32x16x?xf32, #scores> {
    %s = graph.broadcast %scale dims [] {graph.node = 2 : i64} : tensor<f32> -> tensor<32x?x64xf32, #heads>
    %0 = graph.broadcast %k dims [0, 2, 3] {graph.node = 0 : i64} : tensor<8x?x64xf32, #keys> -> tensor<8x4x?x64xf32, #four>
    %1 = graph.reshape %0 {graph.node = 1 : i64} : tensor<8x4x?x64xf32, #four> -> tensor<32x?x64xf32, #heads>
    %2 = arith.mulf %1, %s {graph.node = 2 : i64} : tensor<32x?x64xf32, #heads>
    %3 = math.exp %2 {graph.node = 3 : i64} : tensor<32x?x64xf32, #heads>
    %4 = graph.contract %q, %3 maps [#q, #k, #s] {graph.node = 4 : i64} : tensor<32x16x64xf32>, tensor<32x?x64xf32, #heads> -> tensor<32x16x?xf32, #scores>
    return %4 : tensor<32x16x?xf32, #scores>
  }
}

// -----

// What differs from copy to copy can't move. Nor does what no contraction reads.
// CHECK-LABEL: func.func @main
// CHECK-DAG: graph.broadcast %arg1 dims [0, 2, 3]
// CHECK-DAG: arith.mulf %arg2, %{{.*}} : tensor<32x512x64xf32>
// CHECK-DAG: math.exp %{{.*}} : tensor<8x4x512x64xf32>
#q = affine_map<(h, m, n, d) -> (h, m, d)>
#k = affine_map<(h, m, n, d) -> (h, n, d)>
#s = affine_map<(h, m, n, d) -> (h, m, n)>
module attributes {graph.nodes = ["expand|Expand", "reshape|Reshape", "mul|Mul", "scores|MatMul", "exp|Exp"]} {
  func.func @main(%q: tensor<32x16x64xf32>, %k: tensor<8x512x64xf32>, %s: tensor<32x512x64xf32>) -> (tensor<32x16x512xf32>, tensor<8x4x512x64xf32>) {
    %0 = graph.broadcast %k dims [0, 2, 3] {graph.node = 0 : i64} : tensor<8x512x64xf32> -> tensor<8x4x512x64xf32>
    %1 = graph.reshape %0 {graph.node = 1 : i64} : tensor<8x4x512x64xf32> -> tensor<32x512x64xf32>
    %2 = arith.mulf %1, %s {graph.node = 2 : i64} : tensor<32x512x64xf32>
    %3 = graph.contract %q, %2 maps [#q, #k, #s] {graph.node = 3 : i64} : tensor<32x16x64xf32>, tensor<32x512x64xf32> -> tensor<32x16x512xf32>
    %4 = math.exp %0 {graph.node = 4 : i64} : tensor<8x4x512x64xf32>
    return %3, %4 : tensor<32x16x512xf32>, tensor<8x4x512x64xf32>
  }
}

// -----

// A mask that two layers add is computed once for all rows; one that a single layer adds stays behind its broadcast.
// CHECK-LABEL: func.func @main
// CHECK: %[[M:.*]] = arith.select %arg2, %{{.*}}, %{{.*}} : tensor<4x64xi1>, tensor<4x64xf32>
// CHECK-DAG: %[[B:.*]] = graph.broadcast %[[M]] dims [0, 2] {{.*}} : tensor<4x64xf32> -> tensor<4x32x64xf32>
// CHECK-DAG: arith.addf %arg0, %[[B]]
// CHECK-DAG: arith.addf %arg1, %[[B]]
// CHECK-DAG: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x32x64xi1>, tensor<4x32x64xf32>
module attributes {graph.nodes = ["expand|Expand", "where|Where", "a|Add", "b|Add", "expand2|Expand", "where2|Where", "c|Add"]} {
  func.func @main(%a: tensor<4x32x64xf32>, %b: tensor<4x32x64xf32>, %live: tensor<4x64xi1>, %other: tensor<4x64xi1>) -> (tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<4x32x64xf32>) {
    %zero = arith.constant dense<0.0> : tensor<4x32x64xf32>
    %low = arith.constant dense<-65504.0> : tensor<4x32x64xf32>
    %0 = graph.broadcast %live dims [0, 2] {graph.node = 0 : i64} : tensor<4x64xi1> -> tensor<4x32x64xi1>
    %1 = arith.select %0, %zero, %low {graph.node = 1 : i64} : tensor<4x32x64xi1>, tensor<4x32x64xf32>
    %2 = arith.addf %a, %1 {graph.node = 2 : i64} : tensor<4x32x64xf32>
    %3 = arith.addf %b, %1 {graph.node = 3 : i64} : tensor<4x32x64xf32>
    %4 = graph.broadcast %other dims [0, 2] {graph.node = 4 : i64} : tensor<4x64xi1> -> tensor<4x32x64xi1>
    %5 = arith.select %4, %zero, %low {graph.node = 5 : i64} : tensor<4x32x64xi1>, tensor<4x32x64xf32>
    %6 = arith.addf %a, %5 {graph.node = 6 : i64} : tensor<4x32x64xf32>
    return %2, %3, %6 : tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<4x32x64xf32>
  }
}
