// What a kernel with roles does before its first copy: each descriptor is prefetched once, two strips of a right side
// have the same one, and the barriers of all rings are made by one thread in front of one barrier of the block.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a},tilewright-place-allocate-shared{target=sm_90a}),tilewright-gpu-distribute{target=sm_90a})" | FileCheck %s

// Two rings, of slots and of turns: 3 and 2 slots with two barriers each.
// CHECK-LABEL: @product(
// CHECK-COUNT-2: "prefetch.tensormap [$0];"
// CHECK-NOT: prefetch.tensormap
// CHECK-COUNT-10: "llvm.nvvm.mbarrier.init.shared"
// CHECK-NOT: mbarrier.init
// CHECK: "llvm.nvvm.fence.mbarrier_init.release.cluster"
// CHECK-NOT: fence.mbarrier_init
// CHECK: "llvm.nvvm.barrier
// CHECK-NOT: fence.mbarrier_init
// CHECK: griddepcontrol.wait
// An address of the block is one of the cluster.
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i64
// CHECK: llvm.inttoptr %[[ADDRESS]] : i64 to !llvm.ptr<7>
tile.kernel @product(%a: !tile.buffer<f16, () -> (9600, 512)>, %b: !tile.buffer<f16, () -> (512, 384)>,
                     %y: !tile.buffer<f16, () -> (9600, 384)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 192], reduce = [64], warps = 4, stages = 3, groups = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 192)(%p)
  %n1 = tile.size (d0) -> ((d0 mod 2) * 192 + 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %zero1 = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums:2 = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero, %acc1 = %zero1) -> (tensor<64x128xf32>, tensor<64x64xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 384) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 384)> -> tensor<64x128xf16>
    %w1 = tile.load %b[%k, %n1] bounds () -> (512, 384) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 384)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    %d1 = tile.dot %x, %w1, %acc1 : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d, %d1 : tensor<64x128xf32>, tensor<64x64xf32>
  }
  %h = arith.truncf %sums#0 : tensor<64x128xf32> to tensor<64x128xf16>
  %h1 = arith.truncf %sums#1 : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 384) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 384)>
  tile.store %h1, %y[%m, %n1] bounds () -> (9600, 384) map (d0, d1) -> (d0, d1) : tensor<64x64xf16> -> !tile.buffer<f16, () -> (9600, 384)>
  tile.return
}
