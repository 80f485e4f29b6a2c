// Windows of few channels: the image is padded and put into blocks of two rows of pixels, as many as windows are apart, and rows of the windows are runs of 64 elements.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all walks-pixels=true pixel-columns=64 explain=text' | FileCheck %s
// CHECK: fusion all: 2 launches
// CHECK: conv is split between the two because the pixels of its windows are copied as they are, from memory
// CHECK: graph.constant "{{.*}}" : tensor<4x64x64xf16>
// CHECK: graph.kernel @conv(
// CHECK: graph.pad %{{.*}} low [0, 0, 3, 3] fill 0.000000e+00 : f16 : tensor<8x3x224x224xf16> -> tensor<8x4x230x230xf16>
// CHECK-NEXT: graph.reshape %{{.*}} -> tensor<8x4x115x2x230x1xf16>
// CHECK-NEXT: graph.transpose %{{.*}} perm [0, 2, 4, 3, 5, 1]
// CHECK: graph.window %{{.*}} dims [1, 2] strides [1, 16] dilations [1, 1] low [0, 0] fill 0.000000e+00 : f16 pixels : tensor<8x115x1840xf16> -> tensor<8x112x112x4x64xf16>
// CHECK-NEXT: graph.contract
// CHECK: math.absf
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<8x3x224x224xf16>) -> tensor<8x112x112x64xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<7x7x3x64xf16>
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [3, 3] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<8x3x224x224xf16> -> tensor<8x3x112x112x7x7xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<8x3x112x112x7x7xf16>, tensor<7x7x3x64xf16> -> tensor<8x112x112x64xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<8x112x112x64xf32>
    return %y : tensor<8x112x112x64xf32>
  }
}

// -----

// Channels last, of singles: 96 bytes are a block of two pixels.
// CHECK: fusion all: 2 launches
// CHECK: graph.transpose %{{.*}} perm [0, 1, 3, 2, 4, 5]
// CHECK: graph.window %{{.*}} dims [1, 2] strides [1, 24] {{.*}} pixels
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<8x128x128x12xf32>) -> tensor<8x64x126x64xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<64x12x4x3xf32>
    %v = graph.window %x dims [1, 2] strides [2, 1] dilations [1, 1] low [1, 0] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<8x128x128x12xf32> -> tensor<8x64x126x4x3x12xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, o, ky, kx, c) -> (o, c, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<8x64x126x4x3x12xf32>, tensor<64x12x4x3xf32> -> tensor<8x64x126x64xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<8x64x126x64xf32>
    return %y : tensor<8x64x126x64xf32>
  }
}

// -----

// More than half of a row of three pixels would be padding.
// CHECK: fusion all: 1 launches
// CHECK: graph.window %{{.*}} dims [2, 3] strides [1, 1]
// CHECK-NOT: pixels
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<8x9x128x128xf16>) -> tensor<8x128x128x64xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<3x3x9x64xf16>
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<8x9x128x128xf16> -> tensor<8x9x128x128x3x3xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<8x9x128x128x3x3xf16>, tensor<3x3x9x64xf16> -> tensor<8x128x128x64xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<8x128x128x64xf32>
    return %y : tensor<8x128x128x64xf32>
  }
}

// -----

// 83 filters: rows of the filter are no multiple of 16 bytes, so it is stored with the sum last. Of 84 channels, windows are gathered as fast.
// CHECK: fusion all: 2 launches
// CHECK: graph.constant "{{.*}}" : tensor<83x3x320xf16>
// CHECK: graph.window {{.*}} pixels : tensor<2x76x
// CHECK: fusion all: 1 launches
// CHECK-NOT: pixels
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<2x74x74x83xf16>) -> tensor<2x74x74x83xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<3x3x83x83xf16>
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x74x74x83xf16> -> tensor<2x74x74x3x3x83xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x74x74x3x3x83xf16>, tensor<3x3x83x83xf16> -> tensor<2x74x74x83xf32>
    return %c : tensor<2x74x74x83xf32>
  }
}

// -----

module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<2x74x74x84xf16>) -> tensor<2x74x74x83xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<3x3x84x83xf16>
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x74x74x84xf16> -> tensor<2x74x74x3x3x84xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x74x74x3x3x84xf16>, tensor<3x3x84x83xf16> -> tensor<2x74x74x83xf32>
    return %c : tensor<2x74x74x83xf32>
  }
}
