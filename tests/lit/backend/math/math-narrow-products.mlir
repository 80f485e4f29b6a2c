// RUN: tilewright-opt %s --tilewright-math-narrow-products | FileCheck %s

// Numbers of four bits less a zero point, times a scale: all of it is exactly f16 until the product is rounded.
// CHECK-LABEL: tile.kernel @four_bits
// CHECK: %[[Q:.*]] = arith.sitofp %{{.*}} : tensor<8x16xi32> to tensor<8x16xf16>
// CHECK: %[[Z:.*]] = arith.uitofp %{{.*}} : tensor<8x16xi8> to tensor<8x16xf16>
// CHECK: %[[C:.*]] = arith.subf %[[Q]], %[[Z]] : tensor<8x16xf16>
// CHECK: %[[W:.*]] = arith.mulf %[[C]], %{{.*}} : tensor<8x16xf16>
// CHECK: tile.store %[[W]]
// bf16 has eight digits: bytes are such numbers, and so is the constant 8, but not a difference of bytes that may be 510.
// CHECK-LABEL: tile.kernel @brain_floats
// CHECK: arith.subf %{{.*}} : tensor<8x16xbf16>
// CHECK: arith.mulf %{{.*}} : tensor<8x16xbf16>
// CHECK-LABEL: tile.kernel @too_many_digits
// CHECK: arith.mulf %{{.*}} : tensor<8x16xf32>
// CHECK: arith.truncf
// A byte that was extended with its sign is large for who reads it without one.
// CHECK-LABEL: tile.kernel @signs
// CHECK: arith.uitofp %{{.*}} : tensor<8x16xi32> to tensor<8x16xf32>
// CHECK: arith.uitofp %{{.*}} : tensor<8x16xi32> to tensor<8x16xf32>
// CHECK: arith.truncf
// CHECK: arith.truncf
// What is rounded twice, or is no half, stays.
// CHECK-LABEL: tile.kernel @singles
// CHECK: arith.mulf %{{.*}} : tensor<8x16xf32>
// CHECK: arith.truncf
tile.kernel @four_bits(%b: !tile.buffer<i8, () -> (8, 16)>, %z: !tile.buffer<i8, () -> (8, 16)>, %s: !tile.buffer<f16, () -> (8, 16)>, %y: !tile.buffer<f16, () -> (8, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %mask = arith.constant dense<15> : tensor<8x16xi32>
  %bytes = tile.load %b[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <i8, () -> (8, 16)> -> tensor<8x16xi8>
  %words = arith.extui %bytes : tensor<8x16xi8> to tensor<8x16xi32>
  %n = arith.andi %words, %mask : tensor<8x16xi32>
  %q = arith.sitofp %n : tensor<8x16xi32> to tensor<8x16xf32>
  %zero = tile.load %z[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <i8, () -> (8, 16)> -> tensor<8x16xi8>
  %zf = arith.uitofp %zero : tensor<8x16xi8> to tensor<8x16xf32>
  %centered = arith.subf %q, %zf : tensor<8x16xf32>
  %scale = tile.load %s[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <f16, () -> (8, 16)> -> tensor<8x16xf16>
  %wide = arith.extf %scale : tensor<8x16xf16> to tensor<8x16xf32>
  %w = arith.mulf %centered, %wide : tensor<8x16xf32>
  %h = arith.truncf %w : tensor<8x16xf32> to tensor<8x16xf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xf16> -> <f16, () -> (8, 16)>
  tile.return
}
tile.kernel @brain_floats(%b: !tile.buffer<i8, () -> (8, 16)>, %s: !tile.buffer<bf16, () -> (8, 16)>, %y: !tile.buffer<bf16, () -> (8, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %eight = arith.constant dense<8.0> : tensor<8x16xf32>
  %bytes = tile.load %b[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <i8, () -> (8, 16)> -> tensor<8x16xi8>
  %q = arith.uitofp %bytes : tensor<8x16xi8> to tensor<8x16xf32>
  %centered = arith.subf %q, %eight : tensor<8x16xf32>
  %scale = tile.load %s[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <bf16, () -> (8, 16)> -> tensor<8x16xbf16>
  %wide = arith.extf %scale : tensor<8x16xbf16> to tensor<8x16xf32>
  %w = arith.mulf %centered, %wide : tensor<8x16xf32>
  %h = arith.truncf %w : tensor<8x16xf32> to tensor<8x16xbf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xbf16> -> <bf16, () -> (8, 16)>
  tile.return
}
tile.kernel @too_many_digits(%b: !tile.buffer<i8, () -> (8, 16)>, %s: !tile.buffer<bf16, () -> (8, 16)>, %y: !tile.buffer<bf16, () -> (8, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %bytes = tile.load %b[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <i8, () -> (8, 16)> -> tensor<8x16xi8>
  %q = arith.uitofp %bytes : tensor<8x16xi8> to tensor<8x16xf32>
  %twice = arith.addf %q, %q : tensor<8x16xf32>
  %scale = tile.load %s[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <bf16, () -> (8, 16)> -> tensor<8x16xbf16>
  %wide = arith.extf %scale : tensor<8x16xbf16> to tensor<8x16xf32>
  %w = arith.mulf %twice, %wide : tensor<8x16xf32>
  %h = arith.truncf %w : tensor<8x16xf32> to tensor<8x16xbf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xbf16> -> <bf16, () -> (8, 16)>
  tile.return
}
tile.kernel @signs(%b: !tile.buffer<i8, () -> (8, 16)>, %s: !tile.buffer<f16, () -> (8, 16)>, %y: !tile.buffer<f16, () -> (8, 16)>, %z: !tile.buffer<f16, () -> (8, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %four = arith.constant dense<4> : tensor<8x16xi32>
  %bytes = tile.load %b[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <i8, () -> (8, 16)> -> tensor<8x16xi8>
  %words = arith.extsi %bytes : tensor<8x16xi8> to tensor<8x16xi32>
  %q = arith.uitofp %words : tensor<8x16xi32> to tensor<8x16xf32>
  %shifted = arith.shrui %words, %four : tensor<8x16xi32>
  %p = arith.uitofp %shifted : tensor<8x16xi32> to tensor<8x16xf32>
  %scale = tile.load %s[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <f16, () -> (8, 16)> -> tensor<8x16xf16>
  %wide = arith.extf %scale : tensor<8x16xf16> to tensor<8x16xf32>
  %w = arith.mulf %q, %wide : tensor<8x16xf32>
  %h = arith.truncf %w : tensor<8x16xf32> to tensor<8x16xf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xf16> -> <f16, () -> (8, 16)>
  %v = arith.mulf %p, %wide : tensor<8x16xf32>
  %g = arith.truncf %v : tensor<8x16xf32> to tensor<8x16xf16>
  tile.store %g, %z[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xf16> -> <f16, () -> (8, 16)>
  tile.return
}
tile.kernel @singles(%a: !tile.buffer<f32, () -> (8, 16)>, %s: !tile.buffer<f16, () -> (8, 16)>, %y: !tile.buffer<f16, () -> (8, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <f32, () -> (8, 16)> -> tensor<8x16xf32>
  %scale = tile.load %s[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : <f16, () -> (8, 16)> -> tensor<8x16xf16>
  %wide = arith.extf %scale : tensor<8x16xf16> to tensor<8x16xf32>
  %w = arith.mulf %x, %wide : tensor<8x16xf32>
  %h = arith.truncf %w : tensor<8x16xf32> to tensor<8x16xf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xf16> -> <f16, () -> (8, 16)>
  tile.return
}
