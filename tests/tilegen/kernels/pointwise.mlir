// Kernels without reduction.
module attributes {graph.nodes = ["a|Add", "emb|Gather"]} {
  graph.kernel @bias_relu(%x: tensor<2x5x9xf32>, %b: tensor<9xf32>) -> tensor<2x5x9xf32> {
    %0 = graph.broadcast %b dims [2] {graph.node = 0 : i64} : tensor<9xf32> -> tensor<2x5x9xf32>
    %1 = arith.addf %x, %0 {graph.node = 0 : i64} : tensor<2x5x9xf32>
    %c = arith.constant dense<0.0> : tensor<2x5x9xf32>
    %2 = arith.maximumf %1, %c {graph.node = 0 : i64} : tensor<2x5x9xf32>
    graph.return %2 : tensor<2x5x9xf32>
  }
  graph.kernel @embed(%ids: tensor<2x3xi64>, %t: tensor<7x12xf32> {graph.constant}, %p: tensor<4x12xf32>) -> tensor<2x3x12xf32> {
    %i = graph.broadcast %ids dims [0, 1] {graph.node = 1 : i64} : tensor<2x3xi64> -> tensor<2x3x12xi64>
    %g = graph.gather %t[%i : tensor<2x3x12xi64>] map affine_map<(d0, d1, d2, d3) -> (d3, d2)> {graph.node = 1 : i64} : tensor<7x12xf32> -> tensor<2x3x12xf32>
    %s = graph.slice %p offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 0 : i64} : tensor<4x12xf32> -> tensor<3x12xf32>
    %b = graph.broadcast %s dims [1, 2] {graph.node = 0 : i64} : tensor<3x12xf32> -> tensor<2x3x12xf32>
    %r = arith.addf %g, %b {graph.node = 0 : i64} : tensor<2x3x12xf32>
    graph.return %r : tensor<2x3x12xf32>
  }
  graph.kernel @concat(%a: tensor<8x6xf32>, %b: tensor<8x3xf32>, %c: tensor<8x5xf32>) -> tensor<8x14xf32> {
    %y = graph.concat axis 1 %a, %b, %c {graph.node = 0 : i6} : tensor<8x6xf32>, tensor<8x3xf32>, tensor<8x5xf32> -> tensor<8x14xf32>
    graph.return %y : tensor<8x14xf32>
  }
  graph.kernel @padrelu(%x: tensor<8x5xf32>) -> tensor<8x7xf32> {
    %e = math.exp %x {graph.node = 0 : i64} : tensor<8x5xf32>
    %p = graph.pad %e low [0, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<8x5xf32> -> tensor<8x7xf32>
    graph.return %p : tensor<8x7xf32>
  }
  graph.kernel @iota(%x: tensor<4x8xi64>) -> tensor<4x8xi64> {
    %i = graph.iota dim 1 {graph.node = 0 : i64} : tensor<4x8xi64>
    %y = arith.addi %i, %x {graph.node = 0 : i64} : tensor<4x8xi64>
    graph.return %y : tensor<4x8xi64>
  }
  // Elementwise work on both sides of accesses with fill: each is pulled where it has elements.
  graph.kernel @nested_pads(%x: tensor<3x4xf32>) -> tensor<7x6xf32> {
    %p = graph.pad %x low [1, 1] fill 2.0 : f32 {graph.node = 0 : i64} : tensor<3x4xf32> -> tensor<5x6xf32>
    %t = graph.transpose %p perm [1, 0] {graph.node = 0 : i64} : tensor<5x6xf32> -> tensor<6x5xf32>
    %q = graph.pad %t low [0, 1] fill 3.0 : f32 {graph.node = 0 : i64} : tensor<6x5xf32> -> tensor<6x7xf32>
    %e = math.exp %q {graph.node = 0 : i64} : tensor<6x7xf32>
    %u = graph.transpose %e perm [1, 0] {graph.node = 0 : i64} : tensor<6x7xf32> -> tensor<7x6xf32>
    graph.return %u : tensor<7x6xf32>
  }
  // Two outputs of one size, and a scalar argument.
  graph.kernel @two_outputs(%x: tensor<4x6xf32>, %s: tensor<f32>) -> (tensor<24xf32>, tensor<4x6xf32>) {
    %b = graph.broadcast %s dims [] {graph.node = 0 : i64} : tensor<f32> -> tensor<4x6xf32>
    %y = arith.mulf %x, %b {graph.node = 0 : i64} : tensor<4x6xf32>
    %r = graph.reshape %y {graph.node = 0 : i64} : tensor<4x6xf32> -> tensor<24xf32>
    graph.return %r, %y : tensor<24xf32>, tensor<4x6xf32>
  }
  graph.kernel @reversed(%x: tensor<5x8xf32>) -> tensor<5x4xf32> {
    %y = graph.slice %x offsets affine_map<() -> (4, 1)> strides [-1, 2] {graph.node = 0 : i64} : tensor<5x8xf32> -> tensor<5x4xf32>
    graph.return %y : tensor<5x4xf32>
  }
  // A gather of what is computed, by indices that are computed.
  graph.kernel @gather_computed(%x: tensor<6x3xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> {
    %e = math.exp %x {graph.node = 0 : i64} : tensor<6x3xf32>
    %one = arith.constant dense<1> : tensor<4xi64>
    %j = arith.addi %i, %one {graph.node = 0 : i64} : tensor<4xi64>
    %b = graph.broadcast %j dims [0] {graph.node = 1 : i64} : tensor<4xi64> -> tensor<4x3xi64>
    %g = graph.gather %e[%b : tensor<4x3xi64>] map affine_map<(d0, d1, d2) -> (d2, d1)> {graph.node = 1 : i64} : tensor<6x3xf32> -> tensor<4x3xf32>
    graph.return %g : tensor<4x3xf32>
  }
  graph.kernel @select(%c: tensor<4x6xi1>, %x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xi1>) {
    %z = arith.constant dense<0.5> : tensor<4x6xf32>
    %y = arith.select %c, %x, %z {graph.node = 0 : i64} : tensor<4x6xi1>, tensor<4x6xf32>
    graph.return %y, %c : tensor<4x6xf32>, tensor<4x6xi1>
  }
  graph.kernel @empty(%x: tensor<0x6xf32>) -> tensor<0x6xf32> {
    %y = math.exp %x {graph.node = 0 : i64} : tensor<0x6xf32>
    graph.return %y : tensor<0x6xf32>
  }
  // Read by columns, of which blocks are transposed; neither rows nor columns are whole blocks.
  graph.kernel @across(%x: tensor<2x35x50xf32>, %y: tensor<2x50x35xf32>) -> tensor<2x50x35xf32> {
    %t = graph.transpose %x perm [0, 2, 1] {graph.node = 0 : i64} : tensor<2x35x50xf32> -> tensor<2x50x35xf32>
    %r = arith.addf %t, %y {graph.node = 0 : i64} : tensor<2x50x35xf32>
    graph.return %r : tensor<2x50x35xf32>
  }
  graph.kernel @across_half(%x: tensor<33x21xf16>) -> tensor<21x33xf16> {
    %t = graph.transpose %x perm [1, 0] {graph.node = 0 : i64} : tensor<33x21xf16> -> tensor<21x33xf16>
    %r = arith.addf %t, %t {graph.node = 0 : i64} : tensor<21x33xf16>
    graph.return %r : tensor<21x33xf16>
  }
}
