// Operands are written to shared memory and read from there, in the fragments' layout, between two barriers.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_80},tilewright-place-stage-operands))" | FileCheck %s
// Where the instruction reads shared memory by itself, its sums are waited for.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-stage-operands))" | FileCheck %s --check-prefix=HOPPER
// Without layouts there is nothing to go by.
// RUN: not tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-stage-operands))" 2>&1 | FileCheck %s --check-prefix=BARE

// CHECK: %[[A:.*]] = tile.shared_alloc offset 0 : <tensor<64x64xf16>, fast = 1, slots = 1>
// CHECK: %[[B:.*]] = tile.shared_alloc offset 0 : <tensor<64x64xf16>, fast = 1, slots = 1>
// CHECK: scf.for
// CHECK: tile.shared_write %{{.*}}, %[[A]][%c0
// CHECK: tile.shared_write %{{.*}}, %[[B]][%c0
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: %[[X:.*]] = tile.shared_read %[[A]]
// CHECK-NEXT: %[[W:.*]] = tile.shared_read %[[B]]
// CHECK-NEXT: tile.dot %[[X]], %[[W]]
// CHECK-NEXT: tile.barrier
// HOPPER: tile.kernel @product
// HOPPER: %[[D:.*]] = tile.dot
// HOPPER-NEXT: %[[DONE:.*]] = tile.dot_wait 0 of %[[D]]
// HOPPER-NEXT: tile.barrier
// HOPPER-NEXT: scf.yield %[[DONE]]
// BARE: expected tiles with layouts, which tilewright-place-assign-layouts gives them, got 'tensor<64x64xf32>'
tile.kernel @product(%a: !tile.buffer<f16, () -> (64, 256)>, %b: !tile.buffer<f16, () -> (256, 64)>,
                     %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 256) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (64, 256)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (256, 64) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (256, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1)
      : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// A row that all rows of the tile repeat is one load of the whole tile, as other operands are. Since only the first row is
// stored, the others are filled.
// CHECK-LABEL: tile.kernel @row
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load %arg0[%{{.*}}, %{{.*}}] bounds () -> (1, 256) map (d0, d1) -> (0, d1) {{.*}} -> tensor<16x64xf16
// CHECK-NOT: tile.broadcast
// CHECK: tile.shared_write %[[X]]
tile.kernel @row(%a: !tile.buffer<f16, () -> (1, 256)>, %b: !tile.buffer<f16, () -> (256, 64)>,
                 %y: !tile.buffer<f32, () -> (1, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> tensor<16x64xf32> {
    %x = tile.load %a[%c0, %k] bounds () -> (1, 256) map (d0, d1) -> (0, d1)
        : !tile.buffer<f16, () -> (1, 256)> -> tensor<1x64xf16>
    %rows = tile.broadcast %x : tensor<1x64xf16> -> tensor<16x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (256, 64) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (256, 64)> -> tensor<64x64xf16>
    %d = tile.dot %rows, %w, %acc : tensor<16x64xf16>, tensor<64x64xf16>, tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (1, 64) map (d0, d1) -> (0, d1)
      : tensor<16x64xf32> -> !tile.buffer<f32, () -> (1, 64)>
  tile.return
}

// -----

// Here all rows are stored, so all of them are that row.
// CHECK-LABEL: tile.kernel @repeated
// CHECK: scf.for
// CHECK: tile.load %arg0[%{{.*}}, %{{.*}}] bounds () -> (16, 256) map (d0, d1) -> (0, d1) {{.*}} -> tensor<16x64xf16
// CHECK-NOT: tile.broadcast
tile.kernel @repeated(%a: !tile.buffer<f16, () -> (1, 256)>, %b: !tile.buffer<f16, () -> (256, 64)>,
                      %y: !tile.buffer<f32, () -> (16, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero) -> tensor<16x64xf32> {
    %x = tile.load %a[%c0, %k] bounds () -> (1, 256) map (d0, d1) -> (0, d1)
        : !tile.buffer<f16, () -> (1, 256)> -> tensor<1x64xf16>
    %rows = tile.broadcast %x : tensor<1x64xf16> -> tensor<16x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (256, 64) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (256, 64)> -> tensor<64x64xf16>
    %d = tile.dot %rows, %w, %acc : tensor<16x64xf16>, tensor<64x64xf16>, tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (16, 64) map (d0, d1) -> (d0, d1)
      : tensor<16x64xf32> -> !tile.buffer<f32, () -> (16, 64)>
  tile.return
}
