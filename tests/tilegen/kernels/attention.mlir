// A softmax between two contractions. The first has 40 columns, which are a register tile of 48.
module attributes {graph.nodes = ["a|Attention"]} {
  graph.kernel @plain(%q: tensor<2x37x16xf32>, %k: tensor<2x29x16xf32>, %v: tensor<2x29x40xf32>) -> tensor<2x37x40xf32> attributes {root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<2x37x16xf32>, tensor<2x29x16xf32> -> tensor<2x37x29xf32>
    %m = graph.reduce <max> %s axes [2] : tensor<2x37x29xf32> -> tensor<2x37xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<2x37xf32> -> tensor<2x37x29xf32>
    %d = arith.subf %s, %mb : tensor<2x37x29xf32>
    %e = math.exp %d : tensor<2x37x29xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<2x37x29xf32> -> tensor<2x37xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<2x37xf32> -> tensor<2x37x29xf32>
    %p = arith.divf %e, %tb : tensor<2x37x29xf32>
    %o = graph.contract %p, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<2x37x29xf32>, tensor<2x29x40xf32> -> tensor<2x37x40xf32>
    graph.return %o : tensor<2x37x40xf32>
  }
  // Heads inside of the rows, a scale, a mask with rows that are masked entirely, and half types; the result is stored
  // with its heads side by side.
  graph.kernel @masked_f16(%q: tensor<1x21x3x16xf16>, %k: tensor<21x3x16xf16>, %v: tensor<1x21x144xf16>, %mask: tensor<21x21xi1>) -> tensor<1x21x48xf16> attributes {root = #graph.root<attention>} {
    %kt = graph.transpose %k perm [1, 2, 0] : tensor<21x3x16xf16> -> tensor<3x16x21xf16>
    %kr = graph.reshape %kt : tensor<3x16x21xf16> -> tensor<1x3x16x21xf16>
    %s = graph.contract %q, %kr maps [affine_map<(b, h, m, n, d) -> (b, m, h, d)>, affine_map<(b, h, m, n, d) -> (b, h, d, n)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<1x21x3x16xf16>, tensor<1x3x16x21xf16> -> tensor<1x3x21x21xf32>
    %r = graph.reshape %s : tensor<1x3x21x21xf32> -> tensor<3x21x21xf32>
    %c = arith.constant dense<0.25> : tensor<3x21x21xf32>
    %scaled = arith.mulf %r, %c : tensor<3x21x21xf32>
    %never = arith.constant dense<0xFF800000> : tensor<3x21x21xf32>
    %maskb = graph.broadcast %mask dims [1, 2] : tensor<21x21xi1> -> tensor<3x21x21xi1>
    %x = arith.select %maskb, %scaled, %never : tensor<3x21x21xi1>, tensor<3x21x21xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<3x21x21xf32> -> tensor<3x21xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<3x21xf32> -> tensor<3x21x21xf32>
    %d = arith.subf %x, %mb : tensor<3x21x21xf32>
    %e = math.exp %d : tensor<3x21x21xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<3x21x21xf32> -> tensor<3x21xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<3x21xf32> -> tensor<3x21x21xf32>
    %p = arith.divf %e, %tb : tensor<3x21x21xf32>
    %ph = arith.truncf %p : tensor<3x21x21xf32> to tensor<3x21x21xf16>
    %nan = arith.cmpf uno, %p, %p : tensor<3x21x21xf32>
    %zero = arith.constant dense<0.0> : tensor<3x21x21xf16>
    %g = arith.select %nan, %zero, %ph : tensor<3x21x21xi1>, tensor<3x21x21xf16>
    %gr = graph.reshape %g : tensor<3x21x21xf16> -> tensor<1x3x21x21xf16>
    %vs = graph.slice %v offsets affine_map<() -> (0, 0, 96)> strides [1, 1, 1] : tensor<1x21x144xf16> -> tensor<1x21x48xf16>
    %vr = graph.reshape %vs : tensor<1x21x48xf16> -> tensor<1x21x3x16xf16>
    %o = graph.contract %gr, %vr maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, n, h, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
        : tensor<1x3x21x21xf16>, tensor<1x21x3x16xf16> -> tensor<1x3x21x16xf32>
    %h = arith.truncf %o : tensor<1x3x21x16xf32> to tensor<1x3x21x16xf16>
    %ot = graph.transpose %h perm [0, 2, 1, 3] : tensor<1x3x21x16xf16> -> tensor<1x21x3x16xf16>
    %or = graph.reshape %ot : tensor<1x21x3x16xf16> -> tensor<1x21x48xf16>
    graph.return %or : tensor<1x21x48xf16>
  }
  // Four query heads on each of two heads of keys, whose scores come keys first.
  graph.kernel @grouped(%q: tensor<2x4x9x20xf32>, %k: tensor<2x40x20xf32>, %v: tensor<2x40x20xf32>, %bias: tensor<40xf32>) -> tensor<2x4x9x20xf32> attributes {root = #graph.root<attention>} {
    %s = graph.contract %k, %q maps [affine_map<(h, g, m, n, d) -> (h, n, d)>, affine_map<(h, g, m, n, d) -> (h, g, m, d)>, affine_map<(h, g, m, n, d) -> (h, n, g, m)>]
        : tensor<2x40x20xf32>, tensor<2x4x9x20xf32> -> tensor<2x40x4x9xf32>
    %st = graph.transpose %s perm [0, 2, 3, 1] : tensor<2x40x4x9xf32> -> tensor<2x4x9x40xf32>
    %sr = graph.reshape %st : tensor<2x4x9x40xf32> -> tensor<8x9x40xf32>
    %biasb = graph.broadcast %bias dims [2] : tensor<40xf32> -> tensor<8x9x40xf32>
    %x = arith.addf %sr, %biasb : tensor<8x9x40xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<8x9x40xf32> -> tensor<8x9xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<8x9xf32> -> tensor<8x9x40xf32>
    %d = arith.subf %x, %mb : tensor<8x9x40xf32>
    %e = math.exp %d : tensor<8x9x40xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<8x9x40xf32> -> tensor<8x9xf32>
    %least = arith.constant dense<0.001> : tensor<8x9xf32>
    %tg = arith.maximumf %t, %least : tensor<8x9xf32>
    %one = arith.constant dense<1.0> : tensor<8x9xf32>
    %inverse = arith.divf %one, %tg : tensor<8x9xf32>
    %tb = graph.broadcast %inverse dims [0, 1] : tensor<8x9xf32> -> tensor<8x9x40xf32>
    %p = arith.mulf %e, %tb : tensor<8x9x40xf32>
    %pr = graph.reshape %p : tensor<8x9x40xf32> -> tensor<2x4x9x40xf32>
    %o = graph.contract %pr, %v maps [affine_map<(h, g, m, e, n) -> (h, g, m, n)>, affine_map<(h, g, m, e, n) -> (h, n, e)>, affine_map<(h, g, m, e, n) -> (h, g, m, e)>]
        : tensor<2x4x9x40xf32>, tensor<2x40x20xf32> -> tensor<2x4x9x20xf32>
    graph.return %o : tensor<2x4x9x20xf32>
  }
  // Four query heads of five rows read one head of keys and of values, under a mask of each row and key.
  graph.kernel @repeated(%q: tensor<1x8x5x16xf32>, %k: tensor<2x29x16xf32>, %v: tensor<2x29x24xf32>, %mask: tensor<5x29xf32>) -> tensor<1x5x192xf32> attributes {root = #graph.root<attention>} {
    %kb = graph.broadcast %k dims [0, 2, 3] : tensor<2x29x16xf32> -> tensor<2x4x29x16xf32>
    %kr = graph.reshape %kb : tensor<2x4x29x16xf32> -> tensor<1x8x29x16xf32>
    %s = graph.contract %q, %kr maps [affine_map<(b, h, m, n, d) -> (b, h, m, d)>, affine_map<(b, h, m, n, d) -> (b, h, n, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<1x8x5x16xf32>, tensor<1x8x29x16xf32> -> tensor<1x8x5x29xf32>
    %maskb = graph.broadcast %mask dims [2, 3] : tensor<5x29xf32> -> tensor<1x8x5x29xf32>
    %x = arith.addf %s, %maskb : tensor<1x8x5x29xf32>
    %m = graph.reduce <max> %x axes [3] : tensor<1x8x5x29xf32> -> tensor<1x8x5xf32>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<1x8x5xf32> -> tensor<1x8x5x29xf32>
    %d = arith.subf %x, %mb : tensor<1x8x5x29xf32>
    %e = math.exp %d : tensor<1x8x5x29xf32>
    %t = graph.reduce <sum> %e axes [3] : tensor<1x8x5x29xf32> -> tensor<1x8x5xf32>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<1x8x5xf32> -> tensor<1x8x5x29xf32>
    %p = arith.divf %e, %tb : tensor<1x8x5x29xf32>
    %vb = graph.broadcast %v dims [0, 2, 3] : tensor<2x29x24xf32> -> tensor<2x4x29x24xf32>
    %vr = graph.reshape %vb : tensor<2x4x29x24xf32> -> tensor<1x8x29x24xf32>
    %o = graph.contract %p, %vr maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, h, n, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
        : tensor<1x8x5x29xf32>, tensor<1x8x29x24xf32> -> tensor<1x8x5x24xf32>
    %ot = graph.transpose %o perm [0, 2, 1, 3] : tensor<1x8x5x24xf32> -> tensor<1x5x8x24xf32>
    %or = graph.reshape %ot : tensor<1x5x8x24xf32> -> tensor<1x5x192xf32>
    graph.return %or : tensor<1x5x192xf32>
  }
  // Products of halves and a softmax of singles: blocks multiply with the halves from which the values were widened.
  graph.kernel @widened(%q: tensor<2x37x16xf16>, %k: tensor<2x29x16xf16>, %v: tensor<2x29x40xf16>) -> tensor<2x37x40xf32> attributes {root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<2x37x16xf16>, tensor<2x29x16xf16> -> tensor<2x37x29xf32>
    %m = graph.reduce <max> %s axes [2] : tensor<2x37x29xf32> -> tensor<2x37xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<2x37xf32> -> tensor<2x37x29xf32>
    %d = arith.subf %s, %mb : tensor<2x37x29xf32>
    %e = math.exp %d : tensor<2x37x29xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<2x37x29xf32> -> tensor<2x37xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<2x37xf32> -> tensor<2x37x29xf32>
    %p = arith.divf %e, %tb : tensor<2x37x29xf32>
    %w = arith.extf %v : tensor<2x29x40xf16> to tensor<2x29x40xf32>
    %o = graph.contract %p, %w maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<2x37x29xf32>, tensor<2x29x40xf32> -> tensor<2x37x40xf32>
    graph.return %o : tensor<2x37x40xf32>
  }
}
