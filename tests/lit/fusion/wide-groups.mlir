// Sixteen groups of four channels are multiplied as one of 64, of an image that is turned channels last.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' | FileCheck %s
// CHECK: fusion all: 2 launches
// CHECK: graph.constant "{{.*}}" : tensor<2x3x3x64x64xf16>
// CHECK: graph.transpose %{{.*}} perm [0, 2, 3, 1] : tensor<8x128x28x28xf16>
// CHECK: graph.window %{{.*}} dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.000000e+00 : f16 : tensor<8x28x28x2x64xf16> -> tensor<8x28x28x3x3x2x64xf16>
// CHECK-NEXT: graph.contract
// CHECK-NEXT: graph.reshape %{{.*}} -> tensor<8x28x28x32x4xf32>
// CHECK: math.absf
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<8x32x4x28x28xf16>) -> tensor<8x28x28x32x4xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<32x4x4x3x3xf16>
    %v = graph.window %x dims [3, 4] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<8x32x4x28x28xf16> -> tensor<8x32x4x28x28x3x3xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, g, f, ky, kx, c) -> (n, g, c, y, x, ky, kx)>, affine_map<(n, y, x, g, f, ky, kx, c) -> (g, f, c, ky, kx)>, affine_map<(n, y, x, g, f, ky, kx, c) -> (n, y, x, g, f)>] {graph.node = 0 : i64}
        : tensor<8x32x4x28x28x3x3xf16>, tensor<32x4x4x3x3xf16> -> tensor<8x28x28x32x4xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<8x28x28x32x4xf32>
    return %y : tensor<8x28x28x32x4xf32>
  }
}

// -----

// Channels last. No number of groups fills 128 bytes, but two of 24 channels fill a tile.
// CHECK: fusion all: 1 launches
// CHECK: graph.constant "{{.*}}" : tensor<3x3x3x48x48xf16>
// CHECK: graph.window %{{.*}} : tensor<8x28x28x3x48xf16> -> tensor<8x28x28x3x3x3x48xf16>
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<8x28x28x6x24xf16>) -> tensor<8x28x28x6x24xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<6x24x24x3x3xf16>
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<8x28x28x6x24xf16> -> tensor<8x28x28x3x3x6x24xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, g, f, ky, kx, c) -> (n, y, x, ky, kx, g, c)>, affine_map<(n, y, x, g, f, ky, kx, c) -> (g, f, c, ky, kx)>, affine_map<(n, y, x, g, f, ky, kx, c) -> (n, y, x, g, f)>] {graph.node = 0 : i64}
        : tensor<8x28x28x3x3x6x24xf16>, tensor<6x24x24x3x3xf16> -> tensor<8x28x28x6x24xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<8x28x28x6x24xf32>
    return %y : tensor<8x28x28x6x24xf32>
  }
}

// -----

// Singles only where an engine walks pixels, and a prime number of groups has no part.
// CHECK: fusion all: 1 launches
// CHECK: graph.constant "{{.*}}1" : tensor<32x4x4x3x3xf32>
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<8x32x4x28x28xf32>) -> tensor<8x28x28x32x4xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<32x4x4x3x3xf32>
    %v = graph.window %x dims [3, 4] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<8x32x4x28x28xf32> -> tensor<8x32x4x28x28x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, g, f, ky, kx, c) -> (n, g, c, y, x, ky, kx)>, affine_map<(n, y, x, g, f, ky, kx, c) -> (g, f, c, ky, kx)>, affine_map<(n, y, x, g, f, ky, kx, c) -> (n, y, x, g, f)>] {graph.node = 0 : i64}
        : tensor<8x32x4x28x28x3x3xf32>, tensor<32x4x4x3x3xf32> -> tensor<8x28x28x32x4xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<8x28x28x32x4xf32>
    return %y : tensor<8x28x28x32x4xf32>
  }
}

// -----

// CHECK: fusion all: 1 launches
// CHECK: graph.constant "{{.*}}1" : tensor<13x5x5x3x3xf16>
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<8x13x5x28x28xf16>) -> tensor<8x28x28x13x5xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<13x5x5x3x3xf16>
    %v = graph.window %x dims [3, 4] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<8x13x5x28x28xf16> -> tensor<8x13x5x28x28x3x3xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, g, f, ky, kx, c) -> (n, g, c, y, x, ky, kx)>, affine_map<(n, y, x, g, f, ky, kx, c) -> (g, f, c, ky, kx)>, affine_map<(n, y, x, g, f, ky, kx, c) -> (n, y, x, g, f)>] {graph.node = 0 : i64}
        : tensor<8x13x5x28x28x3x3xf16>, tensor<13x5x5x3x3xf16> -> tensor<8x28x28x13x5xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<8x28x28x13x5xf32>
    return %y : tensor<8x28x28x13x5xf32>
  }
}
