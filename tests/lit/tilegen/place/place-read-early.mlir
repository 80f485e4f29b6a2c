// Loads that nothing but the program's number decides come first, those of constants before the wait for the kernels before this one.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-read-early{target=sm_90a}))" | FileCheck %s
// Kernels for sm_80 start when the ones before them have ended; what an epilogue reads comes first there, too.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_80},tilewright-place-read-early{target=sm_80}))" | FileCheck %s --check-prefix=SM80

// CHECK-LABEL: tile.kernel @step
// CHECK: tile.load %arg1
// CHECK: tile.await_kernels
// CHECK: tile.load %arg2
// CHECK: tile.load %arg0
// CHECK: tile.reduce
// CHECK-NOT: tile.load
// CHECK: tile.return
// SM80-LABEL: tile.kernel @step
// SM80-NOT: tile.await_kernels
// SM80: tile.load %arg2
// SM80: tile.load %arg0
// SM80: tile.load %arg1
// SM80: tile.reduce
tile.kernel @step(%h: !tile.buffer<f32, () -> (1, 256)>, %w: !tile.buffer<f32, () -> (256, 256)> {graph.constant}, %x: !tile.buffer<f32, () -> (1, 256)>,
                  %y: !tile.buffer<f32, () -> (1, 256)>)
    attributes {grid = affine_map<() -> (256, 1, 1)>, schedule = #tile.schedule<gemv, tile = [1, 1], reduce = [256]>} {
  %n = tile.program_id 0
  %c0 = arith.constant 0 : index
  %l = tile.load %h[%c0, %n, %c0] bounds () -> (1, 1, 256) map (d0, d1, d2) -> (d0, d2) : !tile.buffer<f32, () -> (1, 256)> -> tensor<1x1x256xf32>
  %r = tile.load %w[%c0, %n, %c0] bounds () -> (1, 256, 256) map (d0, d1, d2) -> (d1, d2) : !tile.buffer<f32, () -> (256, 256)> -> tensor<1x1x256xf32>
  %p = arith.mulf %l, %r : tensor<1x1x256xf32>
  %s = tile.reduce <sum> %p dim 2 : tensor<1x1x256xf32> -> tensor<1x1x1xf32>
  %g = tile.load %x[%c0, %n, %c0] bounds () -> (1, 256, 1) map (d0, d1, d2) -> (d0, d1) : !tile.buffer<f32, () -> (1, 256)> -> tensor<1x1x1xf32>
  %z = arith.addf %s, %g : tensor<1x1x1xf32>
  tile.store %z, %y[%c0, %n, %c0] bounds () -> (1, 256, 1) map (d0, d1, d2) -> (d0, d1) : tensor<1x1x1xf32> -> !tile.buffer<f32, () -> (1, 256)>
  tile.return
}

// -----

// A near miss: what is read where another load says stays behind that.
// CHECK-LABEL: tile.kernel @gathers
// CHECK-NOT: tile.await_kernels
// CHECK: tile.load %arg0
// CHECK: tile.reduce
// CHECK: tile.load %arg1
// SM80: tile.kernel @gathers
tile.kernel @gathers(%i: !tile.buffer<i64, () -> (256)>, %w: !tile.buffer<f32, () -> (512)> {graph.constant}, %y: !tile.buffer<f32, () -> (256)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [256]>} {
  %c0 = arith.constant 0 : index
  %at = tile.load %i[%c0] bounds () -> (256) map (d0) -> (d0) : !tile.buffer<i64, () -> (256)> -> tensor<256xi64>
  %m = tile.reduce <max> %at dim 0 : tensor<256xi64> -> tensor<1xi64>
  %b = tile.broadcast %m : tensor<1xi64> -> tensor<256xi64>
  %v = tile.load %w[%c0] at(%b : tensor<256xi64>) bounds () -> (256) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> (512)> -> tensor<256xf32>
  tile.store %v, %y[%c0] bounds () -> (256) map (d0) -> (d0) : tensor<256xf32> -> !tile.buffer<f32, () -> (256)>
  tile.return
}

// -----

// A near miss: more elements than registers may hold meanwhile.
// CHECK-LABEL: tile.kernel @many
// CHECK-NOT: tile.await_kernels
// CHECK: tile.load %arg0
// CHECK: tile.reduce
// CHECK: tile.load %arg1
// SM80: tile.kernel @many
tile.kernel @many(%x: !tile.buffer<f32, () -> (8192)>, %w: !tile.buffer<f32, () -> (8192)> {graph.constant}, %y: !tile.buffer<f32, () -> (8192)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [8192], warps = 4>} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] bounds () -> (8192) map (d0) -> (d0) : !tile.buffer<f32, () -> (8192)> -> tensor<8192xf32>
  %m = tile.reduce <max> %a dim 0 : tensor<8192xf32> -> tensor<1xf32>
  %b = tile.broadcast %m : tensor<1xf32> -> tensor<8192xf32>
  %v = tile.load %w[%c0] bounds () -> (8192) map (d0) -> (d0) : !tile.buffer<f32, () -> (8192)> -> tensor<8192xf32>
  %z = arith.mulf %b, %v : tensor<8192xf32>
  tile.store %z, %y[%c0] bounds () -> (8192) map (d0) -> (d0) : tensor<8192xf32> -> !tile.buffer<f32, () -> (8192)>
  tile.return
}
