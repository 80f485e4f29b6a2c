// Large windows of singles are laid out in memory where their product is faster so: the image is turned channels last, its windows are written, and the
// contraction reads rows of a matrix, with what follows it. Few columns, few multiplications, halves, rows of three channels and images of unknown size
// stay in one kernel, and so does everything on targets without such products.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all copied-columns=128 explain=text' | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s --check-prefix=NEVER
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all copied-columns=256 explain=text' -o /dev/null | FileCheck %s --check-prefix=WIDE

// CHECK: fusion all: 3 launches
// CHECK: because windows of singles are multiplied faster where they lie in memory
// CHECK: graph.transpose %{{.*}} perm [0, 2, 3, 1] : tensor<16x128x28x28xf32> -> tensor<16x28x28x128xf32>
// CHECK: graph.window %{{.*}} fill 0.000000e+00 : f32 copied : tensor<16x28x28x128xf32> -> tensor<16x28x28x3x3x128xf32>
// CHECK-NEXT: graph.return
// CHECK: graph.kernel
// CHECK-NEXT: graph.contract
// CHECK-NEXT: math.absf
// NEVER: fusion all: 1 launches
// NEVER-NOT: windows of singles
// WIDE: fusion all: 1 launches
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<16x128x28x28xf32>, %w: tensor<3x3x128x128xf32>) -> tensor<16x28x28x128xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<16x128x28x28xf32> -> tensor<16x128x28x28x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<16x128x28x28x3x3xf32>, tensor<3x3x128x128xf32> -> tensor<16x28x28x128xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<16x28x28x128xf32>
    return %y : tensor<16x28x28x128xf32>
  }
}

// -----

// Columns.
// CHECK: fusion all: 1 launches
// CHECK-NOT: copied
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<16x128x56x56xf32>, %w: tensor<3x3x128x64xf32>) -> tensor<16x56x56x64xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<16x128x56x56xf32> -> tensor<16x128x56x56x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<16x128x56x56x3x3xf32>, tensor<3x3x128x64xf32> -> tensor<16x56x56x64xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<16x56x56x64xf32>
    return %y : tensor<16x56x56x64xf32>
  }
}

// -----

// Multiplications: one image of 14x14.
// CHECK: fusion all: 1 launches
// CHECK-NOT: copied
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<1x128x14x14xf32>, %w: tensor<3x3x128x128xf32>) -> tensor<1x14x14x128xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x128x14x14xf32> -> tensor<1x128x14x14x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x128x14x14x3x3xf32>, tensor<3x3x128x128xf32> -> tensor<1x14x14x128xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<1x14x14x128xf32>
    return %y : tensor<1x14x14x128xf32>
  }
}

// -----

// Halves.
// CHECK: fusion all: 2 launches
// CHECK-NOT: copied
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<16x128x28x28xf16>, %w: tensor<3x3x128x128xf16>) -> tensor<16x28x28x128xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<16x128x28x28xf16> -> tensor<16x128x28x28x3x3xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<16x128x28x28x3x3xf16>, tensor<3x3x128x128xf16> -> tensor<16x28x28x128xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<16x28x28x128xf32>
    return %y : tensor<16x28x28x128xf32>
  }
}

// -----

// Rows of 3x3x3 singles, 108 bytes.
// CHECK: fusion all: 1 launches
// CHECK-NOT: copied
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<64x3x224x224xf32>, %w: tensor<3x3x3x128xf32>) -> tensor<64x224x224x128xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<64x3x224x224xf32> -> tensor<64x3x224x224x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<64x3x224x224x3x3xf32>, tensor<3x3x3x128xf32> -> tensor<64x224x224x128xf32>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<64x224x224x128xf32>
    return %y : tensor<64x224x224x128xf32>
  }
}

// -----

// An unknown number of images counts as 16.
// CHECK: fusion all: 3 launches
// CHECK: graph.window %{{.*}} copied
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<?x256x14x14xf32, affine_map<()[s0] -> (s0, 256, 14, 14)>>, %w: tensor<3x3x256x256xf32>) -> tensor<?x14x14x256xf32, affine_map<()[s0] -> (s0, 14, 14, 256)>> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<?x256x14x14xf32, affine_map<()[s0] -> (s0, 256, 14, 14)>> -> tensor<?x256x14x14x3x3xf32, affine_map<()[s0] -> (s0, 256, 14, 14, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64} : tensor<?x256x14x14x3x3xf32, affine_map<()[s0] -> (s0, 256, 14, 14, 3, 3)>>, tensor<3x3x256x256xf32> -> tensor<?x14x14x256xf32, affine_map<()[s0] -> (s0, 14, 14, 256)>>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<?x14x14x256xf32, affine_map<()[s0] -> (s0, 14, 14, 256)>>
    return %y : tensor<?x14x14x256xf32, affine_map<()[s0] -> (s0, 14, 14, 256)>>
  }
}

// -----

// A height that is not known.
// CHECK: fusion all: 1 launches
// CHECK-NOT: copied
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<1x256x?x28xf32, affine_map<()[s0] -> (1, 256, s0, 28)>>, %w: tensor<3x3x256x256xf32>) -> tensor<1x?x28x256xf32, affine_map<()[s0] -> (1, s0, 28, 256)>> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x256x?x28xf32, affine_map<()[s0] -> (1, 256, s0, 28)>> -> tensor<1x256x?x28x3x3xf32, affine_map<()[s0] -> (1, 256, s0, 28, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64} : tensor<1x256x?x28x3x3xf32, affine_map<()[s0] -> (1, 256, s0, 28, 3, 3)>>, tensor<3x3x256x256xf32> -> tensor<1x?x28x256xf32, affine_map<()[s0] -> (1, s0, 28, 256)>>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<1x?x28x256xf32, affine_map<()[s0] -> (1, s0, 28, 256)>>
    return %y : tensor<1x?x28x256xf32, affine_map<()[s0] -> (1, s0, 28, 256)>>
  }
}

// -----

// More than half a GiB for 16 images.
// CHECK: fusion all: 1 launches
// CHECK-NOT: copied
module attributes {graph.nodes = ["conv|Conv", "act|Relu"]} {
  func.func @main(%x: tensor<?x128x112x112xf32, affine_map<()[s0] -> (s0, 128, 112, 112)>>, %w: tensor<3x3x128x128xf32>) -> tensor<?x112x112x128xf32, affine_map<()[s0] -> (s0, 112, 112, 128)>> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<?x128x112x112xf32, affine_map<()[s0] -> (s0, 128, 112, 112)>> -> tensor<?x128x112x112x3x3xf32, affine_map<()[s0] -> (s0, 128, 112, 112, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64} : tensor<?x128x112x112x3x3xf32, affine_map<()[s0] -> (s0, 128, 112, 112, 3, 3)>>, tensor<3x3x128x128xf32> -> tensor<?x112x112x128xf32, affine_map<()[s0] -> (s0, 112, 112, 128)>>
    %y = math.absf %c {graph.node = 1 : i64} : tensor<?x112x112x128xf32, affine_map<()[s0] -> (s0, 112, 112, 128)>>
    return %y : tensor<?x112x112x128xf32, affine_map<()[s0] -> (s0, 112, 112, 128)>>
  }
}
