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

// What is read along one dimension and written along another: a thread holds eight columns of four rows, so that its
// loads have 8 bytes and its stores 16.
// CHECK-LABEL: tile.kernel @turned
// CHECK: tile.load {{.*}} -> tensor<64x64xf16, #tile.layout<reg = [1, 2, 4, 64, 128], lane = [8, 16, 32, 256, 512], warp = [1024, 2048]>>
tile.kernel @turned(%x: !tile.buffer<f16, () -> (64, 512)>, %y: !tile.buffer<f16, () -> (512, 64)>)
    attributes {grid = affine_map<() -> (8, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 64)(%p)
  %v = tile.load %x[%r, %c0] bounds () -> (512, 64) map (d0, d1) -> (d1, d0)
      : !tile.buffer<f16, () -> (64, 512)> -> tensor<64x64xf16>
  tile.store %v, %y[%r, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1)
      : tensor<64x64xf16> -> !tile.buffer<f16, () -> (512, 64)>
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

// Sums of 128 and of 64 columns, strips of one tile, are spread over the same warps; the left side is loaded once. The column of
// scales, which both strips read, has the places of either's rows.
// CHECK-LABEL: tile.kernel @strips
// CHECK: tile.load {{.*}} -> tensor<128x1xf32, #tile.layout<reg = [8, 16], lane = [0, 0, 1, 2, 4], warp = [0, 32, 64]>>
// CHECK: %[[LHS:.*]] = tile.load %arg0
// CHECK-NOT: tile.load %arg0
// CHECK: tile.dot %[[LHS]], {{.*}} tensor<128x128xf32, #tile.layout<reg = [1, 1024, 8, 16, 32, 2048], lane = [2, 4, 128, 256, 512], warp = [64, 4096, 8192]>>
// CHECK: tile.dot %[[LHS]], {{.*}} tensor<128x64xf32, #tile.layout<reg = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [32, 2048, 4096]>>
tile.kernel @strips(%a: !tile.buffer<f16, () -> (128, 64)>, %b: !tile.buffer<f16, () -> (64, 192)>,
                   %scale: !tile.buffer<f32, () -> (128)>, %y: !tile.buffer<f32, () -> (128, 192)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [128, 192], reduce = [64], warps = 8>} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %zero2 = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = tile.load %scale[%c0, %c0] bounds () -> (128, 1) map (d0, d1) -> (d0) : !tile.buffer<f32, () -> (128)> -> tensor<128x1xf32>
  %x = tile.load %a[%c0, %c0] bounds () -> (128, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (128, 64)> -> tensor<128x64xf16>
  %w = tile.load %b[%c0, %c0] bounds () -> (64, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 192)> -> tensor<64x128xf16>
  %d = tile.dot %x, %w, %zero : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
  %w2 = tile.load %b[%c0, %c128] bounds () -> (64, 192) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 192)> -> tensor<64x64xf16>
  %d2 = tile.dot %x, %w2, %zero2 : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
  %s1 = tile.broadcast %s : tensor<128x1xf32> -> tensor<128x128xf32>
  %s2 = tile.broadcast %s : tensor<128x1xf32> -> tensor<128x64xf32>
  %e = arith.mulf %d, %s1 : tensor<128x128xf32>
  %e2 = arith.mulf %d2, %s2 : tensor<128x64xf32>
  tile.store %e, %y[%c0, %c0] bounds () -> (128, 192) map (d0, d1) -> (d0, d1) : tensor<128x128xf32> -> !tile.buffer<f32, () -> (128, 192)>
  tile.store %e2, %y[%c0, %c128] bounds () -> (128, 192) map (d0, d1) -> (d0, d1) : tensor<128x64xf32> -> !tile.buffer<f32, () -> (128, 192)>
  tile.return
}

// Rows of an odd length are stored one by one, so they are loaded one by one too: neighbours in memory go to lanes.
// CHECK-LABEL: tile.kernel @odd_rows
// CHECK: tile.load {{.*}} -> tensor<4x256xf16, #tile.layout<reg = [128, 256, 512], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
tile.kernel @odd_rows(%x: !tile.buffer<f16, () -> (64, 256)>, %y: !tile.buffer<f16, () -> (64, 283)>)
    attributes {grid = affine_map<() -> (16, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (64, 256) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f16, () -> (64, 256)> -> tensor<4x256xf16>
  tile.store %v, %y[%c0, %c0] bounds () -> (64, 283) map (d0, d1) -> (d0, d1)
      : tensor<4x256xf16> -> !tile.buffer<f16, () -> (64, 283)>
  tile.return
}
