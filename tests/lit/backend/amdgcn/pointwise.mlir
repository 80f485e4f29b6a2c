// The same kernel for AMD: 16-byte loads, nothing in private memory, nothing spilled.
// RUN: tilewright-opt %s --tilewright-code-print=target=gfx942 -o /dev/null | FileCheck %s
// RUN: tilewright-opt %s --tilewright-code-print=target=gfx90a -o /dev/null | FileCheck %s

// CHECK-LABEL: chain:
// CHECK: global_load_dwordx4
// CHECK: v_exp_f32
// CHECK: global_store_dwordx4
// CHECK: .private_segment_fixed_size: 0
// CHECK: .sgpr_spill_count: 0
// CHECK: .vgpr_spill_count: 0
tile.kernel @chain(%x: !tile.buffer<f16, () -> (8192, 8192)>, %bias: !tile.buffer<f16, () -> (8192)>, %y: !tile.buffer<f16, () -> (8192, 8192)>)
    attributes {grid = affine_map<() -> (32768, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1, 2048], warps = 4>} {
  %p = tile.program_id 0
  %row = tile.size (d0) -> (d0 floordiv 4)(%p)
  %col = tile.size (d0) -> ((d0 mod 4) * 2048)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%row, %col] bounds () -> (8192, 8192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (8192, 8192)> -> tensor<1x2048xf16>
  %b = tile.load %bias[%c0, %col] bounds () -> (1, 8192) map (d0, d1) -> (d1) : !tile.buffer<f16, () -> (8192)> -> tensor<1x2048xf16>
  %vf = arith.extf %v : tensor<1x2048xf16> to tensor<1x2048xf32>
  %bf = arith.extf %b : tensor<1x2048xf16> to tensor<1x2048xf32>
  %s = arith.addf %vf, %bf : tensor<1x2048xf32>
  %t = math.tanh %s : tensor<1x2048xf32>
  %e = math.exp %t : tensor<1x2048xf32>
  %h = arith.truncf %e : tensor<1x2048xf32> to tensor<1x2048xf16>
  tile.store %h, %y[%row, %col] bounds () -> (8192, 8192) map (d0, d1) -> (d0, d1) : tensor<1x2048xf16> -> !tile.buffer<f16, () -> (8192, 8192)>
  tile.return
}
