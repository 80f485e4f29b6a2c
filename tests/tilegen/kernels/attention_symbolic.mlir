// A softmax between two contractions, of lengths known only when running.
#qo = affine_map<()[s0, s1] -> (s0, s1, 2, 16)>
#scores = affine_map<()[s0, s1] -> (s0, 2, s1, s1)>
#row = affine_map<()[s0, s1] -> (s0, 2, s1)>
#mask = affine_map<()[s0, s1] -> (s0, s1)>
#mix = affine_map<()[s0, s1] -> (s0, 2, s1, 16)>
module attributes {graph.nodes = ["a|Attention"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @causal(%q: tensor<?x?x2x16xf32, #qo>, %k: tensor<?x?x2x16xf32, #qo>, %v: tensor<?x?x2x16xf32, #qo>, %mask: tensor<?x?xf32, #mask>) -> tensor<?x?x2x16xf32, #qo> attributes {root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, h, m, n, d) -> (b, m, h, d)>, affine_map<(b, h, m, n, d) -> (b, n, h, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<?x?x2x16xf32, #qo>, tensor<?x?x2x16xf32, #qo> -> tensor<?x2x?x?xf32, #scores>
    %row = graph.iota dim 2 : tensor<?x2x?x?xi64, #scores>
    %column = graph.iota dim 3 : tensor<?x2x?x?xi64, #scores>
    %live = arith.cmpi sge, %row, %column : tensor<?x2x?x?xi64, #scores>
    %c = arith.constant dense<0xFF800000> : tensor<f32>
    %never = graph.broadcast %c dims [] : tensor<f32> -> tensor<?x2x?x?xf32, #scores>
    %x = arith.select %live, %s, %never : tensor<?x2x?x?xi1, #scores>, tensor<?x2x?x?xf32, #scores>
    %maskb = graph.broadcast %mask dims [0, 3] : tensor<?x?xf32, #mask> -> tensor<?x2x?x?xf32, #scores>
    %y = arith.addf %x, %maskb : tensor<?x2x?x?xf32, #scores>
    %m = graph.reduce <max> %y axes [3] : tensor<?x2x?x?xf32, #scores> -> tensor<?x2x?xf32, #row>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<?x2x?xf32, #row> -> tensor<?x2x?x?xf32, #scores>
    %d = arith.subf %y, %mb : tensor<?x2x?x?xf32, #scores>
    %e = math.exp %d : tensor<?x2x?x?xf32, #scores>
    %t = graph.reduce <sum> %e axes [3] : tensor<?x2x?x?xf32, #scores> -> tensor<?x2x?xf32, #row>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<?x2x?xf32, #row> -> tensor<?x2x?x?xf32, #scores>
    %p = arith.divf %e, %tb : tensor<?x2x?x?xf32, #scores>
    %o = graph.contract %p, %v maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, n, h, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
        : tensor<?x2x?x?xf32, #scores>, tensor<?x?x2x16xf32, #qo> -> tensor<?x2x?x16xf32, #mix>
    %ot = graph.transpose %o perm [0, 2, 1, 3] : tensor<?x2x?x16xf32, #mix> -> tensor<?x?x2x16xf32, #qo>
    graph.return %ot : tensor<?x?x2x16xf32, #qo>
  }
}
