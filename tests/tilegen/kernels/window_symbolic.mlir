// The mean of an image, for any number of images.
module attributes {graph.nodes = ["a|Add", "emb|Gather"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @meanpool(%x: tensor<?x2x3x8xf16, affine_map<()[s0] -> (s0, 2, 3, 8)>>) -> tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>> {
    %e = arith.extf %x {graph.node = 0 : i64} : tensor<?x2x3x8xf16, affine_map<()[s0] -> (s0, 2, 3, 8)>> to tensor<?x2x3x8xf32, affine_map<()[s0] -> (s0, 2, 3, 8)>>
    %m = graph.reduce <sum> %e axes [1, 2] {graph.node = 0 : i64} : tensor<?x2x3x8xf32, affine_map<()[s0] -> (s0, 2, 3, 8)>> -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
    %t = arith.truncf %m {graph.node = 0 : i64} : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>> to tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>
    graph.return %t : tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>
  }
  // Only the batch is known at run time: rows are whole register tiles all the same.
  graph.kernel @depthwise(%x: tensor<?x3x19x18xf32, affine_map<()[s0] -> (s0, 3, 19, 18)>>, %w: tensor<3x3x18xf32> {graph.constant}) -> tensor<?x3x19x18xf32, affine_map<()[s0] -> (s0, 3, 19, 18)>> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<?x3x19x18xf32, affine_map<()[s0] -> (s0, 3, 19, 18)>> -> tensor<?x3x19x3x3x18xf32, affine_map<()[s0] -> (s0, 3, 19, 3, 3, 18)>>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x18xf32> -> tensor<?x3x19x3x3x18xf32, affine_map<()[s0] -> (s0, 3, 19, 3, 3, 18)>>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<?x3x19x3x3x18xf32, affine_map<()[s0] -> (s0, 3, 19, 3, 3, 18)>>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<?x3x19x3x3x18xf32, affine_map<()[s0] -> (s0, 3, 19, 3, 3, 18)>> -> tensor<?x3x19x18xf32, affine_map<()[s0] -> (s0, 3, 19, 18)>>
    graph.return %s : tensor<?x3x19x18xf32, affine_map<()[s0] -> (s0, 3, 19, 18)>>
  }
  // Nothing is known of the images: rows for which the window surely lies inside are whole register tiles, those at the borders are guarded.
  graph.kernel @depthwise_by_two(%x: tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 + 3, s1 * 4 + 3, 18)>>, %w: tensor<3x3x18xf32> {graph.constant}) -> tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 18)>> {
    %v = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 + 3, s1 * 4 + 3, 18)>> -> tensor<?x?x?x3x3x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 3, 3, 18)>>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x18xf32> -> tensor<?x?x?x3x3x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 3, 3, 18)>>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<?x?x?x3x3x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 3, 3, 18)>>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<?x?x?x3x3x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 3, 3, 18)>> -> tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 18)>>
    graph.return %s : tensor<?x?x?x18xf32, affine_map<()[s0, s1] -> (s0, s1 floordiv 2 + 2, s1 * 2 + 2, 18)>>
  }
  // A window that is wider than some of the images, so that no row lies inside.
  graph.kernel @wide_window(%x: tensor<?x3x?x18xf32, affine_map<()[s0, s1] -> (s0, 3, s1 * 4, 18)>>) -> tensor<?x3x?x18xf32, affine_map<()[s0, s1] -> (s0, 3, s1 * 4, 18)>> {
    %v = graph.window %x dims [2] strides [1] dilations [3] low [6] fill 0xFF800000 : f32 {graph.node = 0 : i64} : tensor<?x3x?x18xf32, affine_map<()[s0, s1] -> (s0, 3, s1 * 4, 18)>> -> tensor<?x3x?x5x18xf32, affine_map<()[s0, s1] -> (s0, 3, s1 * 4, 5, 18)>>
    %s = graph.reduce <max> %v axes [3] {graph.node = 0 : i64} : tensor<?x3x?x5x18xf32, affine_map<()[s0, s1] -> (s0, 3, s1 * 4, 5, 18)>> -> tensor<?x3x?x18xf32, affine_map<()[s0, s1] -> (s0, 3, s1 * 4, 18)>>
    graph.return %s : tensor<?x3x?x18xf32, affine_map<()[s0, s1] -> (s0, 3, s1 * 4, 18)>>
  }
}
