// A function of sums of rows is computed for a vector of rows, not for one at a time.
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v3 -o /dev/null | FileCheck %s --check-prefixes=CHECK,V3
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s --check-prefixes=CHECK,V4

// CHECK-LABEL: inverse:
// CHECK-NOT: vdivss
// V3: vdivps {{.*}}%ymm
// V4: vdivps {{.*}}%zmm
// CHECK-NOT: vdivss
// CHECK: retq
tile.kernel @inverse(%x: !tile.buffer<f32, () -> (1024, 64)>, %y: !tile.buffer<f32, () -> (1024)>)
    attributes {grid = affine_map<() -> (64, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [16], reduce = [64]>} {
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 16)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (1024, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (1024, 64)> -> tensor<16x64xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<16x64xf32> -> tensor<16x1xf32>
  %one = arith.constant dense<1.0> : tensor<16x1xf32>
  %q = arith.divf %one, %s : tensor<16x1xf32>
  tile.store %q, %y[%r, %c0] bounds () -> (1024, 1) map (d0, d1) -> (d0) : tensor<16x1xf32> -> !tile.buffer<f32, () -> (1024)>
  tile.return
}

// Rows of a window are summed without masks wherever they lie inside of the image.
// CHECK-LABEL: padded:
// V3: vaddps {{-?[0-9]+\(.*\)}}, %ymm
// V4: vaddps {{-?[0-9]+\(.*\)}}, %zmm
// CHECK: retq
tile.kernel @padded(%x: !tile.buffer<f32, () -> (2048)>, %y: !tile.buffer<f32, () -> (1024)>)
    attributes {grid = affine_map<() -> (64, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [16], reduce = [256]>} {
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 16)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (1024, 256) map (d0, d1) -> (d0 * 2 + d1 - 127) guard [0] fill 0.0 : f32
      : !tile.buffer<f32, () -> (2048)> -> tensor<16x256xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<16x256xf32> -> tensor<16x1xf32>
  tile.store %s, %y[%r, %c0] bounds () -> (1024, 1) map (d0, d1) -> (d0) : tensor<16x1xf32> -> !tile.buffer<f32, () -> (1024)>
  tile.return
}
