// Volumes whose pixels the copy engine walks, so that their schedules have roles (groups), and those that are beyond its limits.
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_90a | FileCheck %s

// CHECK-LABEL: graph.kernel @volume
// CHECK-SAME: groups = 1
graph.kernel @volume(%x: tensor<4x16x56x56x64xf16>, %w: tensor<3x3x3x64x64xf16> {graph.constant}) -> tensor<4x16x56x56x64xf32> {
  %v = graph.window %x dims [1, 2, 3] strides [1, 1, 1] dilations [1, 1, 1] low [1, 1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<4x16x56x56x64xf16> -> tensor<4x16x56x56x3x3x3x64xf16>
  %c = graph.contract %v, %w maps [affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, kz, ky, kx, c)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (kz, ky, kx, c, o)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, o)>] {graph.node = 0 : i64}
      : tensor<4x16x56x56x3x3x3x64xf16>, tensor<3x3x3x64x64xf16> -> tensor<4x16x56x56x64xf32>
  graph.return %c : tensor<4x16x56x56x64xf32>
}

// An element of a window may lie 31 pixels behind its first one. It lies 32 behind here.
// CHECK-LABEL: graph.kernel @wide_volume
// CHECK-NOT: groups
// CHECK: graph.window
graph.kernel @wide_volume(%x: tensor<4x48x56x56x64xf16>, %w: tensor<3x3x3x64x64xf16> {graph.constant}) -> tensor<4x46x54x24x64xf32> {
  %v = graph.window %x dims [1, 2, 3] strides [1, 1, 1] dilations [1, 1, 16] low [0, 0, 0] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<4x48x56x56x64xf16> -> tensor<4x46x54x24x3x3x3x64xf16>
  %c = graph.contract %v, %w maps [affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, kz, ky, kx, c)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (kz, ky, kx, c, o)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, o)>] {graph.node = 0 : i64}
      : tensor<4x46x54x24x3x3x3x64xf16>, tensor<3x3x3x64x64xf16> -> tensor<4x46x54x24x64xf32>
  graph.return %c : tensor<4x46x54x24x64xf32>
}

// Where windows do not move along z, the limits are those of images: 255.
// CHECK-LABEL: graph.kernel @wide_images
// CHECK-SAME: groups = {{[12]}}
graph.kernel @wide_images(%x: tensor<4x48x56x56x64xf16>, %w: tensor<1x3x3x64x64xf16> {graph.constant}) -> tensor<4x48x54x24x64xf32> {
  %v = graph.window %x dims [1, 2, 3] strides [1, 1, 1] dilations [1, 1, 16] low [0, 0, 0] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<4x48x56x56x64xf16> -> tensor<4x48x54x24x1x3x3x64xf16>
  %c = graph.contract %v, %w maps [affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, kz, ky, kx, c)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (kz, ky, kx, c, o)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, o)>] {graph.node = 0 : i64}
      : tensor<4x48x54x24x1x3x3x64xf16>, tensor<1x3x3x64x64xf16> -> tensor<4x48x54x24x64xf32>
  graph.return %c : tensor<4x48x54x24x64xf32>
}

// Along z alone, with steps: z and the pixels of a plane are two dimensions.
// CHECK-LABEL: graph.kernel @steps_along_z
// CHECK-SAME: groups = {{[12]}}
graph.kernel @steps_along_z(%x: tensor<4x16x56x56x128xf16>, %w: tensor<3x1x1x128x64xf16> {graph.constant}) -> tensor<4x8x56x56x64xf32> {
  %v = graph.window %x dims [1, 2, 3] strides [2, 1, 1] dilations [1, 1, 1] low [1, 0, 0] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<4x16x56x56x128xf16> -> tensor<4x8x56x56x3x1x1x128xf16>
  %c = graph.contract %v, %w maps [affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, kz, ky, kx, c)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (kz, ky, kx, c, o)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, o)>] {graph.node = 0 : i64}
      : tensor<4x8x56x56x3x1x1x128xf16>, tensor<3x1x1x128x64xf16> -> tensor<4x8x56x56x64xf32>
  graph.return %c : tensor<4x8x56x56x64xf32>
}

// Along z alone, pixels are one long row, in which the last element of a window lies two planes behind the first one: 65,535 pixels at most.
// CHECK-LABEL: graph.kernel @along_z
// CHECK-SAME: groups = {{[12]}}
graph.kernel @along_z(%x: tensor<2x8x127x256x128xf16>, %w: tensor<3x1x1x128x64xf16> {graph.constant}) -> tensor<2x8x127x256x64xf32> {
  %v = graph.window %x dims [1, 2, 3] strides [1, 1, 1] dilations [1, 1, 1] low [1, 0, 0] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x8x127x256x128xf16> -> tensor<2x8x127x256x3x1x1x128xf16>
  %c = graph.contract %v, %w maps [affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, kz, ky, kx, c)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (kz, ky, kx, c, o)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, o)>] {graph.node = 0 : i64}
      : tensor<2x8x127x256x3x1x1x128xf16>, tensor<3x1x1x128x64xf16> -> tensor<2x8x127x256x64xf32>
  graph.return %c : tensor<2x8x127x256x64xf32>
}
// CHECK-LABEL: graph.kernel @along_z_of_large_planes
// CHECK-NOT: groups
// CHECK: graph.window
graph.kernel @along_z_of_large_planes(%x: tensor<2x8x128x256x128xf16>, %w: tensor<3x1x1x128x64xf16> {graph.constant}) -> tensor<2x8x128x256x64xf32> {
  %v = graph.window %x dims [1, 2, 3] strides [1, 1, 1] dilations [1, 1, 1] low [1, 0, 0] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<2x8x128x256x128xf16> -> tensor<2x8x128x256x3x1x1x128xf16>
  %c = graph.contract %v, %w maps [affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, kz, ky, kx, c)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (kz, ky, kx, c, o)>, affine_map<(n, z, y, x, o, kz, ky, kx, c) -> (n, z, y, x, o)>] {graph.node = 0 : i64}
      : tensor<2x8x128x256x3x1x1x128xf16>, tensor<3x1x1x128x64xf16> -> tensor<2x8x128x256x64xf32>
  graph.return %c : tensor<2x8x128x256x64xf32>
}
