// The sums of a tile's strips are awaited where they are used first.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a},tilewright-place-await-late))" | FileCheck %s

// The second strip's products may still run when the first strip is stored. They read the last slot.
// CHECK-LABEL: tile.kernel @strips
// CHECK: %[[SUMS:.*]]:3 = scf.for
// CHECK: tile.dot_wait 2
// CHECK: scf.yield
// CHECK: %[[FIRST:.*]] = tile.dot_wait 1 of %[[SUMS]]#0
// CHECK-NOT: tile.ring_release
// CHECK: arith.truncf %[[FIRST]]
// CHECK-NEXT: tile.store
// CHECK-NEXT: %[[SECOND:.*]] = tile.dot_wait 0 of %[[SUMS]]#1
// CHECK-NEXT: tile.ring_release
// CHECK-NEXT: arith.truncf %[[SECOND]]
// CHECK-NEXT: tile.store
tile.kernel @strips(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 192)>, %y: !tile.buffer<f16, () -> (64, 192)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 192], reduce = [64], warps = 4, stages = 3, groups = 1, strip = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %wide = arith.constant dense<0.0> : tensor<64x128xf32>
  %sums:2 = scf.for %k = %c0 to %end step %c64 iter_args(%p = %zero, %q = %wide) -> (tensor<64x64xf32>, tensor<64x128xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 512)> -> tensor<64x64xf16>
    %v = tile.load %b[%k, %c0] bounds () -> (512, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 192)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c64] bounds () -> (512, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 192)> -> tensor<64x128xf16>
    %d = tile.dot %x, %v, %p : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = tile.dot %x, %w, %q : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x128xf32>
  }
  %h = arith.truncf %sums#0 : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (64, 192) map (d0, d1) -> (d0, d1) : tensor<64x64xf16> -> !tile.buffer<f16, () -> (64, 192)>
  %i = arith.truncf %sums#1 : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %i, %y[%c0, %c64] bounds () -> (64, 192) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (64, 192)>
  tile.return
}

// -----

// The loop may have no step, so the release is conditional. What is stored first is the sum whose products end last.
// CHECK-LABEL: tile.kernel @maybeNoStep
// CHECK: %[[SUMS:.*]]:3 = scf.for
// CHECK: scf.yield
// CHECK: tile.dot_wait 1 of %[[SUMS]]#0
// CHECK-NOT: tile.ring_release
// CHECK: %[[SECOND:.*]] = tile.dot_wait 0 of %[[SUMS]]#1
// CHECK-NEXT: scf.if
// CHECK: tile.ring_release
// CHECK: arith.truncf %[[SECOND]]
tile.kernel @maybeNoStep(%a: !tile.buffer<f16, ()[s0] -> (64, s0 * 8)>, %b: !tile.buffer<f16, ()[s0] -> (s0 * 8, 128)>,
                         %y: !tile.buffer<f16, () -> (64, 128)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1, strip = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = tile.size ()[s0] -> (s0 * 8)()
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums:2 = scf.for %k = %c0 to %end step %c64 iter_args(%p = %zero, %q = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds ()[s0] -> (64, s0 * 8) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (64, s0 * 8)> -> tensor<64x64xf16>
    %v = tile.load %b[%k, %c0] bounds ()[s0] -> (s0 * 8, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (s0 * 8, 128)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c64] bounds ()[s0] -> (s0 * 8, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (s0 * 8, 128)> -> tensor<64x64xf16>
    %d = tile.dot %x, %v, %p : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = tile.dot %x, %w, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %i = arith.truncf %sums#1 : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %i, %y[%c0, %c64] bounds () -> (64, 128) map (d0, d1) -> (d0, d1) : tensor<64x64xf16> -> !tile.buffer<f16, () -> (64, 128)>
  %h = arith.truncf %sums#0 : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (64, 128) map (d0, d1) -> (d0, d1) : tensor<64x64xf16> -> !tile.buffer<f16, () -> (64, 128)>
  tile.return
}

// -----

// One sum is awaited as it was.
// CHECK-LABEL: tile.kernel @one
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: tile.dot_wait 0 of
// CHECK: tile.ring_release
// CHECK: tile.store
tile.kernel @one(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 64)>, %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// -----

// Blocks that take several programs await all sums together.
// CHECK-LABEL: tile.kernel @several
// CHECK: tile.dot_wait 2
// CHECK: tile.dot_wait 0 of
// CHECK-NEXT: tile.dot_wait 0 of
// CHECK: tile.ring_release
// CHECK: tile.store
tile.kernel @several(%a: !tile.buffer<f16, () -> (12800, 512)>, %b: !tile.buffer<f16, () -> (512, 128)>, %y: !tile.buffer<f32, () -> (12800, 128)>)
    attributes {grid = affine_map<() -> (200, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1, strip = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %program = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%program)
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums:2 = scf.for %k = %c0 to %end step %c64 iter_args(%p = %zero, %q = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (12800, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (12800, 512)> -> tensor<64x64xf16>
    %v = tile.load %b[%k, %c0] bounds () -> (512, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 128)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c64] bounds () -> (512, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 128)> -> tensor<64x64xf16>
    %d = tile.dot %x, %v, %p : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = tile.dot %x, %w, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.store %sums#0, %y[%m, %c0] bounds () -> (12800, 128) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (12800, 128)>
  tile.store %sums#1, %y[%m, %c64] bounds () -> (12800, 128) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (12800, 128)>
  tile.return
}

// -----

// A value of two sums.
// CHECK-LABEL: tile.kernel @together
// CHECK: tile.dot_wait 1 of
// CHECK: tile.dot_wait 0 of
// CHECK: tile.ring_release
// CHECK-NEXT: arith.addf
tile.kernel @together(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 128)>, %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums:2 = scf.for %k = %c0 to %end step %c64 iter_args(%p = %zero, %q = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 512)> -> tensor<64x64xf16>
    %v = tile.load %b[%k, %c0] bounds () -> (512, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 128)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c64] bounds () -> (512, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 128)> -> tensor<64x64xf16>
    %d = tile.dot %x, %v, %p : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = tile.dot %x, %w, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %both = arith.addf %sums#0, %sums#1 : tensor<64x64xf32>
  tile.store %both, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
