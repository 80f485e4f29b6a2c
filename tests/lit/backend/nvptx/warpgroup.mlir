// A product in half precision on Hopper: asynchronous instructions that read shared memory, which overlap with the next step, and results
// that lanes exchange for stores of 16 bytes.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s
// Other targets multiply the same tiles with their own instructions.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_80 -o /dev/null | FileCheck %s --check-prefix=AMPERE

// CHECK-LABEL: .entry matmul(
// CHECK: cp.async.cg.shared.global
// CHECK: cp.async.commit_group
// CHECK: wgmma.fence.sync.aligned
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.commit_group.sync.aligned
// CHECK-NEXT: wgmma.wait_group.sync.aligned {{[ \t]*}}1
// CHECK: cp.async.wait_group {{[ \t]*}}1
// CHECK-NEXT: fence.proxy.async.shared::cta
// CHECK-NEXT: bar.sync {{[ \t]*}}0
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK-NOT: .local
// CHECK: shfl.sync.bfly
// CHECK-NOT: st.global.b32
// CHECK: st.global.v4.b32

// AMPERE-LABEL: .entry matmul(
// AMPERE-NOT: wgmma
// AMPERE: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// AMPERE: st.global.v4.b32

tile.kernel @matmul(%a: !tile.buffer<f16, () -> (4096, 4096)>, %b: !tile.buffer<f16, () -> (4096, 4096)>, %bias: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f16, () -> (4096, 4096)>)
    attributes {grid = affine_map<() -> (1024, 1, 1)>, schedule = #tile.schedule<matmul, tile = [128, 128], reduce = [64], warps = 8, stages = 4>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> ((d0 floordiv 32) * 128)(%p)
  %n = tile.size (d0) -> ((d0 mod 32) * 128)(%p)
  %c0 = arith.constant 0 : index
  %ck = arith.constant 4096 : index
  %step = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> (tensor<128x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (4096, 4096)> -> tensor<128x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (4096, 4096)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %c : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %bv = tile.load %bias[%c0, %n] bounds () -> (1, 4096) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> (4096)> -> tensor<1x128xf32>
  %bb = tile.broadcast %bv : tensor<1x128xf32> -> tensor<128x128xf32>
  %s = arith.addf %acc, %bb : tensor<128x128xf32>
  %h = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : tensor<128x128xf16> -> !tile.buffer<f16, () -> (4096, 4096)>
  tile.return
}
