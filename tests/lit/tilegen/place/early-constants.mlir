// The first steps' copies of constants start before the wait for the kernels before this one, those of the left side behind it.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-stage-operands,tilewright-place-pipeline-loops{target=sm_90a}))" | FileCheck %s
// Kernels for sm_80 start when the ones before them have ended.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_80},tilewright-place-stage-operands,tilewright-place-pipeline-loops{target=sm_80}))" | FileCheck %s --check-prefix=SM80

// CHECK-LABEL: tile.kernel @weights
// CHECK: tile.shared_copy %arg1
// CHECK: tile.shared_copy %arg1
// CHECK-NOT: tile.copy_commit
// CHECK: tile.await_kernels
// CHECK-NOT: tile.shared_copy %arg1
// CHECK: tile.shared_copy %arg0
// CHECK: tile.copy_commit
// CHECK: tile.shared_copy %arg0
// CHECK: tile.copy_commit
// CHECK: scf.for
// CHECK: tile.shared_copy %arg0
// CHECK: tile.shared_copy %arg1
// CHECK: tile.copy_commit
// SM80-LABEL: tile.kernel @weights
// SM80-NOT: tile.await_kernels
// SM80: tile.kernel @inputs
tile.kernel @weights(%a: !tile.buffer<f16, () -> (16, 512)>, %b: !tile.buffer<f16, () -> (512, 64)> {graph.constant},
                     %y: !tile.buffer<f32, () -> (16, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<16x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (16, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (16, 512)> -> tensor<16x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<16x64xf16>, tensor<64x64xf16>, tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (16, 64) map (d0, d1) -> (d0, d1) : tensor<16x64xf32> -> !tile.buffer<f32, () -> (16, 64)>
  tile.return
}

// -----

// A product of the model's inputs has nothing to wait for that its constants could be ahead of.
// CHECK-LABEL: tile.kernel @inputs
// CHECK-NOT: tile.await_kernels
// CHECK: tile.return
tile.kernel @inputs(%a: !tile.buffer<f16, () -> (16, 512)> {graph.input}, %b: !tile.buffer<f16, () -> (512, 64)> {graph.constant},
                    %y: !tile.buffer<f32, () -> (16, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<16x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (16, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (16, 512)> -> tensor<16x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<16x64xf16>, tensor<64x64xf16>, tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (16, 64) map (d0, d1) -> (d0, d1) : tensor<16x64xf32> -> !tile.buffer<f32, () -> (16, 64)>
  tile.return
}

// -----

// Nor do sizes that only running tells keep constants back.
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.shared_copy %arg1
// CHECK: tile.await_kernels
// CHECK: tile.shared_copy %arg0
// CHECK: scf.for
tile.kernel @rows(%a: !tile.buffer<f16, ()[s0] -> (s0, 512)>, %b: !tile.buffer<f16, () -> (512, 64)> {graph.constant},
                  %y: !tile.buffer<f32, ()[s0] -> (s0, 64)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 16, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 16)(%p)
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<16x64xf32>) {
    %x = tile.load %a[%m, %k] bounds ()[s0] -> (s0, 512) map (d0, d1)[s0] -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (s0, 512)> -> tensor<16x64xf16>
    %w = tile.load %b[%k, %c0] bounds ()[s0] -> (512, 64) map (d0, d1)[s0] -> (d0, d1) : !tile.buffer<f16, () -> (512, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<16x64xf16>, tensor<64x64xf16>, tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tile.store %sum, %y[%m, %c0] bounds ()[s0] -> (s0, 64) map (d0, d1)[s0] -> (d0, d1) : tensor<16x64xf32> -> !tile.buffer<f32, ()[s0] -> (s0, 64)>
  tile.return
}
