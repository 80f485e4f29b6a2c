// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_80}))" | FileCheck %s
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=gfx942}))" | FileCheck %s --check-prefix=AMD

// Four neighbours in a thread make accesses of 16 bytes; the row's bias has the part of the layout that belongs to its
// columns, so that its broadcast costs nothing.
// CHECK-LABEL: tile.kernel @bias
// CHECK: tile.load {{.*}} -> tensor<4x256xf32, #tile.layout<reg = [1, 2, 512], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
// CHECK: tile.load {{.*}} -> tensor<1x256xf32, #tile.layout<reg = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 0]>>
// AMD-LABEL: tile.kernel @bias
// AMD: tile.load {{.*}} -> tensor<4x256xf32, #tile.layout<reg = [1, 2], lane = [4, 8, 16, 32, 64, 128], warp = [256, 512]>>
tile.kernel @bias(%x: !tile.buffer<f32, () -> (4, 256)>, %b: !tile.buffer<f32, () -> (256)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f32, () -> (4, 256)> -> tensor<4x256xf32>
  %n = tile.load %b[%c0, %c0] bounds () -> (1, 256) map (d0, d1) -> (d1)
      : !tile.buffer<f32, () -> (256)> -> tensor<1x256xf32>
  %w = tile.broadcast %n : tensor<1x256xf32> -> tensor<4x256xf32>
  %s = arith.addf %v, %w : tensor<4x256xf32>
  tile.store %s, %x[%c0, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1)
      : tensor<4x256xf32> -> !tile.buffer<f32, () -> (4, 256)>
  tile.return
}

// The accumulator has the fragment of the target's instruction; half operands have one, and f32 operands as the module wants
// it: three products of tf32 unless it says otherwise. AMD's targets have none for f32.
// CHECK-LABEL: tile.kernel @products
// CHECK: tile.dot {{.*}} {instruction = "mma.m16n8k16"} : {{.*}}, tensor<32x32xf32, #tile.layout<reg = [1, 256, 8], lane = [2, 4, 32, 64, 128], warp = [16, 512]>>
// CHECK-LABEL: tile.kernel @plain
// CHECK: tile.dot {{.*}} {instruction = "mma.m16n8k8.tf32x3"} : {{.*}}, tensor<32x32xf32, #tile.layout<reg = [1, 256, 8], lane = [2, 4, 32, 64, 128], warp = [16, 512]>>
// AMD-LABEL: tile.kernel @products
// AMD: tile.dot {{.*}} {instruction = "mfma.32x32x8x2"}
tile.kernel @products(%a: !tile.buffer<f16, () -> (32, 16)>, %b: !tile.buffer<f16, () -> (16, 32)>,
                      %y: !tile.buffer<f32, () -> (32, 32)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.load %a[%c0, %c0] bounds () -> (32, 16) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f16, () -> (32, 16)> -> tensor<32x16xf16>
  %w = tile.load %b[%c0, %c0] bounds () -> (16, 32) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f16, () -> (16, 32)> -> tensor<16x32xf16>
  %d = tile.dot %x, %w, %zero : tensor<32x16xf16>, tensor<16x32xf16>, tensor<32x32xf32>
  tile.store %d, %y[%c0, %c0] bounds () -> (32, 32) map (d0, d1) -> (d0, d1)
      : tensor<32x32xf32> -> !tile.buffer<f32, () -> (32, 32)>
  tile.return
}
tile.kernel @plain(%a: !tile.buffer<f32, () -> (32, 16)>, %b: !tile.buffer<f32, () -> (16, 32)>,
                   %y: !tile.buffer<f32, () -> (32, 32)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = tile.load %a[%c0, %c0] bounds () -> (32, 16) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f32, () -> (32, 16)> -> tensor<32x16xf32>
  %w = tile.load %b[%c0, %c0] bounds () -> (16, 32) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f32, () -> (16, 32)> -> tensor<16x32xf32>
  %d = tile.dot %x, %w, %zero : tensor<32x16xf32>, tensor<16x32xf32>, tensor<32x32xf32>
  tile.store %d, %y[%c0, %c0] bounds () -> (32, 32) map (d0, d1) -> (d0, d1)
      : tensor<32x32xf32> -> !tile.buffer<f32, () -> (32, 32)>
  tile.return
}
