// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tilewright-tile-emit{target=host})"

module {
  // expected-error@+1 {{expected a schedule because the schedule stage comes before tiles}}
  graph.kernel @unscheduled(%x: tensor<8xf32>) -> tensor<8xf32> {
    graph.return %x : tensor<8xf32>
  }
}

// -----

module {
  // expected-error@+1 {{expected a schedule of root pointwise because the kernel has that root, got #tile.schedule<matmul}}
  graph.kernel @other_root(%x: tensor<8xf32>) -> tensor<8xf32> attributes {schedule = #tile.schedule<matmul, tile = [8]>} {
    graph.return %x : tensor<8xf32>
  }
}

// -----

module {
  // expected-error@+1 {{expected a schedule with 1 tile and 0 reduce sizes because the kernel has that many loops}}
  graph.kernel @sizes(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {schedule = #tile.schedule<pointwise, tile = [8, 4]>} {
    graph.return %x : tensor<8x4xf32>
  }
}

// -----

module {
  // expected-error@+1 {{expected outer reduce sizes of 1 because only the innermost reduced loop is a dimension of the product}}
  graph.kernel @outer(%x: tensor<1x9x8x32xf32>, %w: tensor<3x3x32x16xf32>) -> tensor<1x9x8x16xf32>
      attributes {schedule = #tile.schedule<matmul, tile = [72, 16], reduce = [3, 96]>} {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x9x8x32xf32> -> tensor<1x9x8x3x3x32xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x9x8x3x3x32xf32>, tensor<3x3x32x16xf32> -> tensor<1x9x8x16xf32>
    graph.return %c : tensor<1x9x8x16xf32>
  }
}

// -----

module {
  graph.kernel @two(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {root = #graph.root<matmul>, schedule = #tile.schedule<matmul, tile = [4, 4], reduce = [4]>} {
    %a = graph.contract %x, %x maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    // expected-error@+1 {{does not fit into kernel @two because a kernel holds one contraction (two around a softmax, or of one left side), and this would be one more}}
    %b = graph.contract %a, %x maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    graph.return %b : tensor<4x4xf32>
  }
}

// -----

module {
  // expected-error@+1 {{expected one to 4 contractions because the kernel's root is one, got 5}}
  graph.kernel @five(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {root = #graph.root<matmul>, schedule = #tile.schedule<matmul, tile = [4, 4], reduce = [4]>} {
    %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %b = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %d = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %e = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %f = arith.addf %a, %b {graph.node = 0 : i64} : tensor<4x4xf32>
    %g = arith.addf %c, %d {graph.node = 0 : i64} : tensor<4x4xf32>
    %h = arith.addf %f, %g {graph.node = 0 : i64} : tensor<4x4xf32>
    %i = arith.addf %h, %e {graph.node = 0 : i64} : tensor<4x4xf32>
    graph.return %i : tensor<4x4xf32>
  }
}

// -----

module {
  graph.kernel @halves(%x: tensor<4x4xf32>) -> tensor<2x4xf32> attributes {root = #graph.root<matmul>, schedule = #tile.schedule<matmul, tile = [4, 4], reduce = [4]>} {
    %a = graph.contract %x, %x maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    // expected-error@+1 {{expected to follow the contraction element by element because the kernel's root is the contraction}}
    %s = graph.slice %a offsets affine_map<() -> (1, 0)> strides [1, 1] {graph.node = 0 : i64} : tensor<4x4xf32> -> tensor<2x4xf32>
    graph.return %s : tensor<2x4xf32>
  }
}

// -----

module {
  graph.kernel @unrelated(%x: tensor<4x6xf32>, %y: tensor<7xf32>) -> (tensor<4x6xf32>, tensor<7xf32>) attributes {schedule = #tile.schedule<pointwise, tile = [24]>} {
    // expected-error@+1 {{expected outputs over the same loops because one kernel computes them}}
    graph.return %x, %y : tensor<4x6xf32>, tensor<7xf32>
  }
}

// -----

module {
  graph.kernel @other_rows(%x: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {root = #graph.root<row_reduction>, schedule = #tile.schedule<row_reduction, tile = [4], reduce = [6]>} {
    %s = graph.reduce <sum> %x axes [1] {graph.node = 0 : i64} : tensor<4x6xf32> -> tensor<4xf32>
    %b = graph.broadcast %s dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x6xf32>
    // expected-error@+1 {{reduced}}
    %t = graph.reduce <sum> %x axes [0] {graph.node = 0 : i64} : tensor<4x6xf32> -> tensor<6xf32>
    %c = graph.broadcast %t dims [1] {graph.node = 0 : i64} : tensor<6xf32> -> tensor<4x6xf32>
    %y = arith.addf %b, %c {graph.node = 0 : i64} : tensor<4x6xf32>
    graph.return %y : tensor<4x6xf32>
  }
}

// -----

module {
  graph.kernel @not_pointwise(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {root = #graph.root<pointwise>, schedule = #tile.schedule<pointwise, tile = [4, 4]>} {
    // expected-error@+1 {{expected no contraction because the kernel's root is none}}
    %a = graph.contract %x, %x maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    graph.return %a : tensor<4x4xf32>
  }
}

// -----

module {
  // expected-error@+1 {{expected a body of root row_reduction because the kernel says so, got one of root pointwise}}
  graph.kernel @no_rows(%x: tensor<8xf32>) -> tensor<8xf32> attributes {root = #graph.root<row_reduction>, schedule = #tile.schedule<row_reduction, tile = [8]>} {
    graph.return %x : tensor<8xf32>
  }
}

// -----

module {
  // expected-error@+1 {{expected a schedule without pack because the right side is no constant that can be stored in panels}}
  graph.kernel @packed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {schedule = #tile.schedule<matmul, tile = [4, 4], reduce = [4], pack = 4>} {
    %a = graph.contract %x, %x maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    graph.return %a : tensor<4x4xf32>
  }
}

// -----

module {
  // expected-error@+1 {{expected graph.keys_below to be a map of the logits' 3 coordinates other than the key, got affine_map<(d0, d1, d2) -> (d2 + 1)>}}
  graph.kernel @keys_below_keys(%q: tensor<1x8x16xf32>, %k: tensor<1x8x16xf32>, %v: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d2 + 1)>, schedule = #tile.schedule<attention, tile = [1, 8, 16], reduce = [8, 16], registers = [6, 16]>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<1x8x16xf32>, tensor<1x8x16xf32> -> tensor<1x8x8xf32>
    %row = graph.iota dim 1 : tensor<1x8x8xi64>
    %key = graph.iota dim 2 : tensor<1x8x8xi64>
    %past = arith.constant dense<0> : tensor<1x8x8xi64>
    %end = arith.addi %row, %past : tensor<1x8x8xi64>
    %live = arith.cmpi sle, %key, %end : tensor<1x8x8xi64>
    %never = arith.constant dense<0xFF800000> : tensor<1x8x8xf32>
    %x = arith.select %live, %s, %never : tensor<1x8x8xi1>, tensor<1x8x8xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<1x8x8xf32> -> tensor<1x8xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<1x8xf32> -> tensor<1x8x8xf32>
    %d = arith.subf %x, %mb : tensor<1x8x8xf32>
    %e = math.exp %d : tensor<1x8x8xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<1x8x8xf32> -> tensor<1x8xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<1x8xf32> -> tensor<1x8x8xf32>
    %p = arith.divf %e, %tb : tensor<1x8x8xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<1x8x8xf32>
    %z = arith.constant dense<0.0> : tensor<1x8x8xf32>
    %g = arith.select %nan, %z, %p : tensor<1x8x8xi1>, tensor<1x8x8xf32>
    %o = graph.contract %g, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<1x8x8xf32>, tensor<1x8x16xf32> -> tensor<1x8x16xf32>
    graph.return %o : tensor<1x8x16xf32>
  }
}

// -----

module {
  graph.kernel @neutral_by_keys(%q: tensor<1x8x16xf32>, %k: tensor<1x8x16xf32>, %v: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> attributes {schedule = #tile.schedule<attention, tile = [1, 8, 16], reduce = [8, 16], registers = [6, 16]>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<1x8x16xf32>, tensor<1x8x16xf32> -> tensor<1x8x8xf32>
    %row = graph.iota dim 1 : tensor<1x8x8xi64>
    %key = graph.iota dim 2 : tensor<1x8x8xi64>
    %past = arith.constant dense<0> : tensor<1x8x8xi64>
    %end = arith.addi %row, %past : tensor<1x8x8xi64>
    %live = arith.cmpi sle, %key, %end : tensor<1x8x8xi64>
    %never = arith.constant dense<0xFF800000> : tensor<1x8x8xf32>
    // expected-error@+1 {{expected graph.neutral_below to be a map of the logits' 3 coordinates other than the key, got affine_map<(d0, d1, d2) -> (d2)>}}
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d2)>} : tensor<1x8x8xi1>, tensor<1x8x8xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<1x8x8xf32> -> tensor<1x8xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<1x8xf32> -> tensor<1x8x8xf32>
    %d = arith.subf %x, %mb : tensor<1x8x8xf32>
    %e = math.exp %d : tensor<1x8x8xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<1x8x8xf32> -> tensor<1x8xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<1x8xf32> -> tensor<1x8x8xf32>
    %p = arith.divf %e, %tb : tensor<1x8x8xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<1x8x8xf32>
    %z = arith.constant dense<0.0> : tensor<1x8x8xf32>
    %g = arith.select %nan, %z, %p : tensor<1x8x8xi1>, tensor<1x8x8xf32>
    %o = graph.contract %g, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<1x8x8xf32>, tensor<1x8x16xf32> -> tensor<1x8x16xf32>
    graph.return %o : tensor<1x8x16xf32>
  }
}

// -----

module attributes {graph.symbols = ["columns"]} {
  // expected-error@+1 {{expected a known number of columns because a cluster of blocks computes those of a state}}
  graph.kernel @columns_of_states(%h: tensor<2x?xf32, affine_map<()[s0] -> (2, s0)>>, %w: tensor<?x?xf32, affine_map<()[s0] -> (s0, s0)>>) -> tensor<2x?xf32, affine_map<()[s0] -> (2, s0)>>
      attributes {root = #graph.root<matmul>, schedule = #tile.schedule<gemv, tile = [1, 8], reduce = [64], warps = 2>, steps = #graph.steps<count = ()[s0] -> (9), carried = [0], forward = [], backward = [], backward_results = []>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x?xf32, affine_map<()[s0] -> (2, s0)>>, tensor<?x?xf32, affine_map<()[s0] -> (s0, s0)>> -> tensor<2x?xf32, affine_map<()[s0] -> (2, s0)>>
    graph.return %a : tensor<2x?xf32, affine_map<()[s0] -> (2, s0)>>
  }
}

// -----

module {
  // expected-error@+1 {{expected a schedule of blocks without groups and parts because these make loops of their own around the program, got #tile.schedule<matmul}}
  graph.kernel @parts_of_steps(%h: tensor<2x64xf32>, %w: tensor<64x64xf32>) -> tensor<2x64xf32>
      attributes {root = #graph.root<matmul>, schedule = #tile.schedule<matmul, tile = [16, 16], reduce = [32], parts = 2>, steps = #graph.steps<count = () -> (9), carried = [0], forward = [], backward = [], backward_results = []>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    graph.return %a : tensor<2x64xf32>
  }
}
