// Each turn of a store is behind a branch of its own. What is elementwise is computed in front of the branches, once, if
// it stands in another block than the store.
// RUN: tilewright-opt %s --split-input-file --tilewright-gpu-distribute=target=sm_90a | FileCheck %s

// CHECK-LABEL: @store(
// CHECK: arith.mulf
// CHECK: scf.if
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TURN:.*]], %[[ZERO]] : index
// CHECK: scf.if %[[FIRST]]
// CHECK-NOT: arith.mulf
// CHECK: cp.async.bulk.tensor
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[TURN]], %[[ONE]] : index
// CHECK: scf.if %[[SECOND]]
// CHECK-NOT: arith.mulf
// CHECK: cp.async.bulk.tensor
// CHECK-NOT: cp.async.bulk.tensor
#layout = #tile.layout<reg = [1, 512, 8, 16, 32, 4096], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @store(%y: !tile.buffer<f16, () -> (200, 64)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, threads = 128 : i64, shared_bytes = 8192 : i64} {
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 200) strides () -> (1, 64) : !tile.buffer<f16, () -> (200, 64)> -> !tile.tensor_map<f16, [64, 16]>
  tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: false>} {
    %c0 = arith.constant 0 : index
    %p = tile.program_id 0
    %ones = arith.constant dense<1.0> : tensor<128x64xf16, #layout>
    %twice = arith.mulf %ones, %ones : tensor<128x64xf16, #layout>
    %any = arith.cmpi ne, %p, %c0 : index
    scf.if %any {
      tile.bulk_store %twice, %map[%c0, %c0] turn %p fast 1 rooms 1 scratch 0 : tensor<128x64xf16, #layout> -> !tile.tensor_map<f16, [64, 16]>
    }
  }
  tile.return
}

// -----

// In the store's own block, each branch computes its share, of values whose origin is hidden, so that nothing is moved out
// of the loop. Two pieces in two shares each: the first turn of a piece awaits its room, the second one stores it.
// CHECK-LABEL: @shares(
// CHECK: scf.for
// CHECK: scf.for %[[STEP:[a-z0-9]+]] =
// CHECK-NOT: math.tanh
// CHECK: arith.cmpi eq, %[[STEP]], %{{.*}} : index
// CHECK: scf.if
// CHECK: cp.async.bulk.wait_group
// CHECK-COUNT-16: math.tanh
// CHECK-NOT: cp.async.bulk.tensor
// CHECK: arith.cmpi eq, %[[STEP]], %{{.*}} : index
// CHECK: scf.if
// CHECK-NOT: cp.async.bulk.wait_group
// CHECK: llvm.inline_asm{{.*}}"=r,0,n"
// CHECK-COUNT-16: math.tanh
// CHECK-NOT: math.tanh
// CHECK: cp.async.bulk.tensor
// CHECK: arith.cmpi eq, %[[STEP]], %{{.*}} : index
// CHECK: cp.async.bulk.wait_group
// CHECK-COUNT-16: math.tanh
// CHECK-NOT: cp.async.bulk.tensor
// CHECK: arith.cmpi eq, %[[STEP]], %{{.*}} : index
// CHECK-COUNT-16: math.tanh
// CHECK-NOT: math.tanh
// CHECK: cp.async.bulk.tensor
#layout = #tile.layout<reg = [1, 512, 8, 16, 32, 4096], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @shares(%y: !tile.buffer<f16, () -> (200, 64)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, threads = 128 : i64, shared_bytes = 8192 : i64} {
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 200) strides () -> (1, 64) : !tile.buffer<f16, () -> (200, 64)> -> !tile.tensor_map<f16, [64, 16]>
  tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: false>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %ones = arith.constant dense<1.0> : tensor<128x64xf16, #layout>
    %last = scf.for %p = %c0 to %c4 step %c1 iter_args(%held = %ones) -> (tensor<128x64xf16, #layout>) {
      scf.for %step = %c0 to %c4 step %c1 {
        %wide = arith.extf %held : tensor<128x64xf16, #layout> to tensor<128x64xf32, #layout>
        %f = math.tanh %wide : tensor<128x64xf32, #layout>
        %h = arith.truncf %f : tensor<128x64xf32, #layout> to tensor<128x64xf16, #layout>
        tile.bulk_store %h, %map[%c0, %c0] turn %step shares 2 fast 1 rooms 1 scratch 0 : tensor<128x64xf16, #layout> -> !tile.tensor_map<f16, [64, 16]>
      }
      scf.yield %held : tensor<128x64xf16, #layout>
    }
  }
  tile.return
}
