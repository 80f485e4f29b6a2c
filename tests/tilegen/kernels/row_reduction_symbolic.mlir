// Rows whose length is known only when running.
module attributes {graph.nodes = ["a|Add", "emb|Gather"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @seqsoftmax(%x: tensor<?x2x?x?xf32, affine_map<()[s0, s1] -> (s0, 2, s1, s1)>>) -> tensor<?x2x?x?xf32, affine_map<()[s0, s1] -> (s0, 2, s1, s1)>> {
    %s = graph.reduce <max> %x axes [3] {graph.node = 0 : i64} : tensor<?x2x?x?xf32, affine_map<()[s0, s1] -> (s0, 2, s1, s1)>> -> tensor<?x2x?xf32, affine_map<()[s0, s1] -> (s0, 2, s1)>>
    %b = graph.broadcast %s dims [0, 1, 2] {graph.node = 0 : i64} : tensor<?x2x?xf32, affine_map<()[s0, s1] -> (s0, 2, s1)>> -> tensor<?x2x?x?xf32, affine_map<()[s0, s1] -> (s0, 2, s1, s1)>>
    %r = arith.subf %x, %b {graph.node = 0 : i64} : tensor<?x2x?x?xf32, affine_map<()[s0, s1] -> (s0, 2, s1, s1)>>
    graph.return %r : tensor<?x2x?x?xf32, affine_map<()[s0, s1] -> (s0, 2, s1, s1)>>
  }
}
