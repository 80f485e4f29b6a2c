// An unrolled step is straight code: a tile for each element of the window, and no dimension for them.
// RUN: tilewright-opt %s --tilewright-tile-emit=target=sm_90a | FileCheck %s
// RUN: tilewright-opt %s --tilewright-tile-emit=target=sm_90a --tilewright-place-assign-layouts=target=sm_90a | FileCheck %s --check-prefix=PLACED

// A row of three elements in each step. Loads reach beyond the 7 columns of results, to the end of their tile, since guards keep them inside of the image.
// CHECK-LABEL: tile.kernel @rows
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<1x1x2x4x32xf32>)
// CHECK: %[[V0:.*]] = tile.load %arg0[%[[ROW]], %{{.*}}] bounds () -> (3, 3, 8, 8, 64) {{.*}} guard [0, 1]
// CHECK: %[[M0:.*]] = arith.maximumf %[[SUM]], %[[V0]] : tensor<1x1x2x4x32xf32>
// CHECK: %[[V1:.*]] = tile.load %arg0[%[[ROW]], %{{.*}}]
// CHECK: %[[M1:.*]] = arith.maximumf %[[M0]], %[[V1]]
// CHECK: %[[V2:.*]] = tile.load %arg0[%[[ROW]], %{{.*}}]
// CHECK: %[[M2:.*]] = arith.maximumf %[[M1]], %[[V2]]
// CHECK-NEXT: scf.yield %[[M2]]
// CHECK-NOT: tile.reduce
// CHECK: tile.store {{.*}} bounds () -> (1, 1, 8, 7, 64)
//
// A thread's eight results are vectors of four neighbours in a row: bits of 1 and 2 channels, then of 1 (32) column.
// PLACED-LABEL: tile.kernel @rows
// PLACED: iter_args({{.*}}) -> (tensor<1x1x2x4x32xf32, #tile.layout<reg = [1, 2, 32], lane = [4, 8, 16, 64, 128], warp = []>>)
graph.kernel @rows(%x: tensor<15x13x64xf32>) -> tensor<8x7x64xf32>
    attributes {root = #graph.root<window>, schedule = #tile.schedule<window, tile = [2, 4, 32], reduce = [1, 3], unrolled = true>} {
  %v = graph.window %x dims [0, 1] strides [2, 2] dilations [1, 1] low [1, 1] fill 0xFF800000 : f32 : tensor<15x13x64xf32> -> tensor<8x7x3x3x64xf32>
  %m = graph.reduce <max> %v axes [2, 3] : tensor<8x7x3x3x64xf32> -> tensor<8x7x64xf32>
  graph.return %m : tensor<8x7x64xf32>
}

// The whole window at once needs no loop. Of two rows in a step the last one is masked.
// CHECK-LABEL: tile.kernel @whole
// CHECK-NOT: scf.for
// CHECK-COUNT-9: tile.load %arg0
// CHECK-NOT: tile.load
// CHECK: tile.return
graph.kernel @whole(%x: tensor<15x13x64xf32>) -> tensor<8x7x64xf32>
    attributes {root = #graph.root<window>, schedule = #tile.schedule<window, tile = [2, 4, 32], reduce = [3, 3], unrolled = true>} {
  %v = graph.window %x dims [0, 1] strides [2, 2] dilations [1, 1] low [1, 1] fill 0xFF800000 : f32 : tensor<15x13x64xf32> -> tensor<8x7x3x3x64xf32>
  %m = graph.reduce <max> %v axes [2, 3] : tensor<8x7x3x3x64xf32> -> tensor<8x7x64xf32>
  graph.return %m : tensor<8x7x64xf32>
}
// CHECK-LABEL: tile.kernel @two_rows
// CHECK: %[[STEP:.*]] = arith.constant 2 : index
// CHECK: %[[END:.*]] = arith.constant 3 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]] step %[[STEP]]
// CHECK-COUNT-6: tile.load %arg0{{.*}} bounds () -> (3, 3, 8, 8, 64)
// CHECK-NOT: tile.load
// CHECK: scf.yield
graph.kernel @two_rows(%x: tensor<15x13x64xf32>) -> tensor<8x7x64xf32>
    attributes {root = #graph.root<window>, schedule = #tile.schedule<window, tile = [2, 4, 32], reduce = [2, 3], unrolled = true>} {
  %v = graph.window %x dims [0, 1] strides [2, 2] dilations [1, 1] low [1, 1] fill 0xFF800000 : f32 : tensor<15x13x64xf32> -> tensor<8x7x3x3x64xf32>
  %m = graph.reduce <max> %v axes [2, 3] : tensor<8x7x3x3x64xf32> -> tensor<8x7x64xf32>
  graph.return %m : tensor<8x7x64xf32>
}
