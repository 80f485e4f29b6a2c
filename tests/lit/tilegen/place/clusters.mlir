// Blocks that copy for each other what neighbouring programs read alike.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a}))" | FileCheck %s

// Programs go down the rows, so neighbours share columns.
// CHECK-LABEL: tile.kernel @columns
// CHECK: %[[RING:.*]] = tile.ring_alloc offset 0 : <slots = 3, releases = 8, blocks = 2>
// CHECK: tile.roles
// CHECK: tile.ring_release %[[RING]]{{.*}} : <slots = 3, releases = 8, blocks = 2>
// CHECK: }, {
// CHECK: %[[BLOCK:.*]] = tile.program_id 0
// CHECK: %[[RANK:.*]] = arith.remui %[[BLOCK]], %c2
// CHECK: scf.for {{.*}} step %c20
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (index)
// CHECK: tile.ring_acquire %[[RING]][%[[S]]] bytes 24576
// CHECK: tile.bulk_copy {{.*}} signals %[[RING]] :
// CHECK: %[[TURN:.*]] = arith.remui %[[S]], %c2
// CHECK: %[[MINE:.*]] = arith.cmpi eq, %[[TURN]], %[[RANK]]
// CHECK: scf.if %[[MINE]] {
// CHECK-NEXT: tile.bulk_copy {{.*}} signals %[[RING]] to_cluster :
tile.kernel @columns(%a: !tile.buffer<f16, () -> (640, 512)>, %b: !tile.buffer<f16, () -> (512, 200)>,
                     %y: !tile.buffer<f32, () -> (640, 200)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1, order = 10, cluster = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %i = tile.program_id 0
  %p = tile.ordered_program %i rows () -> (10) columns () -> (2) group 10
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 200) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 200)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %sum, %y[%m, %n] bounds () -> (640, 200) map (d0, d1) -> (d0, d1) : tensor<64x128xf32> -> !tile.buffer<f32, () -> (640, 200)>
  tile.return
}

// -----

// Programs go along the columns, so neighbours share rows, and copy them in turns.
// CHECK-LABEL: tile.kernel @rows
// CHECK: }, {
// CHECK: scf.if
// CHECK-NEXT: tile.bulk_copy {{.*}} to_cluster : <f16, [64, 64]> -> <tensor<64x64xf16>
// CHECK: tile.bulk_copy {{.*}} -> <tensor<64x128xf16>
// CHECK-NOT: to_cluster
tile.kernel @rows(%a: !tile.buffer<f16, () -> (640, 512)>, %b: !tile.buffer<f16, () -> (512, 200)>,
                  %y: !tile.buffer<f32, () -> (640, 200)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1, cluster = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 200) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 200)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %sum, %y[%m, %n] bounds () -> (640, 200) map (d0, d1) -> (d0, d1) : tensor<64x128xf32> -> !tile.buffer<f32, () -> (640, 200)>
  tile.return
}

// -----

// Nine rows of tiles: the last one's neighbour is in the next column.
// CHECK-LABEL: tile.kernel @odd
// CHECK: tile.ring_alloc offset 0 : <slots = 3, releases = 4>
// CHECK-NOT: to_cluster
// expected-remark @+1 {{its blocks are no clusters because neighbouring programs copy nothing alike}}
tile.kernel @odd(%a: !tile.buffer<f16, () -> (576, 512)>, %b: !tile.buffer<f16, () -> (512, 200)>,
                 %y: !tile.buffer<f32, () -> (576, 200)>)
    attributes {grid = affine_map<() -> (18, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1, order = 9, cluster = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %i = tile.program_id 0
  %p = tile.ordered_program %i rows () -> (9) columns () -> (2) group 9
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (576, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (576, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 200) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 200)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %sum, %y[%m, %n] bounds () -> (576, 200) map (d0, d1) -> (d0, d1) : tensor<64x128xf32> -> !tile.buffer<f32, () -> (576, 200)>
  tile.return
}
