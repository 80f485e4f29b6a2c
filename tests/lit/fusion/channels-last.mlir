// An image of planes is turned channels last, once, before windows of many channels are multiplied: on a core, and on GPUs if it is of halves,
// whose channels are copied 16 bytes at a time. Images of few channels, windows of one tap, and windows that something else reads too stay as they are.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all cpu' | FileCheck %s --check-prefixes=CPU
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all' | FileCheck %s --check-prefix=GPU

// CPU-LABEL: module
// CPU: graph.kernel
// CPU: graph.transpose %{{.*}} perm [0, 2, 3, 1] : tensor<1x16x8x8xf32> -> tensor<1x8x8x16xf32>
// CPU: graph.return
// CPU: graph.kernel
// CPU: graph.window %{{.*}} dims [1, 2] {{.*}} : tensor<1x8x8x16xf32> -> tensor<1x8x8x3x3x16xf32>
// CPU-NEXT: graph.contract
// GPU-LABEL: func.func @main(%arg0: tensor<1x16x8x8xf32>, %arg1: tensor<3x3x16x24xf32>)
// GPU-NOT: graph.transpose
// GPU: graph.window %{{.*}} dims [2, 3]
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<1x16x8x8xf32>, %w: tensor<3x3x16x24xf32>) -> tensor<1x8x8x24xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x16x8x8xf32> -> tensor<1x16x8x8x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x16x8x8x3x3xf32>, tensor<3x3x16x24xf32> -> tensor<1x8x8x24xf32>
    return %c : tensor<1x8x8x24xf32>
  }
}

// -----

// Three channels.
// CPU-LABEL: module
// CPU-NOT: graph.transpose
// CPU: graph.window %{{.*}} dims [2, 3]
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<3x3x3x24xf32>) -> tensor<1x8x8x24xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x3x8x8xf32> -> tensor<1x3x8x8x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x3x8x8x3x3xf32>, tensor<3x3x3x24xf32> -> tensor<1x8x8x24xf32>
    return %c : tensor<1x8x8x24xf32>
  }
}

// -----

// One tap, with a step of two.
// CPU-LABEL: module
// CPU-NOT: graph.transpose
// CPU: graph.window %{{.*}} dims [2, 3]
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<1x16x8x8xf32>, %w: tensor<1x1x16x24xf32>) -> tensor<1x4x4x24xf32> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [0, 0] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x16x8x8xf32> -> tensor<1x16x4x4x1x1xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x16x4x4x1x1xf32>, tensor<1x1x16x24xf32> -> tensor<1x4x4x24xf32>
    return %c : tensor<1x4x4x24xf32>
  }
}

// -----

// A maximum reads the windows too.
// CPU-LABEL: module
// CPU-NOT: graph.transpose
// CPU: graph.window %{{.*}} dims [2, 3]
module attributes {graph.nodes = ["conv|Conv", "pool|MaxPool"]} {
  func.func @main(%x: tensor<1x16x8x8xf32>, %w: tensor<3x3x16x24xf32>) -> (tensor<1x8x8x24xf32>, tensor<1x16x8x8xf32>) {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x16x8x8xf32> -> tensor<1x16x8x8x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x16x8x8x3x3xf32>, tensor<3x3x16x24xf32> -> tensor<1x8x8x24xf32>
    %m = graph.reduce <max> %v axes [4, 5] {graph.node = 1 : i64} : tensor<1x16x8x8x3x3xf32> -> tensor<1x16x8x8xf32>
    return %c, %m : tensor<1x8x8x24xf32>, tensor<1x16x8x8xf32>
  }
}

// -----

// Group normalization in front of a convolution: its results are not stored channels last, element by element, but turned by a kernel between.
// CPU-LABEL: module
// CPU: graph.kernel
// CPU: graph.reduce
// CPU-NOT: graph.transpose
// CPU: graph.return
// CPU: graph.transpose %{{.*}} perm [0, 2, 3, 1]
// CPU: graph.return
// CPU: graph.contract
module attributes {graph.nodes = ["norm|GroupNormalization", "conv|Conv"]} {
  func.func @main(%x: tensor<1x16x8x8xf32>, %w: tensor<3x3x16x24xf32>) -> tensor<1x8x8x24xf32> {
    %g = graph.reshape %x {graph.node = 0 : i64} : tensor<1x16x8x8xf32> -> tensor<1x4x256xf32>
    %m = graph.reduce <max> %g axes [2] {graph.node = 0 : i64} : tensor<1x4x256xf32> -> tensor<1x4xf32>
    %b = graph.broadcast %m dims [0, 1] {graph.node = 0 : i64} : tensor<1x4xf32> -> tensor<1x4x256xf32>
    %d = arith.subf %g, %b {graph.node = 0 : i64} : tensor<1x4x256xf32>
    %n = graph.reshape %d {graph.node = 0 : i64} : tensor<1x4x256xf32> -> tensor<1x16x8x8xf32>
    %v = graph.window %n dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<1x16x8x8xf32> -> tensor<1x16x8x8x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 1 : i64}
        : tensor<1x16x8x8x3x3xf32>, tensor<3x3x16x24xf32> -> tensor<1x8x8x24xf32>
    return %c : tensor<1x8x8x24xf32>
  }
}

// -----

// A transposed convolution of 4x4 by 2: its phases are windows of windows, which are turned with them.
// CPU-LABEL: module
// CPU: graph.transpose %{{.*}} perm [0, 2, 3, 1] : tensor<1x16x5x5xf32> -> tensor<1x5x5x16xf32>
// CPU: graph.window %{{.*}} dims [1, 2] {{.*}} : tensor<1x5x5x16xf32> -> tensor<1x5x5x3x3x16xf32>
// CPU-NEXT: graph.window %{{.*}} dims [3, 4] {{.*}} : tensor<1x5x5x3x3x16xf32> -> tensor<1x5x5x2x2x2x2x16xf32>
// CPU-NEXT: graph.contract
// GPU-LABEL: func.func @main(%arg0: tensor<1x16x5x5xf32>, %arg1: tensor<2x2x2x2x16x24xf32>)
// GPU-NOT: graph.transpose
// GPU: graph.window %{{.*}} dims [4, 5]
module attributes {graph.nodes = ["up|ConvTranspose"]} {
  func.func @main(%x: tensor<1x16x5x5xf32>, %w: tensor<2x2x2x2x16x24xf32>) -> tensor<1x5x2x5x2x24xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x16x5x5xf32> -> tensor<1x16x5x5x3x3xf32>
    %p = graph.window %v dims [4, 5] strides [1, 1] dilations [1, 1] low [0, 0] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x16x5x5x3x3xf32> -> tensor<1x16x5x5x2x2x2x2xf32>
    %c = graph.contract %p, %w maps [affine_map<(n, y, j, x, i, o, ky, kx, c) -> (n, c, y, x, j, i, ky, kx)>, affine_map<(n, y, j, x, i, o, ky, kx, c) -> (j, i, ky, kx, c, o)>, affine_map<(n, y, j, x, i, o, ky, kx, c) -> (n, y, j, x, i, o)>] {graph.node = 0 : i64}
        : tensor<1x16x5x5x2x2x2x2xf32>, tensor<2x2x2x2x16x24xf32> -> tensor<1x5x2x5x2x24xf32>
    return %c : tensor<1x5x2x5x2x24xf32>
  }
}

// -----

// Halves: a kernel of its own turns them on GPUs, too.
// GPU-LABEL: func.func @main(%arg0: tensor<1x16x8x8xf16>, %arg1: tensor<3x3x16x24xf16>)
// GPU: graph.kernel
// GPU: graph.transpose %{{.*}} perm [0, 2, 3, 1] : tensor<1x16x8x8xf16> -> tensor<1x8x8x16xf16>
// GPU: graph.return
// GPU: graph.window %{{.*}} dims [1, 2] {{.*}} : tensor<1x8x8x16xf16> -> tensor<1x8x8x3x3x16xf16>
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<1x16x8x8xf16>, %w: tensor<3x3x16x24xf16>) -> tensor<1x8x8x24xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<1x16x8x8xf16> -> tensor<1x16x8x8x3x3xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x16x8x8x3x3xf16>, tensor<3x3x16x24xf16> -> tensor<1x8x8x24xf32>
    return %c : tensor<1x8x8x24xf32>
  }
}

// -----

// A near miss: halves of channels that 16 bytes do not divide.
// GPU-LABEL: func.func @main(%arg0: tensor<1x12x8x8xf16>, %arg1: tensor<3x3x12x24xf16>)
// GPU-NOT: graph.transpose
// GPU: graph.window %{{.*}} dims [2, 3]
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<1x12x8x8xf16>, %w: tensor<3x3x12x24xf16>) -> tensor<1x8x8x24xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<1x12x8x8xf16> -> tensor<1x12x8x8x3x3xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x12x8x8x3x3xf16>, tensor<3x3x12x24xf16> -> tensor<1x8x8x24xf32>
    return %c : tensor<1x8x8x24xf32>
  }
}

// -----

// A near miss: groups of channels. Their products are batches, whose tiles are small either way; turned, they took two to four times as long.
// GPU-LABEL: func.func @main(%arg0: tensor<1x2x16x8x8xf16>, %arg1: tensor<2x3x3x16x24xf16>)
// GPU-NOT: graph.transpose
// GPU: graph.window %{{.*}} dims [3, 4]
// GPU-NOT: graph.transpose
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<1x2x16x8x8xf16>, %w: tensor<2x3x3x16x24xf16>) -> tensor<1x2x8x8x24xf32> {
    %v = graph.window %x dims [3, 4] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<1x2x16x8x8xf16> -> tensor<1x2x16x8x8x3x3xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, g, y, x, o, ky, kx, c) -> (n, g, c, y, x, ky, kx)>, affine_map<(n, g, y, x, o, ky, kx, c) -> (g, ky, kx, c, o)>, affine_map<(n, g, y, x, o, ky, kx, c) -> (n, g, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x2x16x8x8x3x3xf16>, tensor<2x3x3x16x24xf16> -> tensor<1x2x8x8x24xf32>
    return %c : tensor<1x2x8x8x24xf32>
  }
}
