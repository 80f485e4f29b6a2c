// The mean of an image, for any number of images.
module attributes {graph.nodes = ["a|Add", "emb|Gather"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @meanpool(%x: tensor<?x2x3x8xf16, affine_map<()[s0] -> (s0, 2, 3, 8)>>) -> tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>> {
    %e = arith.extf %x {graph.node = 0 : i64} : tensor<?x2x3x8xf16, affine_map<()[s0] -> (s0, 2, 3, 8)>> to tensor<?x2x3x8xf32, affine_map<()[s0] -> (s0, 2, 3, 8)>>
    %m = graph.reduce <sum> %e axes [1, 2] {graph.node = 0 : i64} : tensor<?x2x3x8xf32, affine_map<()[s0] -> (s0, 2, 3, 8)>> -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
    %t = arith.truncf %m {graph.node = 0 : i64} : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>> to tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>
    graph.return %t : tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>
  }
}
