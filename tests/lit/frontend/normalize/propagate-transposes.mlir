// Transposes sink until they cancel; a contraction takes those of its operands into its maps.
// RUN: tilewright-opt %s --split-input-file --tilewright-normalize-graph | FileCheck %s

// Channels-last from one convolution to the next, through bias and activation, with a residual that is transposed as well.
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = graph.contract
// CHECK: %[[B:.*]] = graph.broadcast %arg2 dims [3]
// CHECK: arith.addf
// CHECK: arith.addf
// CHECK-NOT: graph.transpose
// CHECK: return
module {
  func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<32x16xf32>, %b: tensor<32xf32>, %r: tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32> {
    %0 = graph.contract %x, %w maps [affine_map<(n, h, w, o, c) -> (n, h, w, c)>, affine_map<(n, h, w, o, c) -> (o, c)>, affine_map<(n, h, w, o, c) -> (n, h, w, o)>]
        : tensor<1x8x8x16xf32>, tensor<32x16xf32> -> tensor<1x8x8x32xf32>
    %1 = graph.transpose %0 perm [0, 3, 1, 2] : tensor<1x8x8x32xf32> -> tensor<1x32x8x8xf32>
    %2 = graph.broadcast %b dims [1] : tensor<32xf32> -> tensor<1x32x8x8xf32>
    %3 = arith.addf %1, %2 : tensor<1x32x8x8xf32>
    %4 = graph.transpose %r perm [0, 3, 1, 2] : tensor<1x8x8x32xf32> -> tensor<1x32x8x8xf32>
    %5 = arith.addf %3, %4 : tensor<1x32x8x8xf32>
    %6 = graph.transpose %5 perm [0, 2, 3, 1] : tensor<1x32x8x8xf32> -> tensor<1x8x8x32xf32>
    return %6 : tensor<1x8x8x32xf32>
  }
}

// -----

// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// CHECK-LABEL: func.func @main
// CHECK-NEXT: graph.contract %arg0, %arg1 maps [#[[Q]]
// CHECK-NEXT: return
module {
  func.func @main(%q: tensor<128x12x64xf32>, %k: tensor<128x12x64xf32>) -> tensor<12x128x128xf32> {
    %0 = graph.transpose %q perm [1, 0, 2] : tensor<128x12x64xf32> -> tensor<12x128x64xf32>
    %1 = graph.transpose %k perm [1, 2, 0] : tensor<128x12x64xf32> -> tensor<12x64x128xf32>
    %2 = graph.contract %0, %1 maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
        : tensor<12x128x64xf32>, tensor<12x64x128xf32> -> tensor<12x128x128xf32>
    return %2 : tensor<12x128x128xf32>
  }
}

// -----

// Pooling and a reduction in the order of their operand; concatenation along the moved axis.
// CHECK-LABEL: func.func @main
// CHECK: graph.window %arg0 dims [1, 2]
// CHECK-SAME: tensor<1x8x8x16xf32> -> tensor<1x4x4x2x2x16xf32>
// CHECK: graph.reduce <max> %{{.*}} axes [3, 4]
// CHECK: graph.concat axis 3
// CHECK: graph.reduce <sum> %{{.*}} axes [1, 2]
// CHECK-NOT: graph.transpose
module {
  func.func @main(%x: tensor<1x8x8x16xf32>) -> tensor<1x32xf32> {
    %0 = graph.transpose %x perm [0, 3, 1, 2] : tensor<1x8x8x16xf32> -> tensor<1x16x8x8xf32>
    %1 = graph.window %0 dims [2, 3] strides [2, 2] dilations [1, 1] low [0, 0] fill 0.0 : f32 : tensor<1x16x8x8xf32> -> tensor<1x16x4x4x2x2xf32>
    %2 = graph.reduce <max> %1 axes [4, 5] : tensor<1x16x4x4x2x2xf32> -> tensor<1x16x4x4xf32>
    %3 = arith.negf %2 : tensor<1x16x4x4xf32>
    %4 = graph.concat axis 1 %2, %3 : tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32> -> tensor<1x32x4x4xf32>
    %5 = graph.reduce <sum> %4 axes [2, 3] : tensor<1x32x4x4xf32> -> tensor<1x32xf32>
    return %5 : tensor<1x32xf32>
  }
}

// -----

// A transpose that moves only a dimension of size 1 is a reshape; the keys' second transpose meets the first through their reshapes.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.transpose
// CHECK: %[[K:.*]] = graph.transpose %arg1 perm [0, 2, 3, 1]
// CHECK-SAME: -> tensor<?x12x64x128xf32
// CHECK-NOT: graph.transpose
#in = affine_map<()[s0] -> (s0, 128, 12, 64)>
#heads = affine_map<()[s0] -> (s0, 12, 128, 64)>
#flat = affine_map<()[s0] -> (s0 * 12, 128, 64)>
#turned = affine_map<()[s0] -> (s0 * 12, 64, 128)>
#out = affine_map<()[s0] -> (s0, 12, 64, 128)>
module attributes {graph.symbols = ["batch"]} {
  func.func @main(%x: tensor<1x8x16xf32>, %k: tensor<?x128x12x64xf32, #in>) -> (tensor<8x1x16xf32>, tensor<?x12x64x128xf32, #out>) {
    %0 = graph.transpose %x perm [1, 0, 2] : tensor<1x8x16xf32> -> tensor<8x1x16xf32>
    %1 = graph.transpose %k perm [0, 2, 1, 3] : tensor<?x128x12x64xf32, #in> -> tensor<?x12x128x64xf32, #heads>
    %2 = graph.reshape %1 : tensor<?x12x128x64xf32, #heads> -> tensor<?x128x64xf32, #flat>
    %3 = graph.transpose %2 perm [0, 2, 1] : tensor<?x128x64xf32, #flat> -> tensor<?x64x128xf32, #turned>
    %4 = graph.reshape %3 : tensor<?x64x128xf32, #turned> -> tensor<?x12x64x128xf32, #out>
    return %0, %4 : tensor<8x1x16xf32>, tensor<?x12x64x128xf32, #out>
  }
}

// -----

// Dimensions of size 1 come and go without keeping two transposes apart, and a merge that only drops one rises above its transpose: the
// sum over everything reads the contraction's result as it lies.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.transpose
// CHECK: graph.reduce <sum>
// CHECK-SAME: tensor<?x64xf32
// CHECK-NOT: graph.transpose
// CHECK: return
#rows = affine_map<()[s0] -> (1, s0, 64)>
#planes = affine_map<()[s0] -> (1, 64, s0)>
#flat = affine_map<()[s0] -> (64, s0)>
#one = affine_map<()[s0] -> (1, 1, 64, s0)>
#back = affine_map<()[s0] -> (1, 1, s0, 64)>
module attributes {graph.symbols = ["length"]} {
  func.func @main(%x: tensor<1x?x64xf32, #rows>) -> (tensor<f32>, tensor<1x1x?x64xf32, #back>) {
    %0 = graph.transpose %x perm [0, 2, 1] : tensor<1x?x64xf32, #rows> -> tensor<1x64x?xf32, #planes>
    %1 = graph.reshape %0 : tensor<1x64x?xf32, #planes> -> tensor<64x?xf32, #flat>
    %2 = graph.reduce <sum> %1 axes [0, 1] : tensor<64x?xf32, #flat> -> tensor<f32>
    %3 = graph.reshape %0 : tensor<1x64x?xf32, #planes> -> tensor<1x1x64x?xf32, #one>
    %4 = graph.transpose %3 perm [0, 1, 3, 2] : tensor<1x1x64x?xf32, #one> -> tensor<1x1x?x64xf32, #back>
    return %2, %4 : tensor<f32>, tensor<1x1x?x64xf32, #back>
  }
}

// -----

// Transformer-XL shifts scores by cutting queries and keys anew, with batches and heads behind them. What remains in front
// moves whole rows of keys; the shifted scores are added as the others lie.
// CHECK-LABEL: func.func @main
// CHECK: %[[ROWS:.*]] = graph.transpose %arg0 perm [1, 0, 2, 3]
// CHECK: graph.reshape %[[ROWS]] {{.*}} -> tensor<4x8x6x5xf32>
// CHECK: graph.slice
// CHECK-NOT: graph.transpose
// CHECK: arith.addf
// CHECK: graph.reduce <max> {{.*}} axes [3]
module {
  func.func @main(%x: tensor<8x4x5x6xf32>, %y: tensor<4x8x5x5xf32>) -> tensor<5x4x8xf32> {
    %0 = graph.transpose %x perm [2, 3, 1, 0] : tensor<8x4x5x6xf32> -> tensor<5x6x4x8xf32>
    %1 = graph.reshape %0 : tensor<5x6x4x8xf32> -> tensor<6x5x4x8xf32>
    %2 = graph.slice %1 offsets affine_map<() -> (1, 0, 0, 0)> strides [1, 1, 1, 1] : tensor<6x5x4x8xf32> -> tensor<5x5x4x8xf32>
    %3 = graph.transpose %y perm [2, 3, 0, 1] : tensor<4x8x5x5xf32> -> tensor<5x5x4x8xf32>
    %4 = arith.addf %2, %3 : tensor<5x5x4x8xf32>
    %5 = graph.reduce <max> %4 axes [1] : tensor<5x5x4x8xf32> -> tensor<5x4x8xf32>
    return %5 : tensor<5x4x8xf32>
  }
}
