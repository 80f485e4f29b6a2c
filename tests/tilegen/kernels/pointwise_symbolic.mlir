// Sizes known only when running.
module attributes {graph.nodes = ["a|Add", "emb|Gather"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @transpose(%x: tensor<?x5x12xf32, affine_map<()[s0] -> (s0, 5, 12)>>) -> tensor<?x3x5x4xf32, affine_map<()[s0] -> (s0, 3, 5, 4)>> {
    %0 = graph.reshape %x {graph.node = 0 : i64} : tensor<?x5x12xf32, affine_map<()[s0] -> (s0, 5, 12)>> -> tensor<?x5x3x4xf32, affine_map<()[s0] -> (s0, 5, 3, 4)>>
    %1 = graph.transpose %0 perm [0, 2, 1, 3] {graph.node = 0 : i64} : tensor<?x5x3x4xf32, affine_map<()[s0] -> (s0, 5, 3, 4)>> -> tensor<?x3x5x4xf32, affine_map<()[s0] -> (s0, 3, 5, 4)>>
    graph.return %1 : tensor<?x3x5x4xf32, affine_map<()[s0] -> (s0, 3, 5, 4)>>
  }
  graph.kernel @bias(%x: tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>, %b: tensor<8xf32>, %m: tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>) -> tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>> {
    %0 = graph.broadcast %b dims [2] {graph.node = 0 : i64} : tensor<8xf32> -> tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>
    %1 = arith.addf %x, %0 {graph.node = 0 : i64} : tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>
    %2 = graph.reshape %m {graph.node = 0 : i64} : tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>> -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
    %3 = graph.broadcast %2 dims [0] {graph.node = 0 : i64} : tensor<?xf32, affine_map<()[s0] -> (s0)>> -> tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>
    %4 = arith.mulf %1, %3 {graph.node = 0 : i64} : tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>
    graph.return %4 : tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>
  }
  graph.kernel @concat_symbolic(%x: tensor<3x?xf32, affine_map<()[s0] -> (3, s0)>>, %y: tensor<3x?xf32, affine_map<()[s0, s1] -> (3, s1)>>) -> tensor<3x?xf32, affine_map<()[s0, s1] -> (3, s0 + s1)>> {
    %c = graph.concat axis 1 %x, %y {graph.node = 0 : i64} : tensor<3x?xf32, affine_map<()[s0] -> (3, s0)>>, tensor<3x?xf32, affine_map<()[s0, s1] -> (3, s1)>> -> tensor<3x?xf32, affine_map<()[s0, s1] -> (3, s0 + s1)>>
    graph.return %c : tensor<3x?xf32, affine_map<()[s0, s1] -> (3, s0 + s1)>>
  }
  // Blocks of what is read by columns, where the rows are only known at run time.
  graph.kernel @across(%x: tensor<18x?xf32, affine_map<()[s0] -> (18, s0 * 23)>>) -> tensor<?x18xf32, affine_map<()[s0] -> (s0 * 23, 18)>> {
    %t = graph.transpose %x perm [1, 0] {graph.node = 0 : i64} : tensor<18x?xf32, affine_map<()[s0] -> (18, s0 * 23)>> -> tensor<?x18xf32, affine_map<()[s0] -> (s0 * 23, 18)>>
    %r = math.exp %t {graph.node = 0 : i64} : tensor<?x18xf32, affine_map<()[s0] -> (s0 * 23, 18)>>
    graph.return %r : tensor<?x18xf32, affine_map<()[s0] -> (s0 * 23, 18)>>
  }
}
