// The loop over k becomes a pipeline: copies two steps ahead, one barrier a step. Without asynchronous copies: loads one step ahead.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_80 | FileCheck %s
// RUN: tilewright-opt %s --tilewright-place-tiles=target=gfx942 | FileCheck %s --check-prefix=AMD
// Placing twice changes nothing.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_80 > %t.once
// RUN: tilewright-opt %t.once --tilewright-place-tiles=target=sm_80 > %t.twice
// RUN: diff %t.once %t.twice
// The steps one by one are the same.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-flatten-loops,tilewright-place-assign-layouts{target=sm_80},tilewright-place-stage-operands,tilewright-place-pipeline-loops{target=sm_80},tilewright-place-allocate-shared{target=sm_80}))" > %t.steps
// RUN: diff %t.once %t.steps

// CHECK: tile.kernel @matmul({{.*}}shared_bytes = 49152 : i64, threads = 128 : i64
// CHECK: tile.shared_alloc offset 0 : <tensor<128x32xf16>, fast = 1, slots = 3>
// CHECK: tile.shared_alloc offset 24576 : <tensor<32x128xf16>, fast = 1, slots = 3>
// CHECK: tile.shared_copy
// CHECK: tile.copy_commit
// CHECK: scf.for
// CHECK-NEXT: tile.copy_wait 1
// CHECK-NEXT: tile.barrier
// CHECK: tile.shared_copy
// CHECK: tile.copy_commit
// CHECK-NOT: tile.barrier
// CHECK: tile.shared_read
// CHECK: tile.dot {{.*}} {instruction = "mma.m16n8k16"}
// CHECK-NOT: tile.barrier
// CHECK: scf.yield

// AMD: tile.kernel @matmul({{.*}}shared_bytes = 32768 : i64, threads = 256 : i64
// AMD: tile.shared_alloc offset 16384 : <tensor<32x128xf16>, fast = 0, slots = 2>
// AMD: tile.load
// AMD: scf.for
// AMD-NEXT: tile.shared_write
// AMD-NEXT: tile.shared_write
// AMD-NEXT: tile.barrier
// AMD: tile.load
// AMD: tile.load
// AMD: tile.dot {{.*}} {instruction = "mfma.32x32x8x2"}

tile.kernel @matmul(%a: !tile.buffer<f16, () -> (4096, 4096)>, %b: !tile.buffer<f16, () -> (4096, 4096)>, %bias: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f16, () -> (4096, 4096)>)
    attributes {grid = affine_map<() -> (1024, 1, 1)>, schedule = #tile.schedule<matmul, tile = [128, 128], reduce = [32], warps = 4, stages = 3>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> ((d0 floordiv 32) * 128)(%p)
  %n = tile.size (d0) -> ((d0 mod 32) * 128)(%p)
  %c0 = arith.constant 0 : index
  %ck = arith.constant 4096 : index
  %step = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> (tensor<128x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (4096, 4096)> -> tensor<128x32xf16>
    %w = tile.load %b[%k, %n] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (4096, 4096)> -> tensor<32x128xf16>
    %d = tile.dot %x, %w, %c : tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %bv = tile.load %bias[%c0, %n] bounds () -> (1, 4096) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> (4096)> -> tensor<1x128xf32>
  %bb = tile.broadcast %bv : tensor<1x128xf32> -> tensor<128x128xf32>
  %s = arith.addf %acc, %bb : tensor<128x128xf32>
  %h = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : tensor<128x128xf16> -> !tile.buffer<f16, () -> (4096, 4096)>
  tile.return
}
