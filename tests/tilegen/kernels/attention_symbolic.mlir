// A softmax between two contractions, of lengths known only when running.
#qo = affine_map<()[s0, s1] -> (s0, s1, 2, 16)>
#kv = affine_map<()[s0, s1] -> (s0, s1 + s0, 2, 16)>
#cached = affine_map<()[s0, s1] -> (s0, 2, s1, s1 + s0)>
#scores = affine_map<()[s0, s1] -> (s0, 2, s1, s1)>
#row = affine_map<()[s0, s1] -> (s0, 2, s1)>
#mask = affine_map<()[s0, s1] -> (s0, s1)>
#mix = affine_map<()[s0, s1] -> (s0, 2, s1, 16)>
module attributes {graph.nodes = ["a|Attention"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @causal(%q: tensor<?x?x2x16xf32, #qo>, %k: tensor<?x?x2x16xf32, #qo>, %v: tensor<?x?x2x16xf32, #qo>, %mask: tensor<?x?xf32, #mask>) -> tensor<?x?x2x16xf32, #qo> attributes {graph.keys_below = affine_map<(d0, d1, d2, d3)[s0, s1] -> (d2 + 1)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, h, m, n, d) -> (b, m, h, d)>, affine_map<(b, h, m, n, d) -> (b, n, h, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<?x?x2x16xf32, #qo>, tensor<?x?x2x16xf32, #qo> -> tensor<?x2x?x?xf32, #scores>
    %row = graph.iota dim 2 : tensor<?x2x?x?xi64, #scores>
    %column = graph.iota dim 3 : tensor<?x2x?x?xi64, #scores>
    %live = arith.cmpi sge, %row, %column : tensor<?x2x?x?xi64, #scores>
    %c = arith.constant dense<0xFF800000> : tensor<f32>
    %never = graph.broadcast %c dims [] : tensor<f32> -> tensor<?x2x?x?xf32, #scores>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2, d3)[s0, s1] -> (d2 + 1)>} : tensor<?x2x?x?xi1, #scores>, tensor<?x2x?x?xf32, #scores>
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
  // More keys than rows, in windows of 4 keys that begin one before the row's own and may leave the keys.
  graph.kernel @cached(%q: tensor<?x?x2x16xf32, #qo>, %k: tensor<?x?x2x16xf32, #kv>, %v: tensor<?x?x2x16xf32, #kv>) -> tensor<?x?x2x16xf32, #qo> attributes {graph.keys_below = affine_map<(d0, d1, d2, d3)[s0, s1] -> (d2 + 3)>, graph.keys_from = affine_map<(d0, d1, d2, d3)[s0, s1] -> (d2 - 1)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, h, m, n, d) -> (b, m, h, d)>, affine_map<(b, h, m, n, d) -> (b, n, h, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<?x?x2x16xf32, #qo>, tensor<?x?x2x16xf32, #kv> -> tensor<?x2x?x?xf32, #cached>
    %row = graph.iota dim 2 : tensor<?x2x?x?xi64, #cached>
    %key = graph.iota dim 3 : tensor<?x2x?x?xi64, #cached>
    %two = arith.constant dense<2> : tensor<i64>
    %twos = graph.broadcast %two dims [] : tensor<i64> -> tensor<?x2x?x?xi64, #cached>
    %end = arith.addi %row, %twos : tensor<?x2x?x?xi64, #cached>
    %behind = arith.cmpi sle, %key, %end : tensor<?x2x?x?xi64, #cached>
    %three = arith.constant dense<3> : tensor<i64>
    %threes = graph.broadcast %three dims [] : tensor<i64> -> tensor<?x2x?x?xi64, #cached>
    %first = arith.subi %end, %threes : tensor<?x2x?x?xi64, #cached>
    %within = arith.cmpi sge, %key, %first : tensor<?x2x?x?xi64, #cached>
    %live = arith.andi %behind, %within : tensor<?x2x?x?xi1, #cached>
    %c = arith.constant dense<0xFF800000> : tensor<f32>
    %never = graph.broadcast %c dims [] : tensor<f32> -> tensor<?x2x?x?xf32, #cached>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2, d3)[s0, s1] -> (d2 + 3)>, graph.neutral_from = affine_map<(d0, d1, d2, d3)[s0, s1] -> (d2 - 1)>} : tensor<?x2x?x?xi1, #cached>, tensor<?x2x?x?xf32, #cached>
    %m = graph.reduce <max> %x axes [3] : tensor<?x2x?x?xf32, #cached> -> tensor<?x2x?xf32, #row>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<?x2x?xf32, #row> -> tensor<?x2x?x?xf32, #cached>
    %d = arith.subf %x, %mb : tensor<?x2x?x?xf32, #cached>
    %e = math.exp %d : tensor<?x2x?x?xf32, #cached>
    %t = graph.reduce <sum> %e axes [3] : tensor<?x2x?x?xf32, #cached> -> tensor<?x2x?xf32, #row>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<?x2x?xf32, #row> -> tensor<?x2x?x?xf32, #cached>
    %p = arith.divf %e, %tb : tensor<?x2x?x?xf32, #cached>
    %o = graph.contract %p, %v maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, n, h, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
        : tensor<?x2x?x?xf32, #cached>, tensor<?x?x2x16xf32, #kv> -> tensor<?x2x?x16xf32, #mix>
    %ot = graph.transpose %o perm [0, 2, 1, 3] : tensor<?x2x?x16xf32, #mix> -> tensor<?x?x2x16xf32, #qo>
    graph.return %ot : tensor<?x?x2x16xf32, #qo>
  }
}
