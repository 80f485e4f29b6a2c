// A transposed convolution by phases whose weights are computed, with two groups: a product of windows of the image as it is, without zeros between
// its elements. The weights are gathered in the order of the product by the kernel that computes them, not once more for every tile of the image.
// RUN: tilewright-opt %s --tilewright-group-form-groups='mode=all cpu' | FileCheck %s
// RUN: tilewright-opt %s --tilewright-group-form-groups='mode=all' | FileCheck %s

// CHECK: graph.kernel @mul_convtranspose
// CHECK: arith.mulf
// CHECK: graph.pad {{.*}} -> tensor<2x32x64x4x4xf32>
// CHECK: graph.gather {{.*}} -> tensor<2x2x2x32x2x2x64xf32>
// CHECK-NEXT: graph.return
// CHECK: graph.kernel @convtranspose
// CHECK-NOT: graph.pad
// CHECK: %[[windows:.*]] = graph.window %{{.*}} low [1, 1]
// CHECK-NEXT: graph.contract %[[windows]], %arg
// CHECK-NOT: graph.pad
module attributes {graph.nodes = ["mul|Mul", "up|ConvTranspose"]} {
  func.func @main(%x: tensor<1x8x8x2x32xf32>, %m: tensor<2x32xf32>, %k: tensor<32x64x3x3xf32>, %numbers: tensor<2x2xi64>) -> tensor<1x9x2x9x2x2x64xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<1x8x8x2x32xf32> -> tensor<1x9x9x2x2x2x32xf32>
    %0 = graph.broadcast %m dims [0, 1] {graph.node = 0 : i64} : tensor<2x32xf32> -> tensor<2x32x64x3x3xf32>
    %1 = graph.broadcast %k dims [1, 2, 3, 4] {graph.node = 0 : i64} : tensor<32x64x3x3xf32> -> tensor<2x32x64x3x3xf32>
    %w = arith.mulf %0, %1 {graph.node = 0 : i64} : tensor<2x32x64x3x3xf32>
    %2 = graph.pad %w low [0, 0, 0, 0, 0] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<2x32x64x3x3xf32> -> tensor<2x32x64x4x4xf32>
    %3 = graph.broadcast %numbers dims [1, 4] {graph.node = 1 : i64} : tensor<2x2xi64> -> tensor<2x2x2x32x2x2x64xi64>
    %4 = graph.broadcast %numbers dims [2, 5] {graph.node = 1 : i64} : tensor<2x2xi64> -> tensor<2x2x2x32x2x2x64xi64>
    %p = graph.gather %2[%3, %4 : tensor<2x2x2x32x2x2x64xi64>, tensor<2x2x2x32x2x2x64xi64>] map affine_map<(g, i, j, c, p, q, m, r, s) -> (g, c, m, r, s)> {graph.node = 1 : i64} : tensor<2x32x64x4x4xf32> -> tensor<2x2x2x32x2x2x64xf32>
    %y = graph.contract %v, %p maps [affine_map<(b, y, p, x, q, g, m, i, j, c) -> (b, y, x, i, j, g, c)>, affine_map<(b, y, p, x, q, g, m, i, j, c) -> (g, i, j, c, p, q, m)>, affine_map<(b, y, p, x, q, g, m, i, j, c) -> (b, y, p, x, q, g, m)>] {graph.node = 1 : i64}
        : tensor<1x9x9x2x2x2x32xf32>, tensor<2x2x2x32x2x2x64xf32> -> tensor<1x9x2x9x2x2x64xf32>
    return %y : tensor<1x9x2x9x2x2x64xf32>
  }
}
