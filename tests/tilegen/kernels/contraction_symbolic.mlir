// Attention for any batch and length, heads split and joined.
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
}
