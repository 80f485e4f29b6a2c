// Convolutions of 3x3 whose channels are an odd multiple of 32: the copy engine brings half a row of pixels a step, or warps gather 64 channels, whichever is estimated to be faster. Filters that are no multiple of 64 have tiles of their width.
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_90a | FileCheck %s

#image = affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>
#filter = affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>
#result = affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>

// As wide as the filters: nothing of the tile is left over.
// CHECK-LABEL: graph.kernel @walked
// CHECK-SAME: tile = [128, 160], reduce = [1, 32], {{.*}}groups = 1
graph.kernel @walked(%x: tensor<16x40x40x160xf16>, %w: tensor<3x3x160x160xf16> {graph.constant}) -> tensor<16x40x40x160xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<16x40x40x160xf16> -> tensor<16x40x40x3x3x160xf16>
  %c = graph.contract %v, %w maps [#image, #filter, #result] {graph.node = 0 : i64} : tensor<16x40x40x3x3x160xf16>, tensor<3x3x160x160xf16> -> tensor<16x40x40x160xf32>
  graph.return %c : tensor<16x40x40x160xf32>
}

// As many tiles as when gathering, of many steps, which take half as long then.
// CHECK-LABEL: graph.kernel @gathered
// CHECK-SAME: tile = [128, 128], reduce = [1, 64], warps = 4, stages = 7>
graph.kernel @gathered(%x: tensor<16x14x14x352xf16>, %w: tensor<3x3x352x352xf16> {graph.constant}) -> tensor<16x14x14x352xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<16x14x14x352xf16> -> tensor<16x14x14x3x3x352xf16>
  %c = graph.contract %v, %w maps [#image, #filter, #result] {graph.node = 0 : i64} : tensor<16x14x14x3x3x352xf16>, tensor<3x3x352x352xf16> -> tensor<16x14x14x352xf32>
  graph.return %c : tensor<16x14x14x352xf32>
}

// Fewer than 64 filters.
// CHECK-LABEL: graph.kernel @narrow
// CHECK-SAME: tile = [128, 32], reduce = [1, 32], warps = 8, stages = 4>
graph.kernel @narrow(%x: tensor<16x56x56x32xf16>, %w: tensor<3x3x32x32xf16> {graph.constant}) -> tensor<16x56x56x32xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<16x56x56x32xf16> -> tensor<16x56x56x3x3x32xf16>
  %c = graph.contract %v, %w maps [#image, #filter, #result] {graph.node = 0 : i64} : tensor<16x56x56x3x3x32xf16>, tensor<3x3x32x32xf16> -> tensor<16x56x56x32xf32>
  graph.return %c : tensor<16x56x56x32xf32>
}

// Whole rows of pixels, and tiles for the filters.
// CHECK-LABEL: graph.kernel @whole_rows
// CHECK-SAME: tile = [256, 96], reduce = [1, 64], {{.*}}groups = 1
graph.kernel @whole_rows(%x: tensor<16x35x35x64xf16>, %w: tensor<3x3x64x96xf16> {graph.constant}) -> tensor<16x35x35x96xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<16x35x35x64xf16> -> tensor<16x35x35x3x3x64xf16>
  %c = graph.contract %v, %w maps [#image, #filter, #result] {graph.node = 0 : i64} : tensor<16x35x35x3x3x64xf16>, tensor<3x3x64x96xf16> -> tensor<16x35x35x96xf32>
  graph.return %c : tensor<16x35x35x96xf32>
}

// Tiles of fewer than 64 columns are for as many filters.
// CHECK-LABEL: graph.kernel @few_filters
// CHECK-SAME: tile = [128, 32], reduce = [1, 64], {{.*}}groups = 1
graph.kernel @few_filters(%x: tensor<16x56x56x64xf16>, %w: tensor<3x3x64x32xf16> {graph.constant}) -> tensor<16x56x56x32xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<16x56x56x64xf16> -> tensor<16x56x56x3x3x64xf16>
  %c = graph.contract %v, %w maps [#image, #filter, #result] {graph.node = 0 : i64} : tensor<16x56x56x3x3x64xf16>, tensor<3x3x64x32xf16> -> tensor<16x56x56x32xf32>
  graph.return %c : tensor<16x56x56x32xf32>
}

// Tiles of 96 columns are not for 128 filters.
// CHECK-LABEL: graph.kernel @unfilled
// CHECK-SAME: tile = [64, 64], reduce = [1, 64], {{.*}}groups = 1
graph.kernel @unfilled(%x: tensor<1x56x56x64xf16>, %w: tensor<3x3x64x128xf16> {graph.constant}) -> tensor<1x56x56x128xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<1x56x56x64xf16> -> tensor<1x56x56x3x3x64xf16>
  %c = graph.contract %v, %w maps [#image, #filter, #result] {graph.node = 0 : i64} : tensor<1x56x56x3x3x64xf16>, tensor<3x3x64x128xf16> -> tensor<1x56x56x128xf32>
  graph.return %c : tensor<1x56x56x128xf32>
}
