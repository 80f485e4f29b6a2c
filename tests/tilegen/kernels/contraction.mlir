// One contraction with what precedes and follows it.
module attributes {graph.nodes = ["a|Add", "emb|Gather"]} {
  graph.kernel @matmul(%x: tensor<9x11xf32>, %w: tensor<11x13xf32> {graph.constant}, %b: tensor<13xf32> {graph.constant}) -> tensor<9x13xf32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<9x11xf32>, tensor<11x13xf32> -> tensor<9x13xf32>
    %0 = graph.broadcast %b dims [1] {graph.node = 0 : i64} : tensor<13xf32> -> tensor<9x13xf32>
    %1 = arith.addf %c, %0 {graph.node = 0 : i64} : tensor<9x13xf32>
    graph.return %1 : tensor<9x13xf32>
  }
  graph.kernel @conv(%x: tensor<1x6x5x4xf32>, %w: tensor<3x3x4x11xf32> {graph.constant}, %b: tensor<11xf32> {graph.constant}) -> tensor<1x6x5x11xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i4} : tensor<1x6x5x4xf32> -> tensor<1x6x5x3x3x4xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i4}
        : tensor<1x6x5x3x3x4xf32>, tensor<3x3x4x11xf32> -> tensor<1x6x5x11xf32>
    %0 = graph.broadcast %b dims [3] {graph.node = 0 : i4} : tensor<11xf32> -> tensor<1x6x5x11xf32>
    %1 = arith.addf %c, %0 {graph.node = 0 : i4} : tensor<1x6x5x11xf32>
    graph.return %1 : tensor<1x6x5x11xf32>
  }
  graph.kernel @conv1x1(%x: tensor<4x5x6x7xf32>, %w: tensor<1x1x7x9xf32> {graph.constant}) -> tensor<4x5x6x9xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [0, 0] fill 0.0 : f32 {graph.node = 0 : i7} : tensor<4x5x6x7xf32> -> tensor<4x5x6x1x1x7xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i7}
        : tensor<4x5x6x1x1x7xf32>, tensor<1x1x7x9xf32> -> tensor<4x5x6x9xf32>
    graph.return %c : tensor<4x5x6x9xf32>
  }
  graph.kernel @scores(%q: tensor<2x5x12xf16>, %k: tensor<2x5x12xf16>, %m: tensor<2x1x1x5xf32>) -> tensor<2x3x5x5xf32> {
    %q0 = graph.reshape %q {graph.node = 0 : i64} : tensor<2x5x12xf16> -> tensor<2x5x3x4xf16>
    %q1 = graph.transpose %q0 perm [0, 2, 1, 3] {graph.node = 0 : i64} : tensor<2x5x3x4xf16> -> tensor<2x3x5x4xf16>
    %k0 = graph.reshape %k {graph.node = 0 : i64} : tensor<2x5x12xf16> -> tensor<2x5x3x4xf16>
    %k1 = graph.transpose %k0 perm [0, 2, 3, 1] {graph.node = 0 : i64} : tensor<2x5x3x4xf16> -> tensor<2x3x4x5xf16>
    %c = graph.contract %q1, %k1 maps [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>] {graph.node = 0 : i64}
        : tensor<2x3x5x4xf16>, tensor<2x3x4x5xf16> -> tensor<2x3x5x5xf32>
    %mb = graph.broadcast %m dims [0, 1, 2, 3] {graph.node = 0 : i64} : tensor<2x1x1x5xf32> -> tensor<2x3x5x5xf32>
    %r = arith.addf %c, %mb {graph.node = 0 : i64} : tensor<2x3x5x5xf32>
    graph.return %r : tensor<2x3x5x5xf32>
  }
  graph.kernel @context(%p: tensor<2x3x5x5xf32>, %v: tensor<2x5x3x4xf32>) -> tensor<10x12xf32> {
    %c = graph.contract %p, %v maps [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, k, h, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>] {graph.node = 0 : i64}
        : tensor<2x3x5x5xf32>, tensor<2x5x3x4xf32> -> tensor<2x3x5x4xf32>
    %t = graph.transpose %c perm [0, 2, 1, 3] {graph.node = 0 : i64} : tensor<2x3x5x4xf32> -> tensor<2x5x3x4xf32>
    %r = graph.reshape %t {graph.node = 0 : i64} : tensor<2x5x3x4xf32> -> tensor<10x12xf32>
    graph.return %r : tensor<10x12xf32>
  }
  // Two products of one left side.
  graph.kernel @pair(%x: tensor<9x11xf32>, %g: tensor<11x13xf32>, %u: tensor<11x13xf32>) -> (tensor<9x13xf32>, tensor<117xf32>) {
    %a = graph.contract %x, %g maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<9x11xf32>, tensor<11x13xf32> -> tensor<9x13xf32>
    %b = graph.contract %x, %u maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64} : tensor<9x11xf32>, tensor<11x13xf32> -> tensor<9x13xf32>
    %t = math.tanh %a : tensor<9x13xf32>
    %p = arith.mulf %t, %b : tensor<9x13xf32>
    %r = graph.reshape %b {graph.node = 2 : i64} : tensor<9x13xf32> -> tensor<117xf32>
    graph.return %p, %r : tensor<9x13xf32>, tensor<117xf32>
  }
  graph.kernel @pair_of_rows(%x: tensor<2x1x37xf16>, %g: tensor<150x37xf16> {graph.constant}, %u: tensor<150x37xf16> {graph.constant}) -> tensor<2x150xf32> {
    %a = graph.contract %x, %g maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 0 : i64} : tensor<2x1x37xf16>, tensor<150x37xf16> -> tensor<2x1x150xf32>
    %b = graph.contract %x, %u maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 1 : i64} : tensor<2x1x37xf16>, tensor<150x37xf16> -> tensor<2x1x150xf32>
    %p = arith.mulf %b, %a : tensor<2x1x150xf32>
    %r = graph.reshape %p {graph.node = 2 : i64} : tensor<2x1x150xf32> -> tensor<2x150xf32>
    graph.return %r : tensor<2x150xf32>
  }
  // The result transposed: the columns are the left side's.
  graph.kernel @transposed(%x: tensor<5x7xf32>, %y: tensor<7x6xf32>) -> tensor<6x5xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>] {graph.node = 0 : i64} : tensor<5x7xf32>, tensor<7x6xf32> -> tensor<6x5xf32>
    graph.return %c : tensor<6x5xf32>
  }
  graph.kernel @matvec(%x: tensor<5x7xf32>, %y: tensor<7xf32>) -> tensor<5xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] {graph.node = 0 : i64} : tensor<5x7xf32>, tensor<7xf32> -> tensor<5xf32>
    graph.return %c : tensor<5xf32>
  }
  graph.kernel @dotproduct(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<f32> {
    %c = graph.contract %x, %y maps [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>] {graph.node = 0 : i64} : tensor<7xf32>, tensor<7xf32> -> tensor<f32>
    graph.return %c : tensor<f32>
  }
  // A prologue that does not keep zeros: what is beyond the end of k must not count.
  graph.kernel @prologue(%x: tensor<5x7xf32>, %y: tensor<7x6xf32>, %r: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<30xf32>) {
    %e = math.exp %x {graph.node = 0 : i64} : tensor<5x7xf32>
    %c = graph.contract %e, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<5x7xf32>, tensor<7x6xf32> -> tensor<5x6xf32>
    %s = arith.addf %c, %r {graph.node = 0 : i64} : tensor<5x6xf32>
    %f = graph.reshape %s {graph.node = 0 : i64} : tensor<5x6xf32> -> tensor<30xf32>
    graph.return %s, %f : tensor<5x6xf32>, tensor<30xf32>
  }
  // Grouped: groups are a batch loop in the middle of the result.
  graph.kernel @grouped(%x: tensor<1x5x5x2x3xf32>, %w: tensor<2x3x3x3x4xf32> {graph.constant}) -> tensor<1x3x3x2x4xf32> {
    %v = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x5x5x2x3xf32> -> tensor<1x3x3x3x3x2x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, g, c, o) -> (n, y, x, ky, kx, g, c)>, affine_map<(n, y, x, ky, kx, g, c, o) -> (g, ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, g, c, o) -> (n, y, x, g, o)>] {graph.node = 0 : i64}
        : tensor<1x3x3x3x3x2x3xf32>, tensor<2x3x3x3x4xf32> -> tensor<1x3x3x2x4xf32>
    graph.return %c : tensor<1x3x3x2x4xf32>
  }
  graph.kernel @no_terms(%x: tensor<5x0xf32>, %y: tensor<0x6xf32>) -> tensor<5x6xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<5x0xf32>, tensor<0x6xf32> -> tensor<5x6xf32>
    graph.return %c : tensor<5x6xf32>
  }
  // Sums return to memory after each step: one step is not whole, nor is the last register tile; more rows than one register tile.
  graph.kernel @streamed(%x: tensor<2x5x11xf32>, %y: tensor<2x11x150xf32>, %b: tensor<150xf32>) -> tensor<2x5x150xf32>
      attributes {schedule = #tile.schedule<matmul, tile = [1, 5, 96], reduce = [4], registers = [3, 32, 4]>} {
    %c = graph.contract %x, %y maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 0 : i64} : tensor<2x5x11xf32>, tensor<2x11x150xf32> -> tensor<2x5x150xf32>
    %bb = graph.broadcast %b dims [2] {graph.node = 0 : i64} : tensor<150xf32> -> tensor<2x5x150xf32>
    %r = arith.addf %c, %bb {graph.node = 0 : i64} : tensor<2x5x150xf32>
    graph.return %r : tensor<2x5x150xf32>
  }
  // The same with a right side that has to be converted, and one that is computed.
  graph.kernel @streamed_half(%x: tensor<1x13xf16>, %y: tensor<13x70xf16>, %z: tensor<13x70xf16>) -> tensor<1x70xf32>
      attributes {schedule = #tile.schedule<matmul, tile = [1, 70], reduce = [4], registers = [1, 32, 4]>} {
    %s = arith.addf %y, %z {graph.node = 0 : i64} : tensor<13x70xf16>
    %c = graph.contract %x, %s maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<1x13xf16>, tensor<13x70xf16> -> tensor<1x70xf32>
    graph.return %c : tensor<1x70xf32>
  }
  // An image whose rows are read three elements at a time, from planes, and stored as planes: pixels of a channel lie together.
  graph.kernel @planes(%x: tensor<2x3x8x8xf32>, %w: tensor<3x3x3x20xf32> {graph.constant}) -> tensor<2x20x8x8xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.5 : f32 {graph.node = 0 : i64} : tensor<2x3x8x8xf32> -> tensor<2x3x8x8x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x3x8x8x3x3xf32>, tensor<3x3x3x20xf32> -> tensor<2x8x8x20xf32>
    %r = math.exp %c {graph.node = 0 : i64} : tensor<2x8x8x20xf32>
    %t = graph.transpose %r perm [0, 3, 1, 2] {graph.node = 0 : i64} : tensor<2x8x8x20xf32> -> tensor<2x20x8x8xf32>
    graph.return %t : tensor<2x20x8x8xf32>
  }
  // The same in half precision, with rows of five elements, a stride, and pixels that no register tile divides.
  graph.kernel @planes_half(%x: tensor<2x2x11x12xf16>, %w: tensor<5x5x2x18xf16> {graph.constant}) -> tensor<2x18x4x4xf16> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [0, 0] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x2x11x12xf16> -> tensor<2x2x4x4x5x5xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x2x4x4x5x5xf16>, tensor<5x5x2x18xf16> -> tensor<2x4x4x18xf32>
    %h = arith.truncf %c {graph.node = 0 : i64} : tensor<2x4x4x18xf32> to tensor<2x4x4x18xf16>
    %t = graph.transpose %h perm [0, 3, 1, 2] {graph.node = 0 : i64} : tensor<2x4x4x18xf16> -> tensor<2x18x4x4xf16>
    graph.return %t : tensor<2x18x4x4xf16>
  }
  // Both sides lie along k: few rows are dots, more rows transpose the right side in registers, where no block divides it.
  graph.kernel @dots(%x: tensor<2x5x37xf32>, %y: tensor<2x21x37xf32>, %b: tensor<21xf32>) -> tensor<2x5x21xf32> {
    %c = graph.contract %x, %y maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 0 : i64} : tensor<2x5x37xf32>, tensor<2x21x37xf32> -> tensor<2x5x21xf32>
    %bb = graph.broadcast %b dims [2] {graph.node = 0 : i64} : tensor<21xf32> -> tensor<2x5x21xf32>
    %r = arith.addf %c, %bb {graph.node = 0 : i64} : tensor<2x5x21xf32>
    graph.return %r : tensor<2x5x21xf32>
  }
  graph.kernel @dots_half(%x: tensor<3x70xf16>, %y: tensor<19x70xf16>) -> tensor<3x19xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<3x70xf16>, tensor<19x70xf16> -> tensor<3x19xf32>
    graph.return %c : tensor<3x19xf32>
  }
  graph.kernel @dots_with_vector(%x: tensor<50x37xf32>, %y: tensor<1x37xf32> {graph.constant}) -> tensor<50x1xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<50x37xf32>, tensor<1x37xf32> -> tensor<50x1xf32>
    graph.return %c : tensor<50x1xf32>
  }
  graph.kernel @across(%x: tensor<2x20x37xf32>, %y: tensor<2x83x37xf32>) -> tensor<2x20x83xf32> {
    %c = graph.contract %x, %y maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 0 : i64} : tensor<2x20x37xf32>, tensor<2x83x37xf32> -> tensor<2x20x83xf32>
    graph.return %c : tensor<2x20x83xf32>
  }
  // In halves, with a left side that lies across as well.
  graph.kernel @across_half(%x: tensor<35x21xf16>, %y: tensor<18x35xf16>) -> tensor<21x18xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<35x21xf16>, tensor<18x35xf16> -> tensor<21x18xf32>
    graph.return %c : tensor<21x18xf32>
  }
  // Few taps, read in place by rows of the image: one channel, planes, strides, and a fill that counts.
  graph.kernel @few_taps(%x: tensor<2x3x13x1xf32>, %w: tensor<5x5x1x8xf32> {graph.constant}) -> tensor<2x3x13x8xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [2, 2] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x3x13x1xf32> -> tensor<2x3x13x5x5x1xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x3x13x5x5x1xf32>, tensor<5x5x1x8xf32> -> tensor<2x3x13x8xf32>
    graph.return %c : tensor<2x3x13x8xf32>
  }
  graph.kernel @few_taps_of_planes(%x: tensor<2x3x5x33xf32>, %w: tensor<3x3x3x10xf32> {graph.constant}) -> tensor<2x3x17x10xf32> {
    %v = graph.window %x dims [2, 3] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x3x5x33xf32> -> tensor<2x3x3x17x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x3x3x17x3x3xf32>, tensor<3x3x3x10xf32> -> tensor<2x3x17x10xf32>
    graph.return %c : tensor<2x3x17x10xf32>
  }
  graph.kernel @few_taps_of_ones(%x: tensor<1x3x17x1xf32>, %w: tensor<3x3x1x19xf32> {graph.constant}) -> tensor<1x3x17x19xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 1.0 : f32 {graph.node = 0 : i64} : tensor<1x3x17x1xf32> -> tensor<1x3x17x3x3x1xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x3x17x3x3x1xf32>, tensor<3x3x1x19xf32> -> tensor<1x3x17x19xf32>
    graph.return %c : tensor<1x3x17x19xf32>
  }
  // Most taps lie outside wherever the window is.
  graph.kernel @few_taps_outside(%x: tensor<1x1x9x1xf32>, %w: tensor<3x3x1x10xf32> {graph.constant}) -> tensor<1x1x9x10xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x1x9x1xf32> -> tensor<1x1x9x3x3x1xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x1x9x3x3x1xf32>, tensor<3x3x1x10xf32> -> tensor<1x1x9x10xf32>
    graph.return %c : tensor<1x1x9x10xf32>
  }
  // Columns that end in half a vector.
  graph.kernel @half_vector(%x: tensor<15x11xf32>, %w: tensor<11x40xf32> {graph.constant}, %b: tensor<40xf32>) -> tensor<15x40xf32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<15x11xf32>, tensor<11x40xf32> -> tensor<15x40xf32>
    %bb = graph.broadcast %b dims [1] {graph.node = 0 : i64} : tensor<40xf32> -> tensor<15x40xf32>
    %r = arith.addf %c, %bb {graph.node = 0 : i64} : tensor<15x40xf32>
    graph.return %r : tensor<15x40xf32>
  }
  // One column over windows that leave the image: dots along the channels of every tap.
  graph.kernel @one_column_of_windows(%x: tensor<2x9x7x24xf32>, %w: tensor<3x2x24x1xf32> {graph.constant}) -> tensor<2x9x7x1xf32> {
    %0 = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x9x7x24xf32> -> tensor<2x9x7x3x2x24xf32>
    %c = graph.contract %0, %w maps [affine_map<(b, y, x, o, i, j, c) -> (b, y, x, i, j, c)>, affine_map<(b, y, x, o, i, j, c) -> (i, j, c, o)>, affine_map<(b, y, x, o, i, j, c) -> (b, y, x, o)>]
        {graph.node = 0 : i64} : tensor<2x9x7x3x2x24xf32>, tensor<3x2x24x1xf32> -> tensor<2x9x7x1xf32>
    graph.return %c : tensor<2x9x7x1xf32>
  }
}
