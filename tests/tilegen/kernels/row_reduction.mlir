// One or several reductions over the same rows.
module attributes {graph.nodes = ["a|Add", "emb|Gather"]} {
  graph.kernel @softmax(%x: tensor<5x11xf32>) -> tensor<5x11xf32> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<5x11xf32> -> tensor<5xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<5xf32> -> tensor<5x11xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<5x11xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<5x11xf32>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<5x11xf32> -> tensor<5xf32>
    %sb = graph.broadcast %s dims [0] {graph.node = 0 : i64} : tensor<5xf32> -> tensor<5x11xf32>
    %r = arith.divf %e, %sb {graph.node = 0 : i64} : tensor<5x11xf32>
    graph.return %r : tensor<5x11xf32>
  }
  graph.kernel @groupnorm(%x: tensor<2x6x2x3xf32>, %g: tensor<6xf32>) -> tensor<2x6x2x3xf32> {
    %r = graph.reshape %x {graph.node = 0 : i64} : tensor<2x6x2x3xf32> -> tensor<2x3x12xf32>
    %s = graph.reduce <sum> %r axes [2] {graph.node = 0 : i64} : tensor<2x3x12xf32> -> tensor<2x3xf32>
    %sb = graph.broadcast %s dims [0, 1] {graph.node = 0 : i64} : tensor<2x3xf32> -> tensor<2x3x12xf32>
    %d = arith.subf %r, %sb {graph.node = 0 : i64} : tensor<2x3x12xf32>
    %q = arith.mulf %d, %d {graph.node = 0 : i64} : tensor<2x3x12xf32>
    %v = graph.reduce <sum> %q axes [2] {graph.node = 0 : i64} : tensor<2x3x12xf32> -> tensor<2x3xf32>
    %vb = graph.broadcast %v dims [0, 1] {graph.node = 0 : i64} : tensor<2x3xf32> -> tensor<2x3x12xf32>
    %n = arith.mulf %d, %vb {graph.node = 0 : i64} : tensor<2x3x12xf32>
    %back = graph.reshape %n {graph.node = 0 : i64} : tensor<2x3x12xf32> -> tensor<2x6x2x3xf32>
    %gb = graph.broadcast %g dims [1] {graph.node = 0 : i64} : tensor<6xf32> -> tensor<2x6x2x3xf32>
    %y = arith.mulf %back, %gb {graph.node = 0 : i64} : tensor<2x6x2x3xf32>
    graph.return %y : tensor<2x6x2x3xf32>
  }
  graph.kernel @scalar(%x: tensor<37xf32>) -> tensor<f32> {
    %s = graph.reduce <sum> %x axes [0] {graph.node = 0 : i64} : tensor<37xf32> -> tensor<f32>
    graph.return %s : tensor<f32>
  }
  // The statistics, the values and the mean of half precision rows.
  graph.kernel @norm(%x: tensor<2x3x10xf16>, %g: tensor<10xf32>) -> (tensor<6x10xf16>, tensor<2x3xf32>) {
    %e = arith.extf %x {graph.node = 0 : i64} : tensor<2x3x10xf16> to tensor<2x3x10xf32>
    %s = graph.reduce <sum> %e axes [2] {graph.node = 0 : i64} : tensor<2x3x10xf32> -> tensor<2x3xf32>
    %c = arith.constant dense<0.1> : tensor<2x3xf32>
    %m = arith.mulf %s, %c {graph.node = 0 : i64} : tensor<2x3xf32>
    %mb = graph.broadcast %m dims [0, 1] {graph.node = 0 : i64} : tensor<2x3xf32> -> tensor<2x3x10xf32>
    %d = arith.subf %e, %mb {graph.node = 0 : i64} : tensor<2x3x10xf32>
    %q = arith.mulf %d, %d {graph.node = 0 : i64} : tensor<2x3x10xf32>
    %v = graph.reduce <sum> %q axes [2] {graph.node = 0 : i64} : tensor<2x3x10xf32> -> tensor<2x3xf32>
    %vb = graph.broadcast %v dims [0, 1] {graph.node = 0 : i64} : tensor<2x3xf32> -> tensor<2x3x10xf32>
    %n = arith.divf %d, %vb {graph.node = 0 : i64} : tensor<2x3x10xf32>
    %gb = graph.broadcast %g dims [2] {graph.node = 0 : i64} : tensor<10xf32> -> tensor<2x3x10xf32>
    %y = arith.mulf %n, %gb {graph.node = 0 : i64} : tensor<2x3x10xf32>
    %t = arith.truncf %y {graph.node = 0 : i64} : tensor<2x3x10xf32> to tensor<2x3x10xf16>
    %r = graph.reshape %t {graph.node = 0 : i64} : tensor<2x3x10xf16> -> tensor<6x10xf16>
    graph.return %r, %m : tensor<6x10xf16>, tensor<2x3xf32>
  }
  graph.kernel @max_of_rows(%x: tensor<6x13xi64>) -> tensor<6xi64> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<6x13xi64> -> tensor<6xi64>
    graph.return %m : tensor<6xi64>
  }
  // Not innermost: the softmax of an axis in the middle.
  graph.kernel @softmax_axis1(%x: tensor<2x5x12xf32>) -> tensor<2x5x12xf32> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<2x5x12xf32> -> tensor<2x12xf32>
    %mb = graph.broadcast %m dims [0, 2] {graph.node = 0 : i64} : tensor<2x12xf32> -> tensor<2x5x12xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<2x5x12xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<2x5x12xf32>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<2x5x12xf32> -> tensor<2x12xf32>
    %sb = graph.broadcast %s dims [0, 2] {graph.node = 0 : i64} : tensor<2x12xf32> -> tensor<2x5x12xf32>
    %r = arith.divf %e, %sb {graph.node = 0 : i64} : tensor<2x5x12xf32>
    graph.return %r : tensor<2x5x12xf32>
  }
  // A prologue that is an output too, beside the row's sum.
  graph.kernel @prologue_out(%x: tensor<4x9xf32>) -> (tensor<4x9xf32>, tensor<4xf32>) {
    %e = math.exp %x {graph.node = 0 : i64} : tensor<4x9xf32>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<4x9xf32> -> tensor<4xf32>
    graph.return %e, %s : tensor<4x9xf32>, tensor<4xf32>
  }
  // A sum along nothing, and of nothing.
  graph.kernel @sum_of_one(%x: tensor<4x1xf32>) -> tensor<4xf32> {
    %s = graph.reduce <sum> %x axes [1] {graph.node = 0 : i64} : tensor<4x1xf32> -> tensor<4xf32>
    graph.return %s : tensor<4xf32>
  }
  graph.kernel @sum_of_none(%x: tensor<4x0xf32>) -> tensor<4xf32> {
    %s = graph.reduce <sum> %x axes [1] {graph.node = 0 : i64} : tensor<4x0xf32> -> tensor<4xf32>
    graph.return %s : tensor<4xf32>
  }
  // ArgMax beside the rows that it looks at: the loops start from the second of two reductions, and the rows are placed by it.
  graph.kernel @argmax_and_rows(%x: tensor<5x7xi64>) -> (tensor<5x7xi64>, tensor<5xi64>) {
    %zero = arith.constant dense<0> : tensor<5x7xi64>
    %p = arith.maxsi %x, %zero {graph.node = 0 : i64} : tensor<5x7xi64>
    %max = graph.reduce <max> %p axes [1] {graph.node = 0 : i64} : tensor<5x7xi64> -> tensor<5xi64>
    %spread = graph.broadcast %max dims [0] {graph.node = 0 : i64} : tensor<5xi64> -> tensor<5x7xi64>
    %hit = arith.cmpi eq, %p, %spread {graph.node = 0 : i64} : tensor<5x7xi64>
    %i = graph.iota dim 1 {graph.node = 0 : i64} : tensor<5x7xi64>
    %none = arith.constant dense<1000000> : tensor<5x7xi64>
    %at = arith.select %hit, %i, %none {graph.node = 0 : i64} : tensor<5x7xi1>, tensor<5x7xi64>
    %first = graph.reduce <min> %at axes [1] {graph.node = 0 : i64} : tensor<5x7xi64> -> tensor<5xi64>
    graph.return %p, %first : tensor<5x7xi64>, tensor<5xi64>
  }
  // Groups of three channels of 2x5 pixels are rows, and the result is in channels again: a row's loops are parts of the result's, not more loops.
  graph.kernel @groups_of_channels(%x: tensor<2x4x30xf32>, %scale: tensor<12xf32>) -> tensor<2x12x2x5xf32> {
    %s = graph.reduce <sum> %x axes [2] {graph.node = 0 : i64} : tensor<2x4x30xf32> -> tensor<2x4xf32>
    %b = graph.broadcast %s dims [0, 1] {graph.node = 0 : i64} : tensor<2x4xf32> -> tensor<2x4x30xf32>
    %d = arith.subf %x, %b {graph.node = 0 : i64} : tensor<2x4x30xf32>
    %r = graph.reshape %d {graph.node = 0 : i64} : tensor<2x4x30xf32> -> tensor<2x12x2x5xf32>
    %c = graph.broadcast %scale dims [1] {graph.node = 0 : i64} : tensor<12xf32> -> tensor<2x12x2x5xf32>
    %y = arith.mulf %r, %c {graph.node = 0 : i64} : tensor<2x12x2x5xf32>
    graph.return %y : tensor<2x12x2x5xf32>
  }
  // Filters scaled for each of two images and divided by the sum of their squares, stored taps first: the row is read in another order than it is stored.
  graph.kernel @demodulated_filters(%s: tensor<2x6xf16>, %w: tensor<3x6x2x3xf16>) -> tensor<2x3x2x3x6xf16> {
    %s32 = arith.extf %s {graph.node = 0 : i64} : tensor<2x6xf16> to tensor<2x6xf32>
    %w32 = arith.extf %w {graph.node = 0 : i64} : tensor<3x6x2x3xf16> to tensor<3x6x2x3xf32>
    %sb = graph.broadcast %s32 dims [0, 2] {graph.node = 0 : i64} : tensor<2x6xf32> -> tensor<2x3x6x2x3xf32>
    %wb = graph.broadcast %w32 dims [1, 2, 3, 4] {graph.node = 0 : i64} : tensor<3x6x2x3xf32> -> tensor<2x3x6x2x3xf32>
    %m = arith.mulf %sb, %wb {graph.node = 0 : i64} : tensor<2x3x6x2x3xf32>
    %r = graph.reshape %m {graph.node = 0 : i64} : tensor<2x3x6x2x3xf32> -> tensor<6x6x2x3xf32>
    %q = arith.mulf %r, %r {graph.node = 0 : i64} : tensor<6x6x2x3xf32>
    %sum = graph.reduce <sum> %q axes [1, 2, 3] {graph.node = 0 : i64} : tensor<6x6x2x3xf32> -> tensor<6xf32>
    %rb = graph.broadcast %sum dims [0] {graph.node = 0 : i64} : tensor<6xf32> -> tensor<6x6x2x3xf32>
    %d = arith.divf %r, %rb {graph.node = 0 : i64} : tensor<6x6x2x3xf32>
    %h = arith.truncf %d {graph.node = 0 : i64} : tensor<6x6x2x3xf32> to tensor<6x6x2x3xf16>
    %i = graph.reshape %h {graph.node = 0 : i64} : tensor<6x6x2x3xf16> -> tensor<2x3x6x2x3xf16>
    %t = graph.transpose %i perm [0, 1, 3, 4, 2] {graph.node = 0 : i64} : tensor<2x3x6x2x3xf16> -> tensor<2x3x2x3x6xf16>
    graph.return %t : tensor<2x3x2x3x6xf16>
  }
}
