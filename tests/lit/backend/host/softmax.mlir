// Exponentials are added up as they are stored, in one loop.
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s

// CHECK-LABEL: softmax:
// CHECK: vcmpunordps {{.*}}%zmm
// An exponential is scaled by one instruction, which leaves out elements whose exponential is 0.
// CHECK: vcmpnltps {{.*}}, %k{{[1-7]}}
// CHECK: vscalefps %zmm{{[0-9]+}}, %zmm{{[0-9]+}}, %zmm{{[0-9]+}} {%k{{[1-7]}}} {z}
// CHECK-NOT: vmulps
// CHECK: vmovups %zmm{{.*}}, {{.*}}(
// CHECK-NOT: {{^[[:space:]]j}}
// CHECK: vaddps {{.*}}%zmm
// CHECK: {{^[[:space:]]j}}
// CHECK: retq
tile.kernel @softmax(%x: !tile.buffer<f32, () -> (1024, 512)>, %y: !tile.buffer<f32, () -> (1024, 512)>)
    attributes {grid = affine_map<() -> (64, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [16], reduce = [512]>} {
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 16)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (1024, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (1024, 512)> -> tensor<16x512xf32>
  %m = tile.reduce <max> %v dim 1 : tensor<16x512xf32> -> tensor<16x1xf32>
  %top = tile.broadcast %m : tensor<16x1xf32> -> tensor<16x512xf32>
  %d = arith.subf %v, %top : tensor<16x512xf32>
  %e = math.exp %d : tensor<16x512xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<16x512xf32> -> tensor<16x1xf32>
  %all = tile.broadcast %s : tensor<16x1xf32> -> tensor<16x512xf32>
  %q = arith.divf %e, %all : tensor<16x512xf32>
  tile.store %q, %y[%r, %c0] bounds () -> (1024, 512) map (d0, d1) -> (d0, d1) : tensor<16x512xf32> -> !tile.buffer<f32, () -> (1024, 512)>
  tile.return
}

// The greatest score of an attention need not keep a NaN, which the sum keeps.
// CHECK-LABEL: scores:
// CHECK-NOT: vcmpunordps
// CHECK: retq
tile.kernel @scores(%x: !tile.buffer<f32, () -> (1024, 512)>, %y: !tile.buffer<f32, () -> (1024, 512)>)
    attributes {grid = affine_map<() -> (64, 1, 1)>, schedule = #tile.schedule<attention, tile = [16, 16], reduce = [512]>} {
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 16)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (1024, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (1024, 512)> -> tensor<16x512xf32>
  %m = tile.reduce <max> %v dim 1 : tensor<16x512xf32> -> tensor<16x1xf32>
  %top = tile.broadcast %m : tensor<16x1xf32> -> tensor<16x512xf32>
  %d = arith.subf %v, %top : tensor<16x512xf32>
  %e = math.exp %d : tensor<16x512xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<16x512xf32> -> tensor<16x1xf32>
  %all = tile.broadcast %s : tensor<16x1xf32> -> tensor<16x512xf32>
  %q = arith.divf %e, %all : tensor<16x512xf32>
  tile.store %q, %y[%r, %c0] bounds () -> (1024, 512) map (d0, d1) -> (d0, d1) : tensor<16x512xf32> -> !tile.buffer<f32, () -> (1024, 512)>
  tile.return
}

// Unless a guard looks for NaNs.
// CHECK-LABEL: guarded:
// CHECK: vmaxps
// CHECK: vcmpunordps
// CHECK: vscalefps
// CHECK: retq
tile.kernel @guarded(%x: !tile.buffer<f32, () -> (1024, 512)>, %y: !tile.buffer<f32, () -> (1024, 512)>)
    attributes {grid = affine_map<() -> (64, 1, 1)>, schedule = #tile.schedule<attention, tile = [16, 16], reduce = [512]>} {
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 16)(%p)
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (1024, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (1024, 512)> -> tensor<16x512xf32>
  %m = tile.reduce <max> %v dim 1 : tensor<16x512xf32> -> tensor<16x1xf32>
  %top = tile.broadcast %m : tensor<16x1xf32> -> tensor<16x512xf32>
  %d = arith.subf %v, %top : tensor<16x512xf32>
  %e = math.exp %d : tensor<16x512xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<16x512xf32> -> tensor<16x1xf32>
  %all = tile.broadcast %s : tensor<16x1xf32> -> tensor<16x512xf32>
  %q = arith.divf %e, %all : tensor<16x512xf32>
  %no = arith.cmpf uno, %q, %q : tensor<16x512xf32>
  %zero = arith.constant dense<0.0> : tensor<16x512xf32>
  %g = arith.select %no, %zero, %q : tensor<16x512xi1>, tensor<16x512xf32>
  tile.store %g, %y[%r, %c0] bounds () -> (1024, 512) map (d0, d1) -> (d0, d1) : tensor<16x512xf32> -> !tile.buffer<f32, () -> (1024, 512)>
  tile.return
}
