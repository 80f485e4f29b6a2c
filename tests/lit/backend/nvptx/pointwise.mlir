// Elementwise kernels move 16 bytes at a time; where bounds may cut a vector, the block decides once for the whole tile.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_80 -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry chain(
// CHECK: .maxntid 128
// CHECK: ld.global.v4.b32
// CHECK: ld.global.nc.v4.b32
// CHECK-NOT: ld.global.{{(nc.)?}}b
// CHECK: ex2.approx.ftz.f32
// CHECK: st.global.v4.b32
tile.kernel @chain(%x: !tile.buffer<f16, () -> (8192, 8192)>, %bias: !tile.buffer<f16, () -> (8192)> {graph.constant}, %y: !tile.buffer<f16, () -> (8192, 8192)>)
    attributes {grid = affine_map<() -> (65536, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1, 1024], warps = 4>} {
  %p = tile.program_id 0
  %row = tile.size (d0) -> (d0 floordiv 8)(%p)
  %col = tile.size (d0) -> ((d0 mod 8) * 1024)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%row, %col] bounds () -> (8192, 8192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (8192, 8192)> -> tensor<1x1024xf16>
  %b = tile.load %bias[%c0, %col] bounds () -> (1, 8192) map (d0, d1) -> (d1) : !tile.buffer<f16, () -> (8192)> -> tensor<1x1024xf16>
  %vf = arith.extf %v : tensor<1x1024xf16> to tensor<1x1024xf32>
  %bf = arith.extf %b : tensor<1x1024xf16> to tensor<1x1024xf32>
  %s = arith.addf %vf, %bf : tensor<1x1024xf32>
  %t = math.tanh %s : tensor<1x1024xf32>
  %e = math.exp %t : tensor<1x1024xf32>
  %h = arith.truncf %e : tensor<1x1024xf32> to tensor<1x1024xf16>
  tile.store %h, %y[%row, %col] bounds () -> (8192, 8192) map (d0, d1) -> (d0, d1) : tensor<1x1024xf16> -> !tile.buffer<f16, () -> (8192, 8192)>
  tile.return
}

// CHECK-LABEL: .entry ragged(
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-COUNT-8: ld.global.b32
// CHECK-COUNT-2: st.global.v4.b32
// CHECK-COUNT-8: st.global.b32
tile.kernel @ragged(%x: !tile.buffer<f32, ()[s0] -> (s0)>, %y: !tile.buffer<f32, ()[s0] -> (s0)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 1024, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024], warps = 4>} {
  %p = tile.program_id 0
  %c = arith.constant 1024 : index
  %o = arith.muli %p, %c : index
  %v = tile.load %x[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : !tile.buffer<f32, ()[s0] -> (s0)> -> tensor<1024xf32>
  %two = arith.constant dense<2.0> : tensor<1024xf32>
  %w = arith.mulf %v, %two : tensor<1024xf32>
  tile.store %w, %y[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, ()[s0] -> (s0)>
  tile.return
}
