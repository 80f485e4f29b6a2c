// Inputs of a concatenation are touched only where a lane of theirs is in the vector: elsewhere memory may not be mapped, and masks that suppress
// faults are slow.
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v3 -o /dev/null | FileCheck %s --check-prefixes=CHECK,V3
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s --check-prefixes=CHECK,V4

// CHECK-LABEL: join:
// V3: vmaskmovps
// V4: {%k{{[0-9]}}} {z}
// CHECK: {{^[[:space:]]j[a-z]+}}
// V3: vmaskmovps
// V4: {%k{{[0-9]}}} {z}
// CHECK: retq
tile.kernel @join(%x: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f32, () -> (4000)>, %z: !tile.buffer<f32, () -> (8096)>)
    attributes {grid = affine_map<() -> (1012, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [8]>} {
  %p = tile.program_id 0
  %i = tile.size (d0) -> (d0 * 8)(%p)
  %a = tile.load %x[%i] bounds () -> (8096) map (d0) -> (d0) guard [0] fill 0.0 : f32 : !tile.buffer<f32, () -> (4096)> -> tensor<8xf32>
  %b = tile.load %y[%i] bounds () -> (8096) map (d0) -> (d0 - 4096) guard [0] fill 0.0 : f32 : !tile.buffer<f32, () -> (4000)> -> tensor<8xf32>
  %n = tile.coordinate %i dim 0 : tensor<8xi64>
  %end = arith.constant dense<4096> : tensor<8xi64>
  %first = arith.cmpi slt, %n, %end : tensor<8xi64>
  %r = arith.select %first, %a, %b : tensor<8xi1>, tensor<8xf32>
  tile.store %r, %z[%i] bounds () -> (8096) map (d0) -> (d0) : tensor<8xf32> -> !tile.buffer<f32, () -> (8096)>
  tile.return
}
