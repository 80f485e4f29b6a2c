// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @accesses
// CHECK-SAME: grid = #{{.*}}, schedule = #tile.schedule<pointwise, tile = [1, 1024]>
tile.kernel @accesses(%x: !tile.buffer<f32, ()[s0] -> (s0, 1024)>, %ids: !tile.buffer<i64, ()[s0] -> (s0)>, %y: !tile.buffer<f32, ()[s0] -> (s0, 1024)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (1, s0, 1)>, schedule = #tile.schedule<pointwise, tile = [1, 1024]>} {
  %row = tile.program_id 1
  %c0 = arith.constant 0 : index
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] bounds ()[s0] -> (s0, 1024) map (d0, d1) -> (d0 - 1, d1) guard [0] fill 0.000000e+00 : f32
  %v = tile.load %x[%row, %c0] bounds ()[s0] -> (s0, 1024) map (d0, d1) -> (d0 - 1, d1) guard [0] fill 0.0 : f32 : !tile.buffer<f32, ()[s0] -> (s0, 1024)> -> tensor<1x1024xf32>
  // CHECK: tile.size (d0)[s0] -> (d0 floordiv s0)(
  %q = tile.size (d0)[s0] -> (d0 floordiv s0)(%row)
  // CHECK: tile.check %{{.*}} bounds ()[s0] -> (s0, 1024) below ()[s0] -> (s0) site 3
  %i = tile.load %ids[%row, %c0] bounds ()[s0] -> (s0, 1024) map (d0, d1) -> (d0) : !tile.buffer<i64, ()[s0] -> (s0)> -> tensor<1x1024xi64>
  %safe = tile.check %i[%row, %c0] bounds ()[s0] -> (s0, 1024) below ()[s0] -> (s0) site 3 : tensor<1x1024xi64>
  // CHECK: tile.load %{{.*}} at(%{{.*}} : tensor<1x1024xi64>) bounds
  %g = tile.load %x[%row, %c0] at (%safe : tensor<1x1024xi64>) bounds ()[s0] -> (s0, 1024) map (d0, d1, d2) -> (d2, d1) : !tile.buffer<f32, ()[s0] -> (s0, 1024)> -> tensor<1x1024xf32>
  %sum = arith.addf %v, %g : tensor<1x1024xf32>
  // CHECK: tile.reduce <max> %{{.*}} dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %m = tile.reduce <max> %sum dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<1x1xf32> -> tensor<1x1024xf32>
  %b = tile.broadcast %m : tensor<1x1xf32> -> tensor<1x1024xf32>
  %w = arith.subf %sum, %b : tensor<1x1024xf32>
  // CHECK: tile.store
  tile.store %w, %y[%row, %c0] bounds ()[s0] -> (s0, 1024) map (d0, d1) -> (d0, d1) : tensor<1x1024xf32> -> !tile.buffer<f32, ()[s0] -> (s0, 1024)>
  tile.return
}

// CHECK-LABEL: tile.kernel @matmul
// CHECK-SAME: #tile.schedule<matmul, tile = [64, 64], reduce = [16], warps = 4, stages = 2, registers = [6, 64], pack = 64, in_place = true>
tile.kernel @matmul(%a: !tile.buffer<f16, () -> (128, 256)>, %b: !tile.buffer<f16, () -> (256, 64)>, %c: !tile.buffer<f32, () -> (128, 64)>)
    attributes {grid = affine_map<() -> (1, 2, 1)>, schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [16], warps = 4, stages = 2, registers = [6, 64], pack = 64, in_place = true>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %y = tile.program_id 1
  %m = tile.size (d0) -> (d0 * 64)(%y)
  %acc = scf.for %k = %c0 to %c256 step %c16 iter_args(%sum = %zero) -> tensor<64x64xf32> {
    %ta = tile.load %a[%m, %k] bounds () -> (128, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (128, 256)> -> tensor<64x16xf16>
    %tb = tile.load %b[%k, %c0] bounds () -> (256, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (256, 64)> -> tensor<16x64xf16>
    // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
    %next = tile.dot %ta, %tb, %sum : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  // CHECK: tile.coordinate %{{.*}} dim 1 : tensor<64x64xi64>
  %col = tile.coordinate %c0 dim 1 : tensor<64x64xi64>
  tile.store %acc, %c[%m, %c0] bounds () -> (128, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (128, 64)>
  tile.return
}
