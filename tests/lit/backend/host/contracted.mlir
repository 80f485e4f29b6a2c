// A product is added to by one instruction only where it is not rounded: x times a power of two of at most 1. The
// product with 2 may overflow where the sum does not.
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v3 -o /dev/null | FileCheck %s

// CHECK-LABEL: eighth:
// CHECK-NOT: vmulps
// CHECK: vfmsub{{.*}}ps
// CHECK-NOT: vmulps
// CHECK: retq
tile.kernel @eighth(%x: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f32, () -> (4096)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024]>} {
  %p = tile.program_id 0
  %i = tile.size (d0) -> (d0 * 1024)(%p)
  %v = tile.load %x[%i] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f32, () -> (4096)> -> tensor<1024xf32>
  %c = arith.constant dense<0.125> : tensor<1024xf32>
  %s = arith.mulf %v, %c : tensor<1024xf32>
  %r = arith.subf %s, %v : tensor<1024xf32>
  tile.store %r, %y[%i] bounds () -> (4096) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (4096)>
  tile.return
}

// CHECK-LABEL: tenth:
// CHECK-NOT: vfm
// CHECK: vmulps
// CHECK-NOT: vfm
// CHECK: retq
tile.kernel @tenth(%x: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f32, () -> (4096)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024]>} {
  %p = tile.program_id 0
  %i = tile.size (d0) -> (d0 * 1024)(%p)
  %v = tile.load %x[%i] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f32, () -> (4096)> -> tensor<1024xf32>
  %c = arith.constant dense<0.1> : tensor<1024xf32>
  %s = arith.mulf %v, %c : tensor<1024xf32>
  %r = arith.addf %s, %v : tensor<1024xf32>
  tile.store %r, %y[%i] bounds () -> (4096) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (4096)>
  tile.return
}

// CHECK-LABEL: twice:
// CHECK-NOT: vfm
// CHECK: retq
tile.kernel @twice(%x: !tile.buffer<f32, () -> (4096)>, %z: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f32, () -> (4096)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024]>} {
  %p = tile.program_id 0
  %i = tile.size (d0) -> (d0 * 1024)(%p)
  %v = tile.load %x[%i] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f32, () -> (4096)> -> tensor<1024xf32>
  %w = tile.load %z[%i] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f32, () -> (4096)> -> tensor<1024xf32>
  %c = arith.constant dense<2.0> : tensor<1024xf32>
  %s = arith.mulf %v, %c : tensor<1024xf32>
  %r = arith.subf %s, %w : tensor<1024xf32>
  tile.store %r, %y[%i] bounds () -> (4096) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (4096)>
  tile.return
}
