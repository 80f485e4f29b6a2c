// A filter that is computed is stored in the order in which a GPU's convolution sums, so that its copy engine can bring it: the kernel that computes
// it transposes it, or one of its own if nothing does. Constants, filters that lie so, and images that are not copied channels last stay as they are.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all' | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all cpu' | FileCheck %s --check-prefix=CPU
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s --check-prefix=WHY

// WHY: conv is split between the two because work would be repeated for every use of its result
// CHECK: #[[LEFT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d4, d5, d6)>
// CHECK: #[[RIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d4, d5, d6)>
// CHECK-LABEL: graph.kernel @mul_conv
// CHECK: arith.mulf
// CHECK: graph.transpose %{{.*}} perm [0, 1, 3, 4, 2] : tensor<2x24x64x3x3xf16> -> tensor<2x24x3x3x64xf16>
// CHECK-NEXT: graph.return
// CHECK-LABEL: graph.kernel @conv
// CHECK-NOT: graph.transpose
// CHECK: graph.contract %{{.*}}, %arg1 maps [#[[LEFT]], #[[RIGHT]],
// CPU-LABEL: module
// CPU-NOT: graph.transpose
// CPU: graph.contract
module attributes {graph.nodes = ["scale|Mul", "conv|Conv"]} {
  func.func @main(%x: tensor<2x8x8x64xf16>, %w: tensor<2x24x64x3x3xf16>) -> tensor<2x8x8x24xf32> {
    %e = arith.extf %w {graph.node = 0 : i64} : tensor<2x24x64x3x3xf16> to tensor<2x24x64x3x3xf32>
    %m = arith.mulf %e, %e {graph.node = 0 : i64} : tensor<2x24x64x3x3xf32>
    %f = arith.truncf %m {graph.node = 0 : i64} : tensor<2x24x64x3x3xf32> to tensor<2x24x64x3x3xf16>
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 1 : i64} : tensor<2x8x8x64xf16> -> tensor<2x8x8x3x3x64xf16>
    %c = graph.contract %v, %f maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, o, c, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 1 : i64}
        : tensor<2x8x8x3x3x64xf16>, tensor<2x24x64x3x3xf16> -> tensor<2x8x8x24xf32>
    return %c : tensor<2x8x8x24xf32>
  }
}

// -----

// The filter is an input, and the image of planes: both are turned.
// WHY: fusion all: 3 launches
// CHECK-LABEL: func.func @main
// CHECK: graph.kernel
// CHECK: graph.transpose %{{.*}} perm [0, 2, 3, 1] : tensor<2x64x8x8xf16> -> tensor<2x8x8x64xf16>
// CHECK: graph.kernel
// CHECK: graph.transpose %{{.*}} perm [0, 2, 3, 1] : tensor<24x64x3x3xf16> -> tensor<24x3x3x64xf16>
// CHECK: graph.kernel
// CHECK-NOT: graph.transpose
// CHECK: graph.contract
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<2x64x8x8xf16>, %f: tensor<24x64x3x3xf16>) -> tensor<2x8x8x24xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x64x8x8xf16> -> tensor<2x64x8x8x3x3xf16>
    %c = graph.contract %v, %f maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (o, c, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x64x8x8x3x3xf16>, tensor<24x64x3x3xf16> -> tensor<2x8x8x24xf32>
    return %c : tensor<2x8x8x24xf32>
  }
}

// -----

// A filter whose columns are neighbours, as phases of a transposed convolution are gathered.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.transpose
// CHECK: graph.contract
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<2x8x8x64xf16>, %f: tensor<3x3x64x24xf16>) -> tensor<2x8x8x24xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x8x8x64xf16> -> tensor<2x8x8x3x3x64xf16>
    %c = graph.contract %v, %f maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x8x8x3x3x64xf16>, tensor<3x3x64x24xf16> -> tensor<2x8x8x24xf32>
    return %c : tensor<2x8x8x24xf32>
  }
}

// -----

// A constant, which is packed when compiling.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.transpose
// CHECK: graph.contract
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<2x8x8x64xf16>) -> tensor<2x8x8x24xf32> {
    %f = graph.constant "0123456789abcdef0123456789abcdef" : tensor<24x64x3x3xf16>
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x8x8x64xf16> -> tensor<2x8x8x3x3x64xf16>
    %c = graph.contract %v, %f maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, o, ky, kx, c) -> (o, c, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x8x8x3x3x64xf16>, tensor<24x64x3x3xf16> -> tensor<2x8x8x24xf32>
    return %c : tensor<2x8x8x24xf32>
  }
}

// -----

// Singles that are gathered.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.transpose
// CHECK: graph.contract
module attributes {graph.nodes = ["conv|Conv"]} {
  func.func @main(%x: tensor<2x8x8x64xf32>, %f: tensor<24x64x3x3xf32>) -> tensor<2x8x8x24xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x8x8x64xf32> -> tensor<2x8x8x3x3x64xf32>
    %c = graph.contract %v, %f maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, o, ky, kx, c) -> (o, c, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x8x8x3x3x64xf32>, tensor<24x64x3x3xf32> -> tensor<2x8x8x24xf32>
    return %c : tensor<2x8x8x24xf32>
  }
}

// -----

// Phases are gathered from filters whose channels are nearer to each other than their columns: turned as they are gathered.
// CHECK-LABEL: func.func @main
// CHECK: graph.gather
// CHECK: graph.transpose %{{.*}} perm [0, 3, 4, 1, 2] : tensor<2x2x64x2x24xf16> -> tensor<2x2x24x2x64xf16>
// CHECK-NEXT: graph.return
// CHECK: graph.contract
module attributes {graph.nodes = ["phases|ConvTranspose"]} {
  func.func @main(%x: tensor<2x8x8x64xf16>, %f: tensor<2x24x64x5xf16>) -> tensor<2x8x8x2x24xf32> {
    %i = graph.constant "0123456789abcdef0123456789abcdef" : tensor<2x2xi64>
    %b = graph.broadcast %i dims [2, 4] {graph.node = 0 : i64} : tensor<2x2xi64> -> tensor<2x1x2x64x2x24xi64>
    %g = graph.gather %f[%b : tensor<2x1x2x64x2x24xi64>] map affine_map<(n, u, k, c, p, o, i) -> (n, o, c, i)> {graph.node = 0 : i64} : tensor<2x24x64x5xf16> -> tensor<2x1x2x64x2x24xf16>
    %w = graph.reshape %g {graph.node = 0 : i64} : tensor<2x1x2x64x2x24xf16> -> tensor<2x2x64x2x24xf16>
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [0, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x8x8x64xf16> -> tensor<2x8x8x1x2x64xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, p, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, p, o, ky, kx, c) -> (n, kx, c, p, o)>, affine_map<(n, y, x, p, o, ky, kx, c) -> (n, y, x, p, o)>] {graph.node = 0 : i64}
        : tensor<2x8x8x1x2x64xf16>, tensor<2x2x64x2x24xf16> -> tensor<2x8x8x2x24xf32>
    return %c : tensor<2x8x8x2x24xf32>
  }
}

// -----

// Their columns are nearer.
// CHECK-LABEL: func.func @main
// CHECK: graph.gather
// CHECK-NOT: graph.transpose
// CHECK: graph.contract
module attributes {graph.nodes = ["phases|ConvTranspose"]} {
  func.func @main(%x: tensor<2x8x8x64xf16>, %f: tensor<2x64x24x5xf16>) -> tensor<2x8x8x2x24xf32> {
    %i = graph.constant "0123456789abcdef0123456789abcdef" : tensor<2x2xi64>
    %b = graph.broadcast %i dims [2, 4] {graph.node = 0 : i64} : tensor<2x2xi64> -> tensor<2x1x2x64x2x24xi64>
    %g = graph.gather %f[%b : tensor<2x1x2x64x2x24xi64>] map affine_map<(n, u, k, c, p, o, i) -> (n, c, o, i)> {graph.node = 0 : i64} : tensor<2x64x24x5xf16> -> tensor<2x1x2x64x2x24xf16>
    %w = graph.reshape %g {graph.node = 0 : i64} : tensor<2x1x2x64x2x24xf16> -> tensor<2x2x64x2x24xf16>
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [0, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x8x8x64xf16> -> tensor<2x8x8x1x2x64xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, p, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, p, o, ky, kx, c) -> (n, kx, c, p, o)>, affine_map<(n, y, x, p, o, ky, kx, c) -> (n, y, x, p, o)>] {graph.node = 0 : i64}
        : tensor<2x8x8x1x2x64xf16>, tensor<2x2x64x2x24xf16> -> tensor<2x8x8x2x24xf32>
    return %c : tensor<2x8x8x2x24xf32>
  }
}
