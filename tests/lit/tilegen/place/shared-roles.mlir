// Shared sums with warps that copy: the part is in the number of the program that both roles count with.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a | FileCheck %s

// CHECK-LABEL: tile.kernel @k
// CHECK: %[[WS:.*]] = tile.workspace : <f32, () -> (1, 5, 4096)>
// CHECK: %[[COUNT:.*]] = tile.workspace zeroed : <i32, () -> (1)>
// CHECK: tile.roles
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %c5
// CHECK: %[[TILE:.*]] = tile.size (d0) -> (d0 floordiv 5)(%[[P]])
// CHECK: %[[PART:.*]] = tile.size (d0) -> (d0 mod 5)(%[[P]])
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128
// CHECK: tile.ring_wait
// CHECK: tile.dot
// CHECK: %[[SUM:.*]] = tile.dot_wait 0
// CHECK: tile.ring_release
// CHECK: tile.part_write %[[SUM]], %[[WS]][%[[TILE]], %[[PART]]]
// CHECK: tile.part_arrive %[[COUNT]][%[[TILE]]] of 5 scratch
// CHECK: scf.if
// CHECK: tile.store
// CHECK: }, {
// CHECK: %[[PART:.*]] = tile.size (d0) -> (d0 mod 5)
// CHECK: %[[FIRST:.*]] = tile.size (d0) -> (d0 * 128)(%[[PART]])
// CHECK: scf.for %[[K:.*]] = %c0{{.*}} to %c128
// CHECK: %[[AT:.*]] = arith.addi %[[K]], %[[FIRST]]
// CHECK: tile.bulk_copy %{{.*}}[%[[AT]],
// CHECK-NOT: tile.part
tile.kernel @k(%a: !tile.buffer<f16, () -> (64, 640)>, %b: !tile.buffer<f16, () -> (640, 64)>,
               %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 4, groups = 1, parts = 5>} {
  %c0 = arith.constant 0 : index
  %end = arith.constant 640 : index
  %step = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%c = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 640) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 640)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (640, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
