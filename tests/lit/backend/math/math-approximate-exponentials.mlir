// RUN: tilewright-opt %s --tilewright-math-approximate-exponentials | FileCheck %s

// The weights of a softmax in f16: what is computed from the exponentials, through the loop that sums them too, is
// rounded to halves.
// CHECK-LABEL: tile.kernel @halves
// CHECK: scf.for
// CHECK: math.exp %{{.*}} fastmath<afn> : tensor<1x64xf32>
// CHECK: }
// CHECK: math.exp %{{.*}} fastmath<afn> : tensor<1x64xf32>
tile.kernel @halves(%x: !tile.buffer<f16, () -> (4, 256)>, %y: !tile.buffer<f16, () -> (4, 256)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>} {
  %r = tile.program_id 0
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %n = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<1x64xf32>
  %sums = scf.for %j = %c0 to %n step %step iter_args(%sum = %zero) -> (tensor<1x64xf32>) {
    %l = tile.load %x[%r, %j] bounds () -> (4, 256) map (d0, d1) -> (d0, d1) : <f16, () -> (4, 256)> -> tensor<1x64xf16>
    %v = arith.extf %l : tensor<1x64xf16> to tensor<1x64xf32>
    %e = math.exp %v : tensor<1x64xf32>
    %next = arith.addf %sum, %e : tensor<1x64xf32>
    scf.yield %next : tensor<1x64xf32>
  }
  %s = tile.reduce <sum> %sums dim 1 : tensor<1x64xf32> -> tensor<1x1xf32>
  %b = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x64xf32>
  %l = tile.load %x[%r, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1) : <f16, () -> (4, 256)> -> tensor<1x64xf16>
  %v = arith.extf %l : tensor<1x64xf16> to tensor<1x64xf32>
  %e = math.exp %v : tensor<1x64xf32>
  %q = arith.divf %e, %b : tensor<1x64xf32>
  %h = arith.truncf %q : tensor<1x64xf32> to tensor<1x64xf16>
  tile.store %h, %y[%r, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1) : tensor<1x64xf16> -> <f16, () -> (4, 256)>
  tile.return
}

// One that is stored as a single, one that is compared, and one that becomes an integer are as exact as before.
// CHECK-LABEL: tile.kernel @exact
// CHECK-NOT: afn
tile.kernel @exact(%x: !tile.buffer<f32, () -> (64)>, %y: !tile.buffer<f32, () -> (64)>,
                   %z: !tile.buffer<f16, () -> (64)>, %i: !tile.buffer<i32, () -> (64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %v = tile.load %x[%c0] bounds () -> (64) map (d0) -> (d0) : <f32, () -> (64)> -> tensor<64xf32>
  %stored = math.exp %v : tensor<64xf32>
  tile.store %stored, %y[%c0] bounds () -> (64) map (d0) -> (d0) : tensor<64xf32> -> <f32, () -> (64)>
  %n = arith.negf %v : tensor<64xf32>
  %compared = math.exp %n : tensor<64xf32>
  %less = arith.cmpf olt, %compared, %one : tensor<64xf32>
  %chosen = arith.select %less, %compared, %one : tensor<64xi1>, tensor<64xf32>
  %h = arith.truncf %chosen : tensor<64xf32> to tensor<64xf16>
  tile.store %h, %z[%c0] bounds () -> (64) map (d0) -> (d0) : tensor<64xf16> -> <f16, () -> (64)>
  %t = arith.mulf %v, %n : tensor<64xf32>
  %counted = math.exp %t : tensor<64xf32>
  %whole = arith.fptosi %counted : tensor<64xf32> to tensor<64xi32>
  tile.store %whole, %i[%c0] bounds () -> (64) map (d0) -> (d0) : tensor<64xi32> -> <i32, () -> (64)>
  tile.return
}
