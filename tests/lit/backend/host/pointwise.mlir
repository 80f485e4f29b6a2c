// An elementwise chain for x86: whole vectors of the level, half precision converted on the way, no call, no spill.
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v3 -o /dev/null | FileCheck %s --check-prefixes=CHECK,V3
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s --check-prefixes=CHECK,V4

// CHECK-LABEL: scale:
// CHECK-NOT: call
// V3: vcvtph2ps {{.*}}, %ymm
// V3: vmulps {{.*}}%ymm
// V4: vcvtph2ps {{.*}}, %zmm
// V4: vmulps {{.*}}%zmm
// CHECK-NOT: (%rsp), %{{[yz]}}mm
// CHECK: retq
tile.kernel @scale(%x: !tile.buffer<f16, ()[s0] -> (s0)>, %y: !tile.buffer<f32, ()[s0] -> (s0)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 1024, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024]>} {
  %p = tile.program_id 0
  %i = tile.size (d0) -> (d0 * 1024)(%p)
  %v = tile.load %x[%i] bounds ()[s0] -> (s0) map (d0) -> (d0) : !tile.buffer<f16, ()[s0] -> (s0)> -> tensor<1024xf16>
  %w = arith.extf %v : tensor<1024xf16> to tensor<1024xf32>
  %half = arith.constant dense<0.3> : tensor<1024xf32>
  %r = arith.mulf %w, %half : tensor<1024xf32>
  tile.store %r, %y[%i] bounds ()[s0] -> (s0) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, ()[s0] -> (s0)>
  tile.return
}
