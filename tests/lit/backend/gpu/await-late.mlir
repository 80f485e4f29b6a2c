// The first strip is stored before the second one's products are awaited. The warp meets between them, which is what keeps ptxas from moving
// the wait in front of the stores.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a},tilewright-place-await-late,tilewright-place-allocate-shared{target=sm_90a}),tilewright-gpu-distribute{target=sm_90a})" | FileCheck %s

// CHECK-LABEL: @product(
// CHECK: "llvm.nvvm.wgmma.wait_group.sync.aligned"
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: "wgmma.wait_group.sync.aligned 1;"
// CHECK-NOT: wgmma.wait_group
// CHECK: llvm.store
// CHECK-NOT: wgmma.wait_group
// CHECK: "llvm.nvvm.bar.warp.sync"
// CHECK-NOT: llvm.store
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: llvm.store
tile.kernel @product(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 128)>, %y: !tile.buffer<f32, () -> (64, 128)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1, strip = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums:2 = scf.for %k = %c0 to %c512 step %c64 iter_args(%p = %zero, %q = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 512)> -> tensor<64x64xf16>
    %v = tile.load %b[%k, %c0] bounds () -> (512, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 128)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c64] bounds () -> (512, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 128)> -> tensor<64x64xf16>
    %d = tile.dot %x, %v, %p : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %e = tile.dot %x, %w, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.store %sums#0, %y[%c0, %c0] bounds () -> (64, 128) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 128)>
  tile.store %sums#1, %y[%c0, %c64] bounds () -> (64, 128) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 128)>
  tile.return
}
