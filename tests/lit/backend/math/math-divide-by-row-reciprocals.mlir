// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-place-tiles{target=sm_90a},tilewright-math-divide-by-row-reciprocals)" | FileCheck %s
// RUN: tilewright-opt %s --tilewright-math-divide-by-row-reciprocals | FileCheck %s --check-prefix=BARE

// A thread has eight quotients of one divisor, of which there are two: each divisor has one reciprocal.
// CHECK-LABEL: tile.kernel @quotients
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<1x1xf32
// CHECK: %[[BIG:.*]] = arith.constant dense<1.84467441E+19> : tensor<1x1xf32
// CHECK: %[[SMALL:.*]] = arith.constant dense<5.42101086E-20> : tensor<1x1xf32
// CHECK: %[[SIZE:.*]] = math.absf %[[DIVISOR:.*]] : tensor<1x1xf32
// CHECK: %[[IS_SMALL:.*]] = arith.cmpf olt, %[[SIZE]], %[[SMALL]]
// CHECK: %[[UP:.*]] = arith.select %[[IS_SMALL]], %[[BIG]], %[[ONE]]
// CHECK: %[[IS_BIG:.*]] = arith.cmpf olt, %[[BIG]], %[[SIZE]]
// CHECK: %[[POWER:.*]] = arith.select %[[IS_BIG]], %[[SMALL]], %[[UP]]
// CHECK: %[[NORMAL:.*]] = arith.mulf %[[DIVISOR]], %[[POWER]]
// CHECK: %[[INVERSE:.*]] = arith.divf %[[ONE]], %[[NORMAL]] {tilewright.by_reciprocal}
// CHECK: %[[POWERS:.*]] = tile.broadcast %[[POWER]]
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[POWERS]]
// CHECK: %[[INVERSES:.*]] = tile.broadcast %[[INVERSE]]
// CHECK: arith.mulf %[[SCALED]], %[[INVERSES]]
// CHECK-NOT: arith.divf
// CHECK: tile.return
// Without layouts it is not known what a thread has.
// BARE-NOT: by_reciprocal
tile.kernel @quotients(%x: !tile.buffer<f32, () -> (4, 256)>, %s: !tile.buffer<f32, () -> (4)>, %y: !tile.buffer<f32, () -> (4, 256)>, %z: !tile.buffer<f32, () -> (4, 256)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [256], warps = 1>} {
  %r = tile.program_id 0
  %c0 = arith.constant 0 : index
  %d = tile.load %s[%r, %c0] bounds () -> (4, 1) map (d0, d1) -> (d0) : <f32, () -> (4)> -> tensor<1x1xf32>
  %v = tile.load %x[%r, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1) : <f32, () -> (4, 256)> -> tensor<1x256xf32>
  %b = tile.broadcast %d : tensor<1x1xf32> -> tensor<1x256xf32>
  %q = arith.divf %v, %b : tensor<1x256xf32>
  tile.store %q, %y[%r, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1) : tensor<1x256xf32> -> <f32, () -> (4, 256)>
  %w = arith.mulf %v, %v : tensor<1x256xf32>
  %p = arith.divf %w, %b : tensor<1x256xf32>
  tile.store %p, %z[%r, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1) : tensor<1x256xf32> -> <f32, () -> (4, 256)>
  tile.return
}

// A quotient that is rounded to an integer keeps its division: half of the divisor must stay a half. So do quotients of
// which a thread has as many as divisors.
// CHECK-LABEL: tile.kernel @rounded
// CHECK: arith.divf %{{[^:]*}} : tensor<1x256xf32
// CHECK: math.roundeven
// CHECK-LABEL: tile.kernel @few
// CHECK: arith.divf %{{[^:]*}} : tensor<1x32xf32
tile.kernel @rounded(%x: !tile.buffer<f32, () -> (4, 256)>, %s: !tile.buffer<f32, () -> (4)>, %y: !tile.buffer<f32, () -> (4, 256)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [256], warps = 1>} {
  %r = tile.program_id 0
  %c0 = arith.constant 0 : index
  %d = tile.load %s[%r, %c0] bounds () -> (4, 1) map (d0, d1) -> (d0) : <f32, () -> (4)> -> tensor<1x1xf32>
  %v = tile.load %x[%r, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1) : <f32, () -> (4, 256)> -> tensor<1x256xf32>
  %b = tile.broadcast %d : tensor<1x1xf32> -> tensor<1x256xf32>
  %q = arith.divf %v, %b : tensor<1x256xf32>
  %n = math.roundeven %q : tensor<1x256xf32>
  tile.store %n, %y[%r, %c0] bounds () -> (4, 256) map (d0, d1) -> (d0, d1) : tensor<1x256xf32> -> <f32, () -> (4, 256)>
  tile.return
}
tile.kernel @few(%x: !tile.buffer<f32, () -> (4, 32)>, %s: !tile.buffer<f32, () -> (4)>, %y: !tile.buffer<f32, () -> (4, 32)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [32], warps = 1>} {
  %r = tile.program_id 0
  %c0 = arith.constant 0 : index
  %d = tile.load %s[%r, %c0] bounds () -> (4, 1) map (d0, d1) -> (d0) : <f32, () -> (4)> -> tensor<1x1xf32>
  %v = tile.load %x[%r, %c0] bounds () -> (4, 32) map (d0, d1) -> (d0, d1) : <f32, () -> (4, 32)> -> tensor<1x32xf32>
  %b = tile.broadcast %d : tensor<1x1xf32> -> tensor<1x32xf32>
  %q = arith.divf %v, %b : tensor<1x32xf32>
  tile.store %q, %y[%r, %c0] bounds () -> (4, 32) map (d0, d1) -> (d0, d1) : tensor<1x32xf32> -> <f32, () -> (4, 32)>
  tile.return
}
