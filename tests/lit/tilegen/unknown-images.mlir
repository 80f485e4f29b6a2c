// Images of unknown number and size are scheduled as one large image: a program takes part of one image, whose rows are computed together.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4})" | FileCheck %s

// CHECK-LABEL: graph.kernel @depthwise
// CHECK-SAME: <window, tile = [1, 7, 128, 18], reduce = [1, 1], registers = [8, 16]>
// A window of few elements is read in place: rows of images are not joined, and a program takes one.
// CHECK-LABEL: graph.kernel @few_taps
// CHECK-SAME: <matmul, tile = [1, 1, 512, 16], reduce = [27], registers = [14, 16], pack = 16, in_place = true>
// The mean of each image: its rows are images, of which there may be one.
// CHECK-LABEL: graph.kernel @mean
// CHECK-SAME: <window, tile = [8, 18], {{.*}}registers = [1, 64]>
module attributes {graph.nodes = ["a|Conv"], graph.symbols = ["n", "w"]} {
  graph.kernel @depthwise(%x: tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 + 3, s1 * 4 + 3, 18)>>, %w: tensor<3x3x18xf32> {graph.constant}) -> tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 18)>> {
    %v = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 + 3, s1 * 4 + 3, 18)>> -> tensor<?x?x?x3x3x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 3, 3, 18)>>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x18xf32> -> tensor<?x?x?x3x3x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 3, 3, 18)>>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<?x?x?x3x3x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 3, 3, 18)>>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<?x?x?x3x3x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 3, 3, 18)>> -> tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 18)>>
    graph.return %s : tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 18)>>
  }
  graph.kernel @few_taps(%x: tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1 * 8 + 2)>>, %w: tensor<3x3x3x9xf32> {graph.constant}) -> tensor<?x?x?x9xf32, affine_map<()[s0, s1] -> (s0, (s1 + 1) floordiv 2, s1 * 4 + 1, 9)>> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1 * 8 + 2)>> -> tensor<?x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (s0, 3, (s1 + 1) floordiv 2, s1 * 4 + 1, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<?x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (s0, 3, (s1 + 1) floordiv 2, s1 * 4 + 1, 3, 3)>>, tensor<3x3x3x9xf32> -> tensor<?x?x?x9xf32, affine_map<()[s0, s1] -> (s0, (s1 + 1) floordiv 2, s1 * 4 + 1, 9)>>
    graph.return %c : tensor<?x?x?x9xf32, affine_map<()[s0, s1] -> (s0, (s1 + 1) floordiv 2, s1 * 4 + 1, 9)>>
  }
  graph.kernel @mean(%x: tensor<?x4x4x18xf32, affine_map<()[s0] -> (s0, 4, 4, 18)>>) -> tensor<?x18xf32, affine_map<()[s0] -> (s0, 18)>> {
    %s = graph.reduce <sum> %x axes [1, 2] {graph.node = 0 : i64} : tensor<?x4x4x18xf32, affine_map<()[s0] -> (s0, 4, 4, 18)>> -> tensor<?x18xf32, affine_map<()[s0] -> (s0, 18)>>
    graph.return %s : tensor<?x18xf32, affine_map<()[s0] -> (s0, 18)>>
  }
}
