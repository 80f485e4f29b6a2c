// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" | FileCheck %s
module attributes {graph.nodes = ["conv", "pool", "ids"]} {
  // Columns and channels of a padded image are one dimension: the innermost reduced loop runs over both, and only its ends are guarded.
  // CHECK-LABEL: tile.kernel @conv
  // CHECK-SAME: !tile.buffer<f32, () -> (1, 56, 3584)>
  // CHECK: scf.for
  // CHECK: tile.load %arg0{{.*}} map (d0, d1, d2) -> (0, d0 + d1 floordiv 56 - 1, d2 + (d1 mod 56) * 64 - 64) guard [1, 2] fill 0.000000e+00
  // CHECK: tile.dot
  graph.kernel @conv(%x: tensor<1x56x56x64xf32>, %w: tensor<3x3x64x128xf32> {graph.constant}) -> tensor<1x56x56x128xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x56x56x64xf32> -> tensor<1x56x56x3x3x64xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x56x56x3x3x64xf32>, tensor<3x3x64x128xf32> -> tensor<1x56x56x128xf32>
    graph.return %c : tensor<1x56x56x128xf32>
  }

  // A window of one pixel is no window: rows are pixels of all images.
  // CHECK-LABEL: tile.kernel @pixels
  // CHECK-SAME: !tile.buffer<f32, () -> (12544, 64)>
  // CHECK: tile.load %arg0{{.*}} map (d0, d1) -> (d0, d1)
  graph.kernel @pixels(%x: tensor<4x56x56x64xf32>, %w: tensor<1x1x64x128xf32> {graph.constant}) -> tensor<4x56x56x128xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [0, 0] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<4x56x56x64xf32> -> tensor<4x56x56x1x1x64xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<4x56x56x1x1x64xf32>, tensor<1x1x64x128xf32> -> tensor<4x56x56x128xf32>
    graph.return %c : tensor<4x56x56x128xf32>
  }

  // The reduced loops are outermost, and what lies outside is the maximum's identity by the window's own fill.
  // CHECK-LABEL: tile.kernel @pool
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: tile.load {{.*}} guard [1, 2] fill 0xFF800000
  // CHECK-NOT: arith.select
  // CHECK: arith.maximumf
  graph.kernel @pool(%x: tensor<1x112x112x64xf32>) -> tensor<1x56x56x64xf32> {
    %v = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0xFF800000 : f32 {graph.node = 1 : i64} : tensor<1x112x112x64xf32> -> tensor<1x56x56x3x3x64xf32>
    %m = graph.reduce <max> %v axes [3, 4] {graph.node = 1 : i64} : tensor<1x56x56x3x3x64xf32> -> tensor<1x56x56x64xf32>
    graph.return %m : tensor<1x56x56x64xf32>
  }

  // An index is read and checked once a row, under its node.
  // CHECK-LABEL: tile.kernel @embed
  // CHECK: %[[IDS:.*]] = tile.load %arg0{{.*}} -> tensor<{{[0-9]+}}x1xi64>
  // CHECK: %[[SAFE:.*]] = tile.check %[[IDS]]{{.*}} below () -> (30522) site 2 : tensor<{{[0-9]+}}x1xi64>
  // CHECK: %[[WIDE:.*]] = tile.broadcast %[[SAFE]]
  // CHECK: tile.load %arg1{{.*}} at(%[[WIDE]] {{.*}} map (d0, d1, d2) -> (d2, d1)
  graph.kernel @embed(%ids: tensor<16xi64>, %t: tensor<30522x768xf32> {graph.constant}) -> tensor<16x768xf32> {
    %i = graph.broadcast %ids dims [0] {graph.node = 2 : i64} : tensor<16xi64> -> tensor<16x768xi64>
    %g = graph.gather %t[%i : tensor<16x768xi64>] map affine_map<(d0, d1, d2) -> (d2, d1)> {graph.node = 2 : i64} : tensor<30522x768xf32> -> tensor<16x768xf32>
    graph.return %g : tensor<16x768xf32>
  }
  // Channels last in, planes out: read along channels all the same.
  // CHECK-LABEL: tile.kernel @to_planes
  // CHECK-SAME: #tile.schedule<window, tile = [10, 37, 18]
  // CHECK: tile.store {{.*}} map (d0, d1, d2, d3, d4) -> (0, d4, d2, d3)
  graph.kernel @to_planes(%x: tensor<1x20x37x18xf32>, %w: tensor<3x3x18xf32> {graph.constant}) -> tensor<1x18x20x37xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x20x37x18xf32> -> tensor<1x20x37x3x3x18xf32>
    %wb = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<3x3x18xf32> -> tensor<1x20x37x3x3x18xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<1x20x37x3x3x18xf32>
    %s = graph.reduce <sum> %p axes [3, 4] {graph.node = 0 : i64} : tensor<1x20x37x3x3x18xf32> -> tensor<1x20x37x18xf32>
    %t = graph.transpose %s perm [0, 3, 1, 2] {graph.node = 0 : i64} : tensor<1x20x37x18xf32> -> tensor<1x18x20x37xf32>
    graph.return %t : tensor<1x18x20x37xf32>
  }

  // Planes: windows that overlap run along their columns, although one window's elements lie together too.
  // CHECK-LABEL: tile.kernel @depthwise_planes
  // CHECK-SAME: #tile.schedule<window
  graph.kernel @depthwise_planes(%x: tensor<1x96x56x56xf32>, %w: tensor<96x3x3xf32> {graph.constant}) -> tensor<1x96x56x56xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x96x56x56xf32> -> tensor<1x96x56x56x3x3xf32>
    %wb = graph.broadcast %w dims [1, 4, 5] {graph.node = 0 : i64} : tensor<96x3x3xf32> -> tensor<1x96x56x56x3x3xf32>
    %p = arith.mulf %v, %wb {graph.node = 0 : i64} : tensor<1x96x56x56x3x3xf32>
    %s = graph.reduce <sum> %p axes [4, 5] {graph.node = 0 : i64} : tensor<1x96x56x56x3x3xf32> -> tensor<1x96x56x56xf32>
    graph.return %s : tensor<1x96x56x56xf32>
  }
  // CHECK-LABEL: tile.kernel @long_maxima
  // CHECK-SAME: #tile.schedule<window
  graph.kernel @long_maxima(%x: tensor<96x3136xf32>) -> tensor<96x3136xf32> {
    %v = graph.window %x dims [1] strides [1] dilations [1] low [6] fill 0xFF800000 : f32 {graph.node = 1 : i64} : tensor<96x3136xf32> -> tensor<96x3136x13xf32>
    %m = graph.reduce <max> %v axes [2] {graph.node = 1 : i64} : tensor<96x3136x13xf32> -> tensor<96x3136xf32>
    graph.return %m : tensor<96x3136xf32>
  }
  // Windows that do not overlap by neighbours stay rows: a mean of blocks of 64.
  // CHECK-LABEL: tile.kernel @blocks
  // CHECK-SAME: #tile.schedule<row_reduction
  graph.kernel @blocks(%x: tensor<96x4096xf32>) -> tensor<96x64xf32> {
    %v = graph.window %x dims [1] strides [64] dilations [1] low [0] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<96x4096xf32> -> tensor<96x64x64xf32>
    %m = graph.reduce <sum> %v axes [2] {graph.node = 1 : i64} : tensor<96x64x64xf32> -> tensor<96x64xf32>
    graph.return %m : tensor<96x64xf32>
  }
  // A cumulative sum of blocks of 16: a vector of results is summed from the same row.
  // CHECK-LABEL: tile.kernel @cumulated
  // CHECK-SAME: #tile.schedule<window
  graph.kernel @cumulated(%x: tensor<640x16xf32>) -> tensor<640x16xf32> {
    %i = graph.iota dim 1 {graph.node = 1 : i64} : tensor<640x16x16xi64>
    %j = graph.iota dim 2 {graph.node = 1 : i64} : tensor<640x16x16xi64>
    %before = arith.cmpi sle, %j, %i {graph.node = 1 : i64} : tensor<640x16x16xi64>
    %b = graph.broadcast %x dims [0, 2] {graph.node = 1 : i64} : tensor<640x16xf32> -> tensor<640x16x16xf32>
    %zero = arith.constant dense<0.0> : tensor<640x16x16xf32>
    %s = arith.select %before, %b, %zero {graph.node = 1 : i64} : tensor<640x16x16xi1>, tensor<640x16x16xf32>
    %r = graph.reduce <sum> %s axes [2] {graph.node = 1 : i64} : tensor<640x16x16xf32> -> tensor<640x16xf32>
    graph.return %r : tensor<640x16xf32>
  }
}
