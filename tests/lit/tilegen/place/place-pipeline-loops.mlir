// Copies run stages - 1 steps ahead of the products, with one barrier a step.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_80},tilewright-place-stage-operands,tilewright-place-pipeline-loops{target=sm_80}))" | FileCheck %s
// Without asynchronous copies the next step's operands wait in registers, and there are two slots.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=gfx942},tilewright-place-stage-operands,tilewright-place-pipeline-loops{target=gfx942}))" | FileCheck %s --check-prefix=AMD

// CHECK: tile.shared_alloc offset 0 : <tensor<64x32xf16>, fast = 1, slots = 3>
// CHECK-COUNT-2: tile.copy_commit
// CHECK: scf.for
// CHECK-NEXT: tile.copy_wait 1
// CHECK-NEXT: tile.barrier
// CHECK: scf.if
// CHECK: tile.shared_copy
// CHECK: tile.shared_copy
// CHECK: tile.copy_commit
// CHECK-NOT: tile.barrier
// CHECK: tile.dot
// CHECK: scf.yield
// AMD: slots = 2>
// AMD: scf.for {{.*}} iter_args(%{{.*}}, %[[X:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}}, %[[SLOT:.*]] = %{{.*}})
// AMD-NEXT: tile.shared_write %[[X]], %{{.*}}[%[[SLOT]]]
// AMD-NEXT: tile.shared_write %[[W]], %{{.*}}[%[[SLOT]]]
// AMD-NEXT: tile.barrier
// AMD-NOT: tile.barrier
// AMD: tile.dot
tile.kernel @product(%a: !tile.buffer<f16, () -> (64, 256)>, %b: !tile.buffer<f16, () -> (256, 64)>,
                     %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 256) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (64, 256)> -> tensor<64x32xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (256, 64) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (256, 64)> -> tensor<32x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1)
      : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// A size that only running tells: the position after the last step is an expression that the parser takes again.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_80},tilewright-place-stage-operands,tilewright-place-pipeline-loops{target=sm_80}))" | tilewright-opt | FileCheck %s --check-prefix=SYMBOLIC
// SYMBOLIC-LABEL: tile.kernel @run_time
// SYMBOLIC: %[[K:.*]] = tile.size ()[s0] -> (s0)
// SYMBOLIC: tile.size (d0, d1) -> (d0 + ((d1 - d0 - 1) floordiv 32) * 32)(%c0{{.*}}, %[[K]])
// SYMBOLIC: scf.for
// A step that is computed is divided by arithmetic.
// SYMBOLIC-LABEL: tile.kernel @computed_step
// SYMBOLIC: arith.floordivsi
// SYMBOLIC: scf.for
tile.kernel @run_time(%a: !tile.buffer<f16, ()[s0] -> (64, s0)>, %b: !tile.buffer<f16, ()[s0] -> (s0, 64)>,
                      %y: !tile.buffer<f32, () -> (64, 64)>, %s0: index) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = tile.size ()[s0] -> (s0)
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %k] bounds ()[s0] -> (64, s0) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, ()[s0] -> (64, s0)> -> tensor<64x32xf16>
    %w = tile.load %b[%k, %c0] bounds ()[s0] -> (s0, 64) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, ()[s0] -> (s0, 64)> -> tensor<32x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1)
      : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
tile.kernel @computed_step(%a: !tile.buffer<f16, () -> (64, 256)>, %b: !tile.buffer<f16, () -> (256, 64)>,
                           %y: !tile.buffer<f32, () -> (64, 64)>, %s0: index)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %step = tile.size ()[s0] -> (s0 * 32)
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %step iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 256) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (64, 256)> -> tensor<64x32xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (256, 64) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (256, 64)> -> tensor<32x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1)
      : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
