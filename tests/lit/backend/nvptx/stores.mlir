// Results of roles that the copy engine stores, where that is asked for.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a},tilewright-place-stage-stores{target=sm_90a from=2},tilewright-place-allocate-shared{target=sm_90a}),tilewright-code-print{target=sm_90a})" -o /dev/null | FileCheck %s

// Blocks that take several programs have the copy engine store their results. Each warp has two rooms.
// CHECK-LABEL: .entry stores(
// No sum is converted before the branch that waits for room, else ptxas serializes the loop's matrix products.
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK-NOT: {{tid.x|cvt.rn.f16}}
// CHECK: cp.async.bulk.wait_group.read 1;
// CHECK: bar.warp.sync
// CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: {{st.shared|stmatrix}}
// CHECK: fence.proxy.async.shared::cta
// CHECK-NEXT: bar.warp.sync
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// CHECK: cp.async.bulk.commit_group;
// CHECK: cp.async.bulk.wait_group.read 1;
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// CHECK: cp.async.bulk.commit_group;
// CHECK-NOT: st.global
// CHECK: cp.async.bulk.wait_group.read 0;
tile.kernel @stores(%a: !tile.buffer<f16, () -> (9600, 512)>, %b: !tile.buffer<f16, () -> (512, 256)>,
                    %y: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// Where registers are short, as they are with rows that only running tells, the thread's number is read anew behind the loop
// over steps, so that the epilogue's addresses take none from that loop.
// CHECK-LABEL: .entry unknown_rows(
// CHECK: mov.u32 %r{{[0-9]+}}, %tid.x;
// CHECK-NOT: tid.x
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK-NOT: cvt.rn.f16
// CHECK: mov.u32 %r{{[0-9]+}}, %tid.x;
// CHECK-NOT: tid.x
// CHECK: cp.async.bulk.wait_group.read 1;
tile.kernel @unknown_rows(%a: !tile.buffer<f16, ()[s0] -> (s0 * 64, 512)>, %b: !tile.buffer<f16, () -> (512, 256)>,
                          %y: !tile.buffer<f16, ()[s0] -> (s0 * 64, 256)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (s0 * 2, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds ()[s0] -> (s0 * 64, 512) map (d0, d1)[s0] -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (s0 * 64, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds ()[s0] -> (512, 256) map (d0, d1)[s0] -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds ()[s0] -> (s0 * 64, 256) map (d0, d1)[s0] -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, ()[s0] -> (s0 * 64, 256)>
  tile.return
}

// Rows of an odd number of halves: two are rounded at once, and written where they begin in a chunk; seven of eight lanes store
// a chunk each, and all of them an element of the first and last.
// CHECK-LABEL: .entry odd_rows(
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK-NOT: cvt.rn.f16.f32
// CHECK: bar.warp.sync
// CHECK: cvt.rn.f16x2.f32
// CHECK-COUNT-64: st.shared.b16
// CHECK-NOT: st.global
// CHECK: bar.warp.sync
// CHECK: ld.shared.v4
// CHECK-NEXT: st.global.v4
// CHECK: ld.shared.b16
// CHECK: st.global.b16
tile.kernel @odd_rows(%a: !tile.buffer<f16, () -> (9600, 512)>, %b: !tile.buffer<f16, () -> (255, 512)>,
                 %y: !tile.buffer<f16, () -> (9600, 255)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 255) map (d0, d1) -> (d1, d0) : !tile.buffer<f16, () -> (255, 512)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 255) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 255)>
  tile.return
}
