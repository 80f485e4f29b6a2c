// Shared sums in machine code: 16 bytes a thread at a time to the workspace, a fence before the count and one behind it, and what the block's threads wait for.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_80 -o /dev/null | FileCheck %s --check-prefix=PTX
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s --check-prefix=PTX
// RUN: tilewright-opt %s --tilewright-code-print=target=gfx942 -o /dev/null | FileCheck %s --check-prefix=AMD

// Two workspaces behind the three buffers, then the error word.
// PTX-LABEL: .entry shared(
// PTX: shared_param_5
// PTX-NOT: shared_param_6
// PTX: st.global.v4.b32
// PTX-NEXT: st.global.v4.b32
// PTX: bar.sync {{[ \t]*}}0
// PTX: bra
// PTX: fence.acq_rel.gpu
// PTX-NEXT: atom.global.inc.u32 {{[ \t]*}}[[COUNT:%r[0-9]+]], [%rd{{[0-9]+}}], 3;
// PTX-NEXT: fence.acq_rel.gpu
// PTX: setp.eq.b32 {{.*}}, [[COUNT]], 3;
// PTX: st.shared.b32
// PTX: bar.sync {{[ \t]*}}0
// PTX: ld.shared.b32
// PTX: bra
// PTX-COUNT-8: ld.global.v4.b32

// Every wave waits for its own stores, and drops what its cache holds.
// AMD-LABEL: shared:
// AMD: global_store_dwordx4
// AMD: buffer_wbl2 sc1
// AMD-NEXT: s_waitcnt vmcnt(0)
// AMD-NEXT: buffer_inv sc1
// AMD: s_barrier
// AMD: s_cbranch_execz
// AMD: global_atomic_inc {{.*}} sc0
// AMD: s_waitcnt vmcnt(0)
// AMD-NEXT: buffer_inv sc1
// AMD: ds_write_b32
// AMD: s_barrier
// AMD: buffer_inv sc1
// AMD: ds_read_b32
// AMD: s_cbranch
// AMD: global_load_dwordx4
tile.kernel @shared(%a: !tile.buffer<f16, () -> (32, 512)>, %b: !tile.buffer<f16, () -> (512, 32)>,
                    %y: !tile.buffer<f32, () -> (32, 32)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [32, 32], reduce = [32], warps = 4, stages = 3, parts = 4>} {
  %c0 = arith.constant 0 : index
  %end = arith.constant 512 : index
  %step = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%c = %zero) -> (tensor<32x32xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (32, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (32, 512)> -> tensor<32x32xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 32) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 32)> -> tensor<32x32xf16>
    %d = tile.dot %x, %w, %c : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    scf.yield %d : tensor<32x32xf32>
  }
  tile.store %acc, %y[%c0, %c0] bounds () -> (32, 32) map (d0, d1) -> (d0, d1) : tensor<32x32xf32> -> !tile.buffer<f32, () -> (32, 32)>
  tile.return
}
