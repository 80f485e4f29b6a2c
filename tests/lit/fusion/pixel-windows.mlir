// Pixels: the image is turned, and its windows are in the contraction's kernel. Not of few columns, nor of channels that a box does not take whole: these
// are copied, if that is asked for.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all copied-columns=128 pixel-columns=64 explain=text' | FileCheck %s
// CHECK: fusion all: 2 launches
// CHECK: graph.transpose %{{.*}} perm [0, 2, 3, 1] : tensor<16x64x56x56xf32> -> tensor<16x56x56x64xf32>
// CHECK: graph.window %{{.*}} fill 0.000000e+00 : f32 pixels : tensor<16x56x56x64xf32>
// CHECK-NEXT: graph.contract
// CHECK: math.absf
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<16x64x56x56xf32>, %w: tensor<3x3x64x96xf32>) -> tensor<16x56x56x96xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<16x64x56x56xf32> -> tensor<16x64x56x56x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<16x64x56x56x3x3xf32>, tensor<3x3x64x96xf32> -> tensor<16x56x56x96xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<16x56x56x96xf32>
    return %y : tensor<16x56x56x96xf32>
  }
}

// -----

// CHECK: fusion all: 3 launches
// CHECK: graph.window %{{.*}} fill 0.000000e+00 : f32 copied : tensor<16x56x56x48xf32>
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<16x48x56x56xf32>, %w: tensor<3x3x48x128xf32>) -> tensor<16x56x56x128xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<16x48x56x56xf32> -> tensor<16x48x56x56x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<16x48x56x56x3x3xf32>, tensor<3x3x48x128xf32> -> tensor<16x56x56x128xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<16x56x56x128xf32>
    return %y : tensor<16x56x56x128xf32>
  }
}

// -----

// A volume is turned too.
// CHECK: graph.transpose %{{.*}} perm [0, 2, 3, 4, 1] : tensor<2x64x16x28x28xf32> -> tensor<2x16x28x28x64xf32>
// CHECK: graph.window %{{.*}} fill 0.000000e+00 : f32 pixels : tensor<2x16x28x28x64xf32>
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<2x64x16x28x28xf32>, %w: tensor<3x3x3x64x96xf32>) -> tensor<2x16x28x28x96xf32> {
    %v = graph.window %x dims [2, 3, 4] strides [1, 1, 1] dilations [1, 1, 1] low [1, 1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x64x16x28x28xf32> -> tensor<2x64x16x28x28x3x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, c, z, y, x, kz, ky, kx)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (kz, ky, kx, c, o)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x64x16x28x28x3x3x3xf32>, tensor<3x3x3x64x96xf32> -> tensor<2x16x28x28x96xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<2x16x28x28x96xf32>
    return %y : tensor<2x16x28x28x96xf32>
  }
}

// -----

// Elements of a window that lie 32 pixels apart are beyond what the engine walks in a volume: windows are copied.
// CHECK: graph.window %{{.*}} fill 0.000000e+00 : f32 copied : tensor<2x16x28x48x64xf32>
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<2x64x16x28x48xf32>, %w: tensor<3x3x3x64x128xf32>) -> tensor<2x16x28x16x128xf32> {
    %v = graph.window %x dims [2, 3, 4] strides [1, 1, 1] dilations [1, 1, 16] low [1, 1, 0] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x64x16x28x48xf32> -> tensor<2x64x16x28x16x3x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, c, z, y, x, kz, ky, kx)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (kz, ky, kx, c, o)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x64x16x28x16x3x3x3xf32>, tensor<3x3x3x64x128xf32> -> tensor<2x16x28x16x128xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<2x16x28x16x128xf32>
    return %y : tensor<2x16x28x16x128xf32>
  }
}
