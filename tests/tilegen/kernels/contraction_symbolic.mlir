// Attention for any batch and length, heads split and joined; what images of any size become behind a contraction.
module attributes {graph.nodes = ["a|Add", "emb|Gather"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @scores(%q: tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>>, %k: tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>>) -> tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1)>> {
    %q0 = graph.reshape %q {graph.node = 0 : i64} : tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>> -> tensor<?x?x3x4xf32, affine_map<()[s0, s1] -> (s0, s1, 3, 4)>>
    %q1 = graph.transpose %q0 perm [0, 2, 1, 3] {graph.node = 0 : i64} : tensor<?x?x3x4xf32, affine_map<()[s0, s1] -> (s0, s1, 3, 4)>> -> tensor<?x3x?x4xf32, affine_map<()[s0, s1] -> (s0, 3, s1, 4)>>
    %k0 = graph.reshape %k {graph.node = 0 : i64} : tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>> -> tensor<?x?x3x4xf32, affine_map<()[s0, s1] -> (s0, s1, 3, 4)>>
    %k1 = graph.transpose %k0 perm [0, 2, 3, 1] {graph.node = 0 : i64} : tensor<?x?x3x4xf32, affine_map<()[s0, s1] -> (s0, s1, 3, 4)>> -> tensor<?x3x4x?xf32, affine_map<()[s0, s1] -> (s0, 3, 4, s1)>>
    %c = graph.contract %q1, %k1 maps [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>] {graph.node = 0 : i64} : tensor<?x3x?x4xf32, affine_map<()[s0, s1] -> (s0, 3, s1, 4)>>, tensor<?x3x4x?xf32, affine_map<()[s0, s1] -> (s0, 3, 4, s1)>> -> tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1)>>
    graph.return %c : tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1)>>
  }
  graph.kernel @context(%p: tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1)>>, %v: tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>>) -> tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>> {
    %v0 = graph.reshape %v {graph.node = 0 : i64} : tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>> -> tensor<?x?x3x4xf32, affine_map<()[s0, s1] -> (s0, s1, 3, 4)>>
    %v1 = graph.transpose %v0 perm [0, 2, 1, 3] {graph.node = 0 : i64} : tensor<?x?x3x4xf32, affine_map<()[s0, s1] -> (s0, s1, 3, 4)>> -> tensor<?x3x?x4xf32, affine_map<()[s0, s1] -> (s0, 3, s1, 4)>>
    %c = graph.contract %p, %v1 maps [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>] {graph.node = 0 : i64} : tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1)>>, tensor<?x3x?x4xf32, affine_map<()[s0, s1] -> (s0, 3, s1, 4)>> -> tensor<?x3x?x4xf32, affine_map<()[s0, s1] -> (s0, 3, s1, 4)>>
    %t = graph.transpose %c perm [0, 2, 1, 3] {graph.node = 0 : i64} : tensor<?x3x?x4xf32, affine_map<()[s0, s1] -> (s0, 3, s1, 4)>> -> tensor<?x?x3x4xf32, affine_map<()[s0, s1] -> (s0, s1, 3, 4)>>
    %r = graph.reshape %t {graph.node = 0 : i64} : tensor<?x?x3x4xf32, affine_map<()[s0, s1] -> (s0, s1, 3, 4)>> -> tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>>
    graph.return %r : tensor<?x?x12xf32, affine_map<()[s0, s1] -> (s0, s1, 12)>>
  }
  // Few taps of planes, for any number of images: a row of the image is a program.
  graph.kernel @few_taps(%x: tensor<?x3x6x20xf32, affine_map<()[s0] -> (s0, 3, 6, 20)>>, %w: tensor<3x3x3x9xf32> {graph.constant}) -> tensor<?x3x10x9xf32, affine_map<()[s0] -> (s0, 3, 10, 9)>> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<?x3x6x20xf32, affine_map<()[s0] -> (s0, 3, 6, 20)>> -> tensor<?x3x3x10x3x3xf32, affine_map<()[s0] -> (s0, 3, 3, 10, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<?x3x3x10x3x3xf32, affine_map<()[s0] -> (s0, 3, 3, 10, 3, 3)>>, tensor<3x3x3x9xf32> -> tensor<?x3x10x9xf32, affine_map<()[s0] -> (s0, 3, 10, 9)>>
    graph.return %c : tensor<?x3x10x9xf32, affine_map<()[s0] -> (s0, 3, 10, 9)>>
  }
  // Images of any size under a stride of 2, flattened: a recognizer's tail, and a detection head.
  graph.kernel @strided_flat(%x: tensor<2x3x?x?xf32, affine_map<()[s0, s1] -> (2, 3, s0, s1)>>, %w: tensor<3x3x3x8xf32> {graph.constant}, %b: tensor<8xf32>) -> tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2))>> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x3x?x?xf32, affine_map<()[s0, s1] -> (2, 3, s0, s1)>> -> tensor<2x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (2, 3, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (2, 3, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 3, 3)>>, tensor<3x3x3x8xf32> -> tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>>
    %r = graph.reshape %c {graph.node = 0 : i64} : tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>> -> tensor<2x?x8xf32, affine_map<()[s0, s1] -> (2, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2), 8)>>
    %0 = graph.broadcast %b dims [2] {graph.node = 0 : i64} : tensor<8xf32> -> tensor<2x?x8xf32, affine_map<()[s0, s1] -> (2, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2), 8)>>
    %1 = arith.addf %r, %0 {graph.node = 0 : i64} : tensor<2x?x8xf32, affine_map<()[s0, s1] -> (2, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2), 8)>>
    %t = graph.transpose %1 perm [0, 2, 1] {graph.node = 0 : i64} : tensor<2x?x8xf32, affine_map<()[s0, s1] -> (2, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2), 8)>> -> tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2))>>
    graph.return %t : tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2))>>
  }
  graph.kernel @strided_head(%x: tensor<2x3x?x?xf32, affine_map<()[s0, s1] -> (2, 3, s0, s1)>>, %w: tensor<3x3x3x8xf32> {graph.constant}) -> tensor<2x?x4xf32, affine_map<()[s0, s1] -> (2, (((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2)) * 2, 4)>> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x3x?x?xf32, affine_map<()[s0, s1] -> (2, 3, s0, s1)>> -> tensor<2x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (2, 3, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (2, 3, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 3, 3)>>, tensor<3x3x3x8xf32> -> tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>>
    %r = graph.reshape %c {graph.node = 0 : i64} : tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>> -> tensor<2x?x?x2x4xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 2, 4)>>
    %t = graph.transpose %r perm [0, 3, 1, 2, 4] {graph.node = 0 : i64} : tensor<2x?x?x2x4xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 2, 4)>> -> tensor<2x2x?x?x4xf32, affine_map<()[s0, s1] -> (2, 2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 4)>>
    %f = graph.reshape %t {graph.node = 0 : i64} : tensor<2x2x?x?x4xf32, affine_map<()[s0, s1] -> (2, 2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 4)>> -> tensor<2x?x4xf32, affine_map<()[s0, s1] -> (2, (((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2)) * 2, 4)>>
    %1 = math.exp %f {graph.node = 0 : i64} : tensor<2x?x4xf32, affine_map<()[s0, s1] -> (2, (((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2)) * 2, 4)>>
    graph.return %1 : tensor<2x?x4xf32, affine_map<()[s0, s1] -> (2, (((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2)) * 2, 4)>>
  }
  // There and back again, with a value of each shape beside it: one set of coordinates.
  graph.kernel @strided_and_back(%x: tensor<2x3x?x?xf32, affine_map<()[s0, s1] -> (2, 3, s0, s1)>>, %w: tensor<3x3x3x8xf32> {graph.constant}, %y: tensor<2x?x8xf32, affine_map<()[s0, s1] -> (2, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2), 8)>>) -> tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x3x?x?xf32, affine_map<()[s0, s1] -> (2, 3, s0, s1)>> -> tensor<2x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (2, 3, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (2, 3, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 3, 3)>>, tensor<3x3x3x8xf32> -> tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>>
    %r = graph.reshape %c {graph.node = 0 : i64} : tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>> -> tensor<2x?x8xf32, affine_map<()[s0, s1] -> (2, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2), 8)>>
    %1 = arith.mulf %r, %y {graph.node = 0 : i64} : tensor<2x?x8xf32, affine_map<()[s0, s1] -> (2, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2), 8)>>
    %f = graph.reshape %1 {graph.node = 0 : i64} : tensor<2x?x8xf32, affine_map<()[s0, s1] -> (2, ((s0 + 1) floordiv 2) * ((s1 + 1) floordiv 2), 8)>> -> tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>>
    %2 = arith.addf %f, %c {graph.node = 0 : i64} : tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>>
    graph.return %2 : tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 8)>>
  }
  // A window partition behind a contraction: rank 6.
  graph.kernel @partition(%x: tensor<2x?x?x5xf32, affine_map<()[s0, s1] -> (2, s0 * 4, s1 * 4, 5)>>, %w: tensor<5x8xf32>, %b: tensor<4x4x8xf32>) -> tensor<?x4x4x8xf32, affine_map<()[s0, s1] -> (s0 * s1 * 2, 4, 4, 8)>> {
    %c = graph.contract %x, %w maps [affine_map<(n, y, x, o, c) -> (n, y, x, c)>, affine_map<(n, y, x, o, c) -> (c, o)>, affine_map<(n, y, x, o, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x?x?x5xf32, affine_map<()[s0, s1] -> (2, s0 * 4, s1 * 4, 5)>>, tensor<5x8xf32> -> tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, s0 * 4, s1 * 4, 8)>>
    %r = graph.reshape %c {graph.node = 0 : i64} : tensor<2x?x?x8xf32, affine_map<()[s0, s1] -> (2, s0 * 4, s1 * 4, 8)>> -> tensor<2x?x4x?x4x8xf32, affine_map<()[s0, s1] -> (2, s0, 4, s1, 4, 8)>>
    %t = graph.transpose %r perm [0, 1, 3, 2, 4, 5] {graph.node = 0 : i64} : tensor<2x?x4x?x4x8xf32, affine_map<()[s0, s1] -> (2, s0, 4, s1, 4, 8)>> -> tensor<2x?x?x4x4x8xf32, affine_map<()[s0, s1] -> (2, s0, s1, 4, 4, 8)>>
    %f = graph.reshape %t {graph.node = 0 : i64} : tensor<2x?x?x4x4x8xf32, affine_map<()[s0, s1] -> (2, s0, s1, 4, 4, 8)>> -> tensor<?x4x4x8xf32, affine_map<()[s0, s1] -> (s0 * s1 * 2, 4, 4, 8)>>
    %0 = graph.broadcast %b dims [1, 2, 3] {graph.node = 0 : i64} : tensor<4x4x8xf32> -> tensor<?x4x4x8xf32, affine_map<()[s0, s1] -> (s0 * s1 * 2, 4, 4, 8)>>
    %1 = arith.addf %f, %0 {graph.node = 0 : i64} : tensor<?x4x4x8xf32, affine_map<()[s0, s1] -> (s0 * s1 * 2, 4, 4, 8)>>
    graph.return %1 : tensor<?x4x4x8xf32, affine_map<()[s0, s1] -> (s0 * s1 * 2, 4, 4, 8)>>
  }
  // The same for images of any size: only the rows at the borders are guarded.
  graph.kernel @few_taps_anywhere(%x: tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1 * 8 + 2)>>, %w: tensor<3x3x3x9xf32> {graph.constant}) -> tensor<?x?x?x9xf32, affine_map<()[s0, s1] -> (s0, (s1 + 1) floordiv 2, s1 * 4 + 1, 9)>> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1, s1 * 8 + 2)>> -> tensor<?x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (s0, 3, (s1 + 1) floordiv 2, s1 * 4 + 1, 3, 3)>>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<?x3x?x?x3x3xf32, affine_map<()[s0, s1] -> (s0, 3, (s1 + 1) floordiv 2, s1 * 4 + 1, 3, 3)>>, tensor<3x3x3x9xf32> -> tensor<?x?x?x9xf32, affine_map<()[s0, s1] -> (s0, (s1 + 1) floordiv 2, s1 * 4 + 1, 9)>>
    graph.return %c : tensor<?x?x?x9xf32, affine_map<()[s0, s1] -> (s0, (s1 + 1) floordiv 2, s1 * 4 + 1, 9)>>
  }
}
