// Steps of a ring whose slots are no power of two are counted as slots and uses too: no step divides.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a},tilewright-place-allocate-shared{target=sm_90a}),tilewright-gpu-distribute{target=sm_90a})" | FileCheck %s

// The warps that multiply: where a program's first step is, is divided for once.
// CHECK-LABEL: @product(
// CHECK: scf.for
// CHECK: arith.remui %{{.*}}, %c3_i32
// CHECK: arith.divui %{{.*}}, %c3_i32
// CHECK: scf.for
// CHECK-NOT: arith.remui
// CHECK: mbarrier.try_wait
// CHECK-NOT: arith.remui
// CHECK: wgmma.mma_async
// CHECK-NOT: arith.remui
// CHECK: mbarrier.arrive
// CHECK-NOT: arith.remui
// CHECK: %[[OVER:.*]] = arith.cmpi eq, %[[NEXT:.*]], %c3_i32
// CHECK: arith.select %[[OVER]], %c0_i32{{.*}}, %[[NEXT]]
// CHECK: scf.yield
// The thread that copies.
// CHECK: scf.for
// CHECK: arith.remui %{{.*}}, %c3_i32
// CHECK: scf.for
// CHECK-NOT: arith.remui
// CHECK: mbarrier.arrive.expect_tx
// CHECK-NOT: arith.remui
// CHECK: llvm.return
tile.kernel @product(%a: !tile.buffer<f16, () -> (9600, 512)>, %b: !tile.buffer<f16, () -> (512, 256)>,
                     %y: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}
