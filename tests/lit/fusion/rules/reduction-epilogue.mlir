// Reductions, of windows too, with the elementwise work that follows them.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s

// A depthwise convolution with its bias, activation and residual is one kernel.
// CHECK: fusion all: 1 launches
// CHECK: (window): conv, relu, add
module attributes {graph.nodes = ["conv|A", "relu|B", "add|C"]} {
  func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16xf32>) -> tensor<1x8x8x16xf32> {
    %0 = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x8x8x16xf32> -> tensor<1x8x8x3x3x16xf32>
    %1 = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x16xf32> -> tensor<1x8x8x3x3x16xf32>
    %2 = arith.mulf %0, %1 {graph.node = 0 : i64} : tensor<1x8x8x3x3x16xf32>
    %3 = graph.reduce <sum> %2 axes [3, 4] {graph.node = 0 : i64} : tensor<1x8x8x3x3x16xf32> -> tensor<1x8x8x16xf32>
    %zero = arith.constant dense<0.0> : tensor<1x8x8x16xf32>
    %4 = arith.maximumf %3, %zero {graph.node = 1 : i64} : tensor<1x8x8x16xf32>
    %5 = arith.addf %4, %x {graph.node = 2 : i64} : tensor<1x8x8x16xf32>
    return %5 : tensor<1x8x8x16xf32>
  }
}

// -----

// Refused: a window would compute an expensive input again for each of its positions.
// CHECK: fusion all: 2 launches
// CHECK: exp is not fused with pool because work would be repeated for every use of its result
module attributes {graph.nodes = ["exp|A", "pool|B"]} {
  func.func @main(%x: tensor<1x8x8x16xf32>) -> tensor<1x7x7x16xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<1x8x8x16xf32>
    %1 = graph.window %0 dims [1, 2] strides [1, 1] dilations [1, 1] low [0, 0] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<1x8x8x16xf32> -> tensor<1x7x7x2x2x16xf32>
    %2 = graph.reduce <max> %1 axes [3, 4] {graph.node = 1 : i64} : tensor<1x7x7x2x2x16xf32> -> tensor<1x7x7x16xf32>
    return %2 : tensor<1x7x7x16xf32>
  }
}

// -----

// Near miss: the reduced loop is innermost, so it is a row, and its result may come back to its elements.
// CHECK: fusion all: 1 launches
// CHECK: (row_reduction): max, sub
module attributes {graph.nodes = ["max|A", "sub|B"]} {
  func.func @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %0 = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<16x64xf32> -> tensor<16xf32>
    %1 = graph.broadcast %0 dims [0] {graph.node = 1 : i64} : tensor<16xf32> -> tensor<16x64xf32>
    %2 = arith.subf %x, %1 {graph.node = 1 : i64} : tensor<16x64xf32>
    return %2 : tensor<16x64xf32>
  }
}
