// Attentions whose masks say by indices which keys count in a row: what fusion says of them is in their attributes.
module attributes {graph.nodes = ["a|Attention"]} {
  // Causal, behind 20 keys that all rows see.
  graph.kernel @past(%q: tensor<2x37x16xf32>, %k: tensor<2x57x16xf32>, %v: tensor<2x57x16xf32>) -> tensor<2x37x16xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d1 + 21)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<2x37x16xf32>, tensor<2x57x16xf32> -> tensor<2x37x57xf32>
    %row = graph.iota dim 1 : tensor<2x37x57xi64>
    %key = graph.iota dim 2 : tensor<2x37x57xi64>
    %past = arith.constant dense<20> : tensor<2x37x57xi64>
    %end = arith.addi %row, %past : tensor<2x37x57xi64>
    %live = arith.cmpi sle, %key, %end : tensor<2x37x57xi64>
    %never = arith.constant dense<0xFF800000> : tensor<2x37x57xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 + 21)>} : tensor<2x37x57xi1>, tensor<2x37x57xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<2x37x57xf32> -> tensor<2x37xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<2x37xf32> -> tensor<2x37x57xf32>
    %d = arith.subf %x, %mb : tensor<2x37x57xf32>
    %e = math.exp %d : tensor<2x37x57xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<2x37x57xf32> -> tensor<2x37xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<2x37xf32> -> tensor<2x37x57xf32>
    %p = arith.divf %e, %tb : tensor<2x37x57xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<2x37x57xf32>
    %z = arith.constant dense<0.0> : tensor<2x37x57xf32>
    %g = arith.select %nan, %z, %p : tensor<2x37x57xi1>, tensor<2x37x57xf32>
    %o = graph.contract %g, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<2x37x57xf32>, tensor<2x57x16xf32> -> tensor<2x37x16xf32>
    graph.return %o : tensor<2x37x16xf32>
  }
  // The first rows see no key.
  graph.kernel @late(%q: tensor<2x60x16xf32>, %k: tensor<2x40x16xf32>, %v: tensor<2x40x16xf32>) -> tensor<2x60x16xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d1 - 22)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<2x60x16xf32>, tensor<2x40x16xf32> -> tensor<2x60x40xf32>
    %row = graph.iota dim 1 : tensor<2x60x40xi64>
    %key = graph.iota dim 2 : tensor<2x60x40xi64>
    %past = arith.constant dense<-23> : tensor<2x60x40xi64>
    %end = arith.addi %row, %past : tensor<2x60x40xi64>
    %live = arith.cmpi sle, %key, %end : tensor<2x60x40xi64>
    %never = arith.constant dense<0xFF800000> : tensor<2x60x40xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 - 22)>} : tensor<2x60x40xi1>, tensor<2x60x40xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<2x60x40xf32> -> tensor<2x60xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<2x60xf32> -> tensor<2x60x40xf32>
    %d = arith.subf %x, %mb : tensor<2x60x40xf32>
    %e = math.exp %d : tensor<2x60x40xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<2x60x40xf32> -> tensor<2x60xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<2x60xf32> -> tensor<2x60x40xf32>
    %p = arith.divf %e, %tb : tensor<2x60x40xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<2x60x40xf32>
    %z = arith.constant dense<0.0> : tensor<2x60x40xf32>
    %g = arith.select %nan, %z, %p : tensor<2x60x40xi1>, tensor<2x60x40xf32>
    %o = graph.contract %g, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<2x60x40xf32>, tensor<2x40x16xf32> -> tensor<2x60x16xf32>
    graph.return %o : tensor<2x60x16xf32>
  }
  // A window of 9 keys.
  graph.kernel @window(%q: tensor<1x83x20xf32>, %k: tensor<1x83x20xf32>, %v: tensor<1x83x20xf32>) -> tensor<1x83x20xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d1 + 1)>, graph.keys_from = affine_map<(d0, d1, d2) -> (d1 - 8)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<1x83x20xf32>, tensor<1x83x20xf32> -> tensor<1x83x83xf32>
    %row = graph.iota dim 1 : tensor<1x83x83xi64>
    %key = graph.iota dim 2 : tensor<1x83x83xi64>
    %past = arith.constant dense<0> : tensor<1x83x83xi64>
    %end = arith.addi %row, %past : tensor<1x83x83xi64>
    %behind = arith.cmpi sle, %key, %end : tensor<1x83x83xi64>
    %width = arith.constant dense<9> : tensor<1x83x83xi64>
    %first = arith.subi %end, %width : tensor<1x83x83xi64>
    %within = arith.cmpi sgt, %key, %first : tensor<1x83x83xi64>
    %live = arith.andi %behind, %within : tensor<1x83x83xi1>
    %never = arith.constant dense<0xFF800000> : tensor<1x83x83xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 + 1)>, graph.neutral_from = affine_map<(d0, d1, d2) -> (d1 - 8)>} : tensor<1x83x83xi1>, tensor<1x83x83xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<1x83x83xf32> -> tensor<1x83xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<1x83xf32> -> tensor<1x83x83xf32>
    %d = arith.subf %x, %mb : tensor<1x83x83xf32>
    %e = math.exp %d : tensor<1x83x83xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<1x83x83xf32> -> tensor<1x83xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<1x83xf32> -> tensor<1x83x83xf32>
    %p = arith.divf %e, %tb : tensor<1x83x83xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<1x83x83xf32>
    %z = arith.constant dense<0.0> : tensor<1x83x83xf32>
    %g = arith.select %nan, %z, %p : tensor<1x83x83xi1>, tensor<1x83x83xf32>
    %o = graph.contract %g, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<1x83x83xf32>, tensor<1x83x20xf32> -> tensor<1x83x20xf32>
    graph.return %o : tensor<1x83x20xf32>
  }
  // A window that leaves the keys: the last rows see none.
  graph.kernel @window_leaves(%q: tensor<1x120x16xf32>, %k: tensor<1x40x16xf32>, %v: tensor<1x40x16xf32>) -> tensor<1x120x16xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d1 + 5)>, graph.keys_from = affine_map<(d0, d1, d2) -> (d1 - 1)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<1x120x16xf32>, tensor<1x40x16xf32> -> tensor<1x120x40xf32>
    %row = graph.iota dim 1 : tensor<1x120x40xi64>
    %key = graph.iota dim 2 : tensor<1x120x40xi64>
    %past = arith.constant dense<4> : tensor<1x120x40xi64>
    %end = arith.addi %row, %past : tensor<1x120x40xi64>
    %behind = arith.cmpi sle, %key, %end : tensor<1x120x40xi64>
    %width = arith.constant dense<6> : tensor<1x120x40xi64>
    %first = arith.subi %end, %width : tensor<1x120x40xi64>
    %within = arith.cmpi sgt, %key, %first : tensor<1x120x40xi64>
    %live = arith.andi %behind, %within : tensor<1x120x40xi1>
    %never = arith.constant dense<0xFF800000> : tensor<1x120x40xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 + 5)>, graph.neutral_from = affine_map<(d0, d1, d2) -> (d1 - 1)>} : tensor<1x120x40xi1>, tensor<1x120x40xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<1x120x40xf32> -> tensor<1x120xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<1x120xf32> -> tensor<1x120x40xf32>
    %d = arith.subf %x, %mb : tensor<1x120x40xf32>
    %e = math.exp %d : tensor<1x120x40xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<1x120x40xf32> -> tensor<1x120xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<1x120xf32> -> tensor<1x120x40xf32>
    %p = arith.divf %e, %tb : tensor<1x120x40xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<1x120x40xf32>
    %z = arith.constant dense<0.0> : tensor<1x120x40xf32>
    %g = arith.select %nan, %z, %p : tensor<1x120x40xi1>, tensor<1x120x40xf32>
    %o = graph.contract %g, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<1x120x40xf32>, tensor<1x40x16xf32> -> tensor<1x120x16xf32>
    graph.return %o : tensor<1x120x16xf32>
  }
  // Keys from 10 before the row on, and no last one: tiles of 64 keys end with the last key.
  graph.kernel @from(%q: tensor<2x128x16xf32>, %k: tensor<2x128x16xf32>, %v: tensor<2x128x16xf32>) -> tensor<2x128x16xf32> attributes {graph.keys_from = affine_map<(d0, d1, d2) -> (d1 - 10)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<2x128x16xf32>, tensor<2x128x16xf32> -> tensor<2x128x128xf32>
    %row = graph.iota dim 1 : tensor<2x128x128xi64>
    %key = graph.iota dim 2 : tensor<2x128x128xi64>
    %width = arith.constant dense<10> : tensor<2x128x128xi64>
    %first = arith.subi %row, %width : tensor<2x128x128xi64>
    %live = arith.cmpi sge, %key, %first : tensor<2x128x128xi64>
    %never = arith.constant dense<0xFF800000> : tensor<2x128x128xf32>
    %x = arith.select %live, %s, %never {graph.neutral_from = affine_map<(d0, d1, d2) -> (d1 - 10)>} : tensor<2x128x128xi1>, tensor<2x128x128xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<2x128x128xf32> -> tensor<2x128xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<2x128xf32> -> tensor<2x128x128xf32>
    %d = arith.subf %x, %mb : tensor<2x128x128xf32>
    %e = math.exp %d : tensor<2x128x128xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<2x128x128xf32> -> tensor<2x128xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<2x128xf32> -> tensor<2x128x128xf32>
    %p = arith.divf %e, %tb : tensor<2x128x128xf32>
    %o = graph.contract %p, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<2x128x128xf32>, tensor<2x128x16xf32> -> tensor<2x128x16xf32>
    graph.return %o : tensor<2x128x16xf32>
  }
  // From 10 keys before the row to 10 behind it, of which the last rows have fewer.
  graph.kernel @band(%q: tensor<2x128x16xf32>, %k: tensor<2x128x16xf32>, %v: tensor<2x128x16xf32>) -> tensor<2x128x16xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d1 + 11)>, graph.keys_from = affine_map<(d0, d1, d2) -> (d1 - 10)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<2x128x16xf32>, tensor<2x128x16xf32> -> tensor<2x128x128xf32>
    %row = graph.iota dim 1 : tensor<2x128x128xi64>
    %key = graph.iota dim 2 : tensor<2x128x128xi64>
    %width = arith.constant dense<10> : tensor<2x128x128xi64>
    %first = arith.subi %row, %width : tensor<2x128x128xi64>
    %behind = arith.cmpi sge, %key, %first : tensor<2x128x128xi64>
    %last = arith.addi %row, %width : tensor<2x128x128xi64>
    %before = arith.cmpi sle, %key, %last : tensor<2x128x128xi64>
    %live = arith.andi %behind, %before : tensor<2x128x128xi1>
    %never = arith.constant dense<0xFF800000> : tensor<2x128x128xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 + 11)>, graph.neutral_from = affine_map<(d0, d1, d2) -> (d1 - 10)>} : tensor<2x128x128xi1>, tensor<2x128x128xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<2x128x128xf32> -> tensor<2x128xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<2x128xf32> -> tensor<2x128x128xf32>
    %d = arith.subf %x, %mb : tensor<2x128x128xf32>
    %e = math.exp %d : tensor<2x128x128xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<2x128x128xf32> -> tensor<2x128xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<2x128xf32> -> tensor<2x128x128xf32>
    %p = arith.divf %e, %tb : tensor<2x128x128xf32>
    %o = graph.contract %p, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<2x128x128xf32>, tensor<2x128x16xf32> -> tensor<2x128x16xf32>
    graph.return %o : tensor<2x128x16xf32>
  }
  // Three query heads on each of two heads of keys: rows of a tile may be of two heads.
  graph.kernel @grouped(%q: tensor<2x3x23x16xf32>, %k: tensor<2x31x16xf32>, %v: tensor<2x31x16xf32>) -> tensor<2x3x23x16xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2, d3) -> (d2 + 9)>, graph.keys_from = affine_map<(d0, d1, d2, d3) -> (d2 - 3)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(h, g, m, n, d) -> (h, g, m, d)>, affine_map<(h, g, m, n, d) -> (h, n, d)>, affine_map<(h, g, m, n, d) -> (h, g, m, n)>]
        : tensor<2x3x23x16xf32>, tensor<2x31x16xf32> -> tensor<2x3x23x31xf32>
    %row = graph.iota dim 2 : tensor<2x3x23x31xi64>
    %key = graph.iota dim 3 : tensor<2x3x23x31xi64>
    %past = arith.constant dense<8> : tensor<2x3x23x31xi64>
    %end = arith.addi %row, %past : tensor<2x3x23x31xi64>
    %behind = arith.cmpi sle, %key, %end : tensor<2x3x23x31xi64>
    %width = arith.constant dense<12> : tensor<2x3x23x31xi64>
    %first = arith.subi %end, %width : tensor<2x3x23x31xi64>
    %within = arith.cmpi sgt, %key, %first : tensor<2x3x23x31xi64>
    %live = arith.andi %behind, %within : tensor<2x3x23x31xi1>
    %never = arith.constant dense<0xFF800000> : tensor<2x3x23x31xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2, d3) -> (d2 + 9)>, graph.neutral_from = affine_map<(d0, d1, d2, d3) -> (d2 - 3)>} : tensor<2x3x23x31xi1>, tensor<2x3x23x31xf32>
    %m = graph.reduce <max> %x axes [3] : tensor<2x3x23x31xf32> -> tensor<2x3x23xf32>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<2x3x23xf32> -> tensor<2x3x23x31xf32>
    %d = arith.subf %x, %mb : tensor<2x3x23x31xf32>
    %e = math.exp %d : tensor<2x3x23x31xf32>
    %t = graph.reduce <sum> %e axes [3] : tensor<2x3x23x31xf32> -> tensor<2x3x23xf32>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<2x3x23xf32> -> tensor<2x3x23x31xf32>
    %p = arith.divf %e, %tb : tensor<2x3x23x31xf32>
    %o = graph.contract %p, %v maps [affine_map<(h, g, m, e, n) -> (h, g, m, n)>, affine_map<(h, g, m, e, n) -> (h, n, e)>, affine_map<(h, g, m, e, n) -> (h, g, m, e)>]
        : tensor<2x3x23x31xf32>, tensor<2x31x16xf32> -> tensor<2x3x23x16xf32>
    graph.return %o : tensor<2x3x23x16xf32>
  }
}
