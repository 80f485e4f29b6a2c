// What stands around the loop of kernels with roles: products of a single step, and loads of what is added.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --tilewright-place-tiles=target=sm_90a | FileCheck %s

// One step has no loop; roles make one of it. The residual and the bias are loaded before it. A model's input is there
// already, so no constant is copied before the wait.
// CHECK-LABEL: tile.kernel @one_step
// CHECK: tile.roles
// CHECK: scf.for %{{.*}} = %{{.*}} to %c20
// CHECK: tile.load %arg2
// CHECK: tile.load %arg3
// CHECK: scf.for
// CHECK: tile.dot
// CHECK: tile.dot_wait 0
// CHECK-NOT: tile.load
// CHECK: tile.store
// CHECK-NOT: tile.await_kernels
tile.kernel @one_step(%a: !tile.buffer<f16, () -> (640, 64)> {graph.input}, %b: !tile.buffer<f16, () -> (64, 256)> {graph.constant},
                      %bias: !tile.buffer<f16, () -> (256)> {graph.constant}, %r: !tile.buffer<f16, () -> (640, 256)>,
                      %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %x = tile.load %a[%m, %c0] bounds () -> (640, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 64)> -> tensor<64x64xf16>
  %w = tile.load %b[%c0, %n] bounds () -> (64, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 256)> -> tensor<64x128xf16>
  %sum = tile.dot %x, %w, %zero : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
  %c = tile.load %bias[%c0, %n] bounds () -> (1, 256) map (d0, d1) -> (d1) : !tile.buffer<f16, () -> (256)> -> tensor<1x128xf16>
  %wide = arith.extf %c : tensor<1x128xf16> to tensor<1x128xf32>
  %rows = tile.broadcast %wide : tensor<1x128xf32> -> tensor<64x128xf32>
  %biased = arith.addf %sum, %rows : tensor<64x128xf32>
  %e = tile.load %r[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 256)> -> tensor<64x128xf16>
  %residual = arith.extf %e : tensor<64x128xf16> to tensor<64x128xf32>
  %all = arith.addf %biased, %residual : tensor<64x128xf32>
  %h = arith.truncf %all : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (640, 256)>
  tile.return
}

// -----

// 128x256 sums on eight warps are 128 registers a thread, of 240; a residual of floats would be 128 more, and stays behind.
// CHECK-LABEL: tile.kernel @too_many
// CHECK: tile.dot
// CHECK: tile.dot_wait 0
// CHECK: tile.load %arg2
tile.kernel @too_many(%a: !tile.buffer<f16, () -> (640, 512)>, %b: !tile.buffer<f16, () -> (512, 256)>,
                      %r: !tile.buffer<f32, () -> (640, 256)>, %y: !tile.buffer<f32, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (5, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [128, 256], reduce = [64], warps = 8, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 128)(%p)
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 512)> -> tensor<128x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x256xf16>
    %d = tile.dot %x, %w, %acc : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %e = tile.load %r[%m, %c0] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (640, 256)> -> tensor<128x256xf32>
  %all = arith.addf %sum, %e : tensor<128x256xf32>
  tile.store %all, %y[%m, %c0] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<128x256xf32> -> !tile.buffer<f32, () -> (640, 256)>
  tile.return
}

// -----

// An operand that is computed is not copied, so there are no roles, and the loop that was made for them goes away.
// CHECK-LABEL: tile.kernel @computed
// CHECK-NOT: scf.for
// CHECK: tile.dot
// expected-remark@+1 {{its copies are started by the warps that multiply because there is no single loop around its products}}
tile.kernel @computed(%a: !tile.buffer<f16, () -> (64, 64)>, %b: !tile.buffer<f16, () -> (64, 64)>,
                      %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 64)> -> tensor<64x64xf16>
  %x2 = arith.negf %x : tensor<64x64xf16>
  %w = tile.load %b[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 64)> -> tensor<64x64xf16>
  %sum = tile.dot %x2, %w, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
