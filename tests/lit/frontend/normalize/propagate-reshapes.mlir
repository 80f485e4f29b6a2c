// Between two contractions everything runs over the merged loops: splits sink, merges rise, also through a normalization.
// RUN: tilewright-opt %s --tilewright-normalize-graph | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: graph.contract
// CHECK-NOT: graph.reshape %{{[0-9]}}
// CHECK: %[[R:.*]] = graph.reshape %arg2
// CHECK: arith.addf
// CHECK-NOT: graph.reshape
// CHECK: graph.reduce <sum> %{{.*}} axes [1]
// CHECK-NOT: graph.reshape
// CHECK: graph.contract
#m = affine_map<()[s0, s1] -> (s0 * s1, 768)>
#bs = affine_map<()[s0, s1] -> (s0, s1, 768)>
#r = affine_map<()[s0, s1] -> (s0, s1)>
module attributes {graph.symbols = ["batch", "seq"]} {
  func.func @main(%x: tensor<?x768xf32, #m>, %w: tensor<768x768xf32>, %res: tensor<?x?x768xf32, #bs>, %b: tensor<768xf32>) -> tensor<?x768xf32, #m> {
    %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<?x768xf32, #m>, tensor<768x768xf32> -> tensor<?x768xf32, #m>
    %1 = graph.reshape %0 : tensor<?x768xf32, #m> -> tensor<?x?x768xf32, #bs>
    %2 = graph.broadcast %b dims [2] : tensor<768xf32> -> tensor<?x?x768xf32, #bs>
    %3 = arith.addf %1, %2 : tensor<?x?x768xf32, #bs>
    %4 = arith.addf %3, %res : tensor<?x?x768xf32, #bs>
    %5 = graph.reduce <sum> %4 axes [2] : tensor<?x?x768xf32, #bs> -> tensor<?x?xf32, #r>
    %6 = graph.broadcast %5 dims [0, 1] : tensor<?x?xf32, #r> -> tensor<?x?x768xf32, #bs>
    %7 = arith.subf %4, %6 : tensor<?x?x768xf32, #bs>
    %8 = graph.reshape %7 : tensor<?x?x768xf32, #bs> -> tensor<?x768xf32, #m>
    %9 = graph.contract %8, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<?x768xf32, #m>, tensor<768x768xf32> -> tensor<?x768xf32, #m>
    return %9 : tensor<?x768xf32, #m>
  }
}
