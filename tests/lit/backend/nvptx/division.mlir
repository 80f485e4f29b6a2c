// A divisor that is known to be normal and not too large needs a reciprocal only; others are scaled first (div.full).
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_80 -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry sigmoid(
// CHECK-NOT: div.full
// CHECK: rcp.approx.ftz.f32
// CHECK-NOT: div.full
tile.kernel @sigmoid(%x: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f32, () -> (4096)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024], warps = 4>} {
  %p = tile.program_id 0
  %o = tile.size (d0) -> (d0 * 1024)(%p)
  %v = tile.load %x[%o] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f32, () -> (4096)> -> tensor<1024xf32>
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %e = math.exp %v : tensor<1024xf32>
  %s = arith.addf %e, %one : tensor<1024xf32>
  %q = arith.divf %one, %s : tensor<1024xf32>
  tile.store %q, %y[%o] bounds () -> (4096) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (4096)>
  tile.return
}

// The divisor may pass 2^126 where the dividend is large too.
// CHECK-LABEL: .entry swish(
// CHECK: div.full.f32
tile.kernel @swish(%x: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f32, () -> (4096)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024], warps = 4>} {
  %p = tile.program_id 0
  %o = tile.size (d0) -> (d0 * 1024)(%p)
  %v = tile.load %x[%o] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f32, () -> (4096)> -> tensor<1024xf32>
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %e = math.exp %v : tensor<1024xf32>
  %s = arith.addf %e, %one : tensor<1024xf32>
  %q = arith.divf %v, %s : tensor<1024xf32>
  tile.store %q, %y[%o] bounds () -> (4096) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (4096)>
  tile.return
}

// A half's magnitude is bounded.
// CHECK-LABEL: .entry softsign(
// CHECK-NOT: div.full
// CHECK: rcp.approx.ftz.f32
tile.kernel @softsign(%x: !tile.buffer<f16, () -> (4096)>, %y: !tile.buffer<f32, () -> (4096)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024], warps = 4>} {
  %p = tile.program_id 0
  %o = tile.size (d0) -> (d0 * 1024)(%p)
  %h = tile.load %x[%o] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f16, () -> (4096)> -> tensor<1024xf16>
  %v = arith.extf %h : tensor<1024xf16> to tensor<1024xf32>
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %a = math.absf %v : tensor<1024xf32>
  %s = arith.addf %a, %one : tensor<1024xf32>
  %q = arith.divf %v, %s : tensor<1024xf32>
  tile.store %q, %y[%o] bounds () -> (4096) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (4096)>
  tile.return
}
