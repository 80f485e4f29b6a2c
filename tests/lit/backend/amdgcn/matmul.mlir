// A product in half precision for CDNA: 16-byte loads a step ahead, LDS, MFMA in the loop, nothing spilled.
// RUN: tilewright-opt %s --tilewright-code-print=target=gfx942 -o /dev/null | FileCheck %s
// RUN: tilewright-opt %s --tilewright-code-print=target=gfx90a -o /dev/null | FileCheck %s
// RUN: tilewright-opt %s --tilewright-code-print=target=gfx908 -o /dev/null | FileCheck %s

// CHECK-LABEL: matmul:
// CHECK: [[LOOP:.LBB0_[0-9]+]]:
// CHECK: ds_write_b128
// CHECK: s_barrier
// CHECK-COUNT-4: global_load_dwordx4
// CHECK-NOT: vmcnt
// CHECK: v_mfma_f32_32x32x8
// CHECK: s_cbranch_{{.*}} [[LOOP]]
// CHECK: global_store
// CHECK: .private_segment_fixed_size: 0
// CHECK: .sgpr_spill_count: 0
// CHECK: .vgpr_spill_count: 0

tile.kernel @matmul(%a: !tile.buffer<f16, () -> (4096, 4096)>, %b: !tile.buffer<f16, () -> (4096, 4096)>, %bias: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f16, () -> (4096, 4096)>)
    attributes {grid = affine_map<() -> (1024, 1, 1)>, schedule = #tile.schedule<matmul, tile = [128, 128], reduce = [32], warps = 4, stages = 3>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> ((d0 floordiv 32) * 128)(%p)
  %n = tile.size (d0) -> ((d0 mod 32) * 128)(%p)
  %c0 = arith.constant 0 : index
  %ck = arith.constant 4096 : index
  %step = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> (tensor<128x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (4096, 4096)> -> tensor<128x32xf16>
    %w = tile.load %b[%k, %n] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (4096, 4096)> -> tensor<32x128xf16>
    %d = tile.dot %x, %w, %c : tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %bv = tile.load %bias[%c0, %n] bounds () -> (1, 4096) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> (4096)> -> tensor<1x128xf32>
  %bb = tile.broadcast %bv : tensor<1x128xf32> -> tensor<128x128xf32>
  %s = arith.addf %acc, %bb : tensor<128x128xf32>
  %h = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : tensor<128x128xf16> -> !tile.buffer<f16, () -> (4096, 4096)>
  tile.return
}
