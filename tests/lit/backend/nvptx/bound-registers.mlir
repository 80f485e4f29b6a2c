// ptxas is told how many blocks should share a multiprocessor where that bounds registers rightly: for gathers, whose
// 64-bit indices take many, and for products that fill shared memory. Other kernels are left to it.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry gather(
// CHECK: .maxntid 128
// CHECK-NEXT: .minnctapersm 4
tile.kernel @gather(%x: !tile.buffer<f32, () -> (1000)>, %i: !tile.buffer<i64, () -> (512)>, %y: !tile.buffer<f32, () -> (512)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [512], warps = 4>} {
  %c0 = arith.constant 0 : index
  %at = tile.load %i[%c0] bounds () -> (512) map (d0) -> (d0) : !tile.buffer<i64, () -> (512)> -> tensor<512xi64>
  %v = tile.load %x[%c0] at (%at : tensor<512xi64>) bounds () -> (512) map (d0, d1) -> (d1)
      : !tile.buffer<f32, () -> (1000)> -> tensor<512xf32>
  tile.store %v, %y[%c0] bounds () -> (512) map (d0) -> (d0) : tensor<512xf32> -> !tile.buffer<f32, () -> (512)>
  tile.return
}

// CHECK-LABEL: .entry copy(
// CHECK: .maxntid 128
// CHECK-NOT: .minnctapersm
tile.kernel @copy(%x: !tile.buffer<f32, () -> (512)>, %y: !tile.buffer<f32, () -> (512)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [512], warps = 4>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (512) map (d0) -> (d0) : !tile.buffer<f32, () -> (512)> -> tensor<512xf32>
  tile.store %v, %y[%c0] bounds () -> (512) map (d0) -> (d0) : tensor<512xf32> -> !tile.buffer<f32, () -> (512)>
  tile.return
}
