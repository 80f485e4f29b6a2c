// Reductions that are not innermost in memory.
module attributes {graph.nodes = ["a|Add", "emb|Gather"]} {
  graph.kernel @maxpool(%x: tensor<1x9x8x6xf32>) -> tensor<1x5x4x6xf32> {
    %v = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0xFF800000 : f32 {graph.node = 0 : i64} : tensor<1x9x8x6xf32> -> tensor<1x5x4x3x3x6xf32>
    %m = graph.reduce <max> %v axes [3, 4] {graph.node = 0 : i64} : tensor<1x5x4x3x3x6xf32> -> tensor<1x5x4x6xf32>
    graph.return %m : tensor<1x5x4x6xf32>
  }
  graph.kernel @depthwise(%x: tensor<2x6x7x5xf32>, %w: tensor<3x3x5xf32> {graph.constant}, %b: tensor<5xf32>) -> tensor<2x6x7x5xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x6x7x5xf32> -> tensor<2x6x7x3x3x5xf32>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x5xf32> -> tensor<2x6x7x3x3x5xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<2x6x7x3x3x5xf32>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<2x6x7x3x3x5xf32> -> tensor<2x6x7x5xf32>
    %bb = graph.broadcast %b dims [3] {graph.node = 0 : i64} : tensor<5xf32> -> tensor<2x6x7x5xf32>
    %y = arith.addf %s, %bb {graph.node = 0 : i64} : tensor<2x6x7x5xf32>
    graph.return %y : tensor<2x6x7x5xf32>
  }
  // A window of what is computed: outside, the fill, not the computation of it.
  graph.kernel @pool_of_exp(%x: tensor<1x6x6x4xf32>) -> tensor<1x3x3x4xf32> {
    %e = math.exp %x {graph.node = 0 : i64} : tensor<1x6x6x4xf32>
    %v = graph.window %e dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x6x6x4xf32> -> tensor<1x3x3x3x3x4xf32>
    %s = graph.reduce <sum> %v axes [3, 4] {graph.node = 0 : i64} : tensor<1x3x3x3x3x4xf32> -> tensor<1x3x3x4xf32>
    graph.return %s : tensor<1x3x3x4xf32>
  }
  // Wide enough for several register tiles: the first, the last (which is shorter) and those between, with windows that leave the image on
  // either side or on both, and fills that do and do not leave the sum as it is.
  graph.kernel @depthwise_wide(%x: tensor<1x3x23x18xf32>, %w: tensor<5x5x18xf32> {graph.constant}) -> tensor<1x3x23x18xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [2, 2] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x3x23x18xf32> -> tensor<1x3x23x5x5x18xf32>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<5x5x18xf32> -> tensor<1x3x23x5x5x18xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<1x3x23x5x5x18xf32>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<1x3x23x5x5x18xf32> -> tensor<1x3x23x18xf32>
    graph.return %s : tensor<1x3x23x18xf32>
  }
  graph.kernel @depthwise_strided(%x: tensor<1x5x37x17xf32>, %w: tensor<3x3x17xf32> {graph.constant}) -> tensor<1x3x19x17xf32> {
    %v = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x5x37x17xf32> -> tensor<1x3x19x3x3x17xf32>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x17xf32> -> tensor<1x3x19x3x3x17xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<1x3x19x3x3x17xf32>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<1x3x19x3x3x17xf32> -> tensor<1x3x19x17xf32>
    graph.return %s : tensor<1x3x19x17xf32>
  }
  graph.kernel @depthwise_of_ones(%x: tensor<1x2x17x16xf32>, %w: tensor<3x3x16xf32> {graph.constant}) -> tensor<1x2x17x16xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 1.0 : f32 {graph.node = 0 : i64} : tensor<1x2x17x16xf32> -> tensor<1x2x17x3x3x16xf32>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x16xf32> -> tensor<1x2x17x3x3x16xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<1x2x17x3x3x16xf32>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<1x2x17x3x3x16xf32> -> tensor<1x2x17x16xf32>
    graph.return %s : tensor<1x2x17x16xf32>
  }
  graph.kernel @maxpool_wide(%x: tensor<1x3x25x17xf32>) -> tensor<1x3x25x17xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0xFF800000 : f32 {graph.node = 0 : i64} : tensor<1x3x25x17xf32> -> tensor<1x3x25x3x3x17xf32>
    %s = graph.reduce <max> %v axes [3, 4] {graph.node = 0 : i64} : tensor<1x3x25x3x3x17xf32> -> tensor<1x3x25x17xf32>
    graph.return %s : tensor<1x3x25x17xf32>
  }
  graph.kernel @larger_than_image(%x: tensor<1x4x4x16xf32>, %w: tensor<9x9x16xf32> {graph.constant}) -> tensor<1x4x4x16xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [4, 4] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x4x4x16xf32> -> tensor<1x4x4x9x9x16xf32>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<9x9x16xf32> -> tensor<1x4x4x9x9x16xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<1x4x4x9x9x16xf32>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<1x4x4x9x9x16xf32> -> tensor<1x4x4x16xf32>
    graph.return %s : tensor<1x4x4x16xf32>
  }
  // Channels last in, planes out: read along channels all the same.
  graph.kernel @to_planes(%x: tensor<1x20x37x18xf32>, %w: tensor<3x3x18xf32> {graph.constant}) -> tensor<1x18x20x37xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x20x37x18xf32> -> tensor<1x20x37x3x3x18xf32>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x18xf32> -> tensor<1x20x37x3x3x18xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<1x20x37x3x3x18xf32>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<1x20x37x3x3x18xf32> -> tensor<1x20x37x18xf32>
    %t = graph.transpose %s perm [0, 3, 1, 2] {graph.node = 0 : i64} : tensor<1x20x37x18xf32> -> tensor<1x18x20x37xf32>
    graph.return %t : tensor<1x18x20x37xf32>
  }
  // Planes: windows that overlap run along their columns, however long they are.
  graph.kernel @depthwise_planes(%x: tensor<2x3x9x21xf32>, %w: tensor<3x3x3xf32> {graph.constant}) -> tensor<2x3x9x21xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<2x3x9x21xf32> -> tensor<2x3x9x21x3x3xf32>
    %wb = graph.broadcast %w dims [1, 4, 5] {graph.node = 0 : i64} : tensor<3x3x3xf32> -> tensor<2x3x9x21x3x3xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<2x3x9x21x3x3xf32>
    %s = graph.reduce <sum> %p axes [4, 5] {graph.node = 0 : i64} : tensor<2x3x9x21x3x3xf32> -> tensor<2x3x9x21xf32>
    graph.return %s : tensor<2x3x9x21xf32>
  }
  graph.kernel @long_maxima(%x: tensor<5x70xf32>) -> tensor<5x70xf32> {
    %v = graph.window %x dims [1] strides [1] dilations [1] low [6] fill 0xFF800000 : f32 {graph.node = 0 : i64} : tensor<5x70xf32> -> tensor<5x70x13xf32>
    %s = graph.reduce <max> %v axes [2] {graph.node = 0 : i64} : tensor<5x70x13xf32> -> tensor<5x70xf32>
    graph.return %s : tensor<5x70xf32>
  }
  // Channels first: a row's results step over 2, 3 or 4 columns, whole vectors of them and a rest.
  graph.kernel @by_two(%x: tensor<6x100xf32>) -> tensor<6x49xf32> {
    %v = graph.window %x dims [1] strides [2] dilations [1] low [0] fill 0xFF800000 : f32 {graph.node = 0 : i64} : tensor<6x100xf32> -> tensor<6x49x3xf32>
    %s = graph.reduce <max> %v axes [2] {graph.node = 0 : i64} : tensor<6x49x3xf32> -> tensor<6x49xf32>
    graph.return %s : tensor<6x49xf32>
  }
  graph.kernel @by_three(%x: tensor<5x131xf32>) -> tensor<5x43xf32> {
    %v = graph.window %x dims [1] strides [3] dilations [1] low [0] fill 0xFF800000 : f32 {graph.node = 0 : i64} : tensor<5x131xf32> -> tensor<5x43x3xf32>
    %s = graph.reduce <max> %v axes [2] {graph.node = 0 : i64} : tensor<5x43x3xf32> -> tensor<5x43xf32>
    graph.return %s : tensor<5x43xf32>
  }
  graph.kernel @by_four(%x: tensor<5x260xf32>) -> tensor<5x65xf32> {
    %v = graph.window %x dims [1] strides [4] dilations [1] low [0] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<5x260xf32> -> tensor<5x65x4xf32>
    %s = graph.reduce <sum> %v axes [2] {graph.node = 0 : i64} : tensor<5x65x4xf32> -> tensor<5x65xf32>
    graph.return %s : tensor<5x65xf32>
  }
  graph.kernel @by_five(%x: tensor<3x163xf32>) -> tensor<3x33xf32> {
    %v = graph.window %x dims [1] strides [5] dilations [1] low [0] fill 0xFF800000 : f32 {graph.node = 0 : i64} : tensor<3x163xf32> -> tensor<3x33x3xf32>
    %s = graph.reduce <max> %v axes [2] {graph.node = 0 : i64} : tensor<3x33x3xf32> -> tensor<3x33xf32>
    graph.return %s : tensor<3x33xf32>
  }
  // Columns that are read again: a softmax over the middle dimension.
  graph.kernel @column_softmax(%x: tensor<3x37x20xf32>) -> tensor<3x37x20xf32> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<3x37x20xf32> -> tensor<3x20xf32>
    %mb = graph.broadcast %m dims [0, 2] {graph.node = 0 : i64} : tensor<3x20xf32> -> tensor<3x37x20xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<3x37x20xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<3x37x20xf32>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<3x37x20xf32> -> tensor<3x20xf32>
    %sb = graph.broadcast %s dims [0, 2] {graph.node = 0 : i64} : tensor<3x20xf32> -> tensor<3x37x20xf32>
    %q = arith.divf %e, %sb {graph.node = 0 : i64} : tensor<3x37x20xf32>
    graph.return %q : tensor<3x37x20xf32>
  }
}
