// Slots of operands come first, aligned to the pattern of their chunks, then what warps exchange.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_80},tilewright-place-stage-operands,tilewright-place-allocate-shared{target=sm_80}))" | FileCheck %s

// CHECK: tile.kernel @product({{.*}}shared_bytes = 8192 : i64, threads = 128 : i64
// CHECK: tile.shared_alloc offset 0
// CHECK: tile.shared_alloc offset 4096
tile.kernel @product(%a: !tile.buffer<f16, () -> (64, 256)>, %b: !tile.buffer<f16, () -> (256, 64)>,
                     %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 256) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (64, 256)> -> tensor<64x32xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (256, 64) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (256, 64)> -> tensor<32x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1)
      : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// Four warps share a row: each leaves one number for each of the others.
// CHECK: tile.kernel @row({{.*}}shared_bytes = 256 : i64, threads = 128 : i64
// CHECK: tile.reduce <max> %{{.*}} dim 1 {scratch = 0 : i64}
// CHECK: tile.reduce <sum> %{{.*}} dim 1 {scratch = 128 : i64}
tile.kernel @row(%x: !tile.buffer<f32, () -> (1024)>, %y: !tile.buffer<f32, () -> (1)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (1, 1024) map (d0, d1) -> (d1)
      : !tile.buffer<f32, () -> (1024)> -> tensor<1x1024xf32>
  %m = tile.reduce <max> %v dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %q = arith.divf %m, %s : tensor<1x1xf32>
  tile.store %q, %y[%c0, %c0] bounds () -> (1, 1) map (d0, d1) -> (d1)
      : tensor<1x1xf32> -> !tile.buffer<f32, () -> (1)>
  tile.return
}
