// Each piece of a store that takes turns is behind a branch of its own. The elements are computed in front of the branches, once.
// RUN: tilewright-opt %s --tilewright-gpu-distribute=target=sm_90a | FileCheck %s

// CHECK-LABEL: @store(
// CHECK: arith.mulf
// CHECK-NOT: scf.if
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
    tile.bulk_store %twice, %map[%c0, %c0] turn %p fast 1 rooms 1 scratch 0 : tensor<128x64xf16, #layout> -> !tile.tensor_map<f16, [64, 16]>
  }
  tile.return
}
