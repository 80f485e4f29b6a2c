// What blocks ask for ahead: of 640 rows of two lines and 128 rows of four, twenty blocks take 64 lines and 26, the last
// one 18. A branch for each side, no loop, in front of the barriers.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a},tilewright-place-ask-ahead{target=sm_90a},tilewright-place-allocate-shared{target=sm_90a}),tilewright-gpu-distribute{target=sm_90a})" | FileCheck %s

// CHECK-LABEL: @product(
// CHECK: %[[ALL:.*]] = arith.constant 64 : i32
// CHECK: arith.cmpi ult, %{{.*}}, %[[ALL]]
// CHECK: scf.if
// CHECK: %[[LINE:.*]] = llvm.getelementptr %arg0
// CHECK-NEXT: "llvm.nvvm.prefetch.global.L2"(%[[LINE]])
// CHECK: %[[SHARE:.*]] = arith.constant 26 : i32
// CHECK: arith.cmpi ult, %{{.*}}, %[[SHARE]]
// CHECK: %[[END:.*]] = arith.constant 512 : i32
// CHECK: arith.cmpi ult, %{{.*}}, %[[END]]
// CHECK: arith.andi
// CHECK: scf.if
// CHECK: %[[LINE:.*]] = llvm.getelementptr %arg1
// CHECK-NEXT: "llvm.nvvm.prefetch.global.L2"(%[[LINE]])
// CHECK-NOT: prefetch.global
// CHECK: "prefetch.tensormap [$0];"
// CHECK: mbarrier.init
tile.kernel @product(%a: !tile.buffer<f16, () -> (640, 512)> {graph.input}, %b: !tile.buffer<f16, () -> (512, 256)> {graph.input},
                     %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (640, 256)>
  tile.return
}
