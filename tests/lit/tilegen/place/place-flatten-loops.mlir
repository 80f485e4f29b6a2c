// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-flatten-loops))" | FileCheck %s

// Two loops around a tile.dot that carry the same tile become one of 3 * 2 steps.
// CHECK-LABEL: tile.kernel @nested
// CHECK: %[[FLAT:.*]] = scf.for %[[T:.*]] = %c0{{.*}} to %c6 step %c1{{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: %[[Q:.*]] = arith.divui %[[T]], %c2
// CHECK: %[[R:.*]] = arith.remui %[[T]], %c2
// CHECK-NOT: scf.for
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[SUM]]
// CHECK: tile.store %[[FLAT]]
tile.kernel @nested(%a: !tile.buffer<f32, () -> (3, 16, 64)>, %b: !tile.buffer<f32, () -> (3, 64, 16)>,
                    %y: !tile.buffer<f32, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<1x16x16xf32>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%outer = %zero) -> tensor<1x16x16xf32> {
    %inner = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %outer) -> tensor<1x16x16xf32> {
      %x = tile.load %a[%i, %c0, %k] bounds () -> (3, 16, 64) map (d0, d1, d2) -> (d0, d1, d2)
          : !tile.buffer<f32, () -> (3, 16, 64)> -> tensor<1x16x32xf32>
      %w = tile.load %b[%i, %k, %c0] bounds () -> (3, 64, 16) map (d0, d1, d2) -> (d0, d1, d2)
          : !tile.buffer<f32, () -> (3, 64, 16)> -> tensor<1x32x16xf32>
      %d = tile.dot %x, %w, %acc : tensor<1x16x32xf32>, tensor<1x32x16xf32>, tensor<1x16x16xf32>
      scf.yield %d : tensor<1x16x16xf32>
    }
    scf.yield %inner : tensor<1x16x16xf32>
  }
  tile.store %sum, %y[%c0, %c0, %c0] bounds () -> (1, 16, 16) map (d0, d1, d2) -> (d1, d2)
      : tensor<1x16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}

// Loops without a tile.dot stay as they are.
// CHECK-LABEL: tile.kernel @no_product
// CHECK: scf.for
// CHECK: scf.for
tile.kernel @no_product(%a: !tile.buffer<f32, () -> (4, 64)>, %y: !tile.buffer<f32, () -> (32)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<1x32xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%outer = %zero) -> tensor<1x32xf32> {
    %inner = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %outer) -> tensor<1x32xf32> {
      %x = tile.load %a[%i, %k] bounds () -> (4, 64) map (d0, d1) -> (d0, d1)
          : !tile.buffer<f32, () -> (4, 64)> -> tensor<1x32xf32>
      %d = arith.addf %x, %acc : tensor<1x32xf32>
      scf.yield %d : tensor<1x32xf32>
    }
    scf.yield %inner : tensor<1x32xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (1, 32) map (d0, d1) -> (d1)
      : tensor<1x32xf32> -> !tile.buffer<f32, () -> (32)>
  tile.return
}

// With a run-time number of steps the trip count is an expression that the parser takes again.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tile.kernel(tilewright-place-flatten-loops))" | tilewright-opt | FileCheck %s --check-prefix=SYMBOLIC
// SYMBOLIC-LABEL: tile.kernel @run_time
// SYMBOLIC: %[[N:.*]] = tile.size ()[s0] -> (s0)
// SYMBOLIC: %[[T:.*]] = tile.size (d0, d1) -> ((d1 - d0) ceildiv 32)(%c0{{.*}}, %[[N]])
// SYMBOLIC: %[[TRIPS:.*]] = arith.maxsi %[[T]], %c0
// SYMBOLIC: arith.muli %c3{{.*}}, %[[TRIPS]]
// SYMBOLIC: scf.for
// SYMBOLIC-NOT: scf.for
tile.kernel @run_time(%a: !tile.buffer<f32, ()[s0] -> (3, 16, s0)>, %b: !tile.buffer<f32, ()[s0] -> (3, s0, 16)>,
                      %y: !tile.buffer<f32, () -> (16, 16)>, %s0: index) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %n = tile.size ()[s0] -> (s0)
  %zero = arith.constant dense<0.0> : tensor<1x16x16xf32>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%outer = %zero) -> tensor<1x16x16xf32> {
    %inner = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %outer) -> tensor<1x16x16xf32> {
      %x = tile.load %a[%i, %c0, %k] bounds ()[s0] -> (3, 16, s0) map (d0, d1, d2) -> (d0, d1, d2)
          : !tile.buffer<f32, ()[s0] -> (3, 16, s0)> -> tensor<1x16x32xf32>
      %w = tile.load %b[%i, %k, %c0] bounds ()[s0] -> (3, s0, 16) map (d0, d1, d2) -> (d0, d1, d2)
          : !tile.buffer<f32, ()[s0] -> (3, s0, 16)> -> tensor<1x32x16xf32>
      %d = tile.dot %x, %w, %acc : tensor<1x16x32xf32>, tensor<1x32x16xf32>, tensor<1x16x16xf32>
      scf.yield %d : tensor<1x16x16xf32>
    }
    scf.yield %inner : tensor<1x16x16xf32>
  }
  tile.store %sum, %y[%c0, %c0, %c0] bounds () -> (1, 16, 16) map (d0, d1, d2) -> (d1, d2)
      : tensor<1x16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}

// Three loops are one as well: what flattening the inner two makes stands in front of them all.
// SYMBOLIC-LABEL: tile.kernel @three
// CHECK-LABEL: tile.kernel @three
// CHECK: scf.for %{{.*}} to %c12 step
// CHECK-NOT: scf.for
tile.kernel @three(%a: !tile.buffer<f32, () -> (3, 2, 16, 64)>, %b: !tile.buffer<f32, () -> (3, 2, 64, 16)>,
                   %y: !tile.buffer<f32, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<1x1x16x16xf32>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%outer = %zero) -> tensor<1x1x16x16xf32> {
    %middle = scf.for %j = %c0 to %c2 step %c1 iter_args(%between = %outer) -> tensor<1x1x16x16xf32> {
      %inner = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %between) -> tensor<1x1x16x16xf32> {
        %x = tile.load %a[%i, %j, %c0, %k] bounds () -> (3, 2, 16, 64) map (d0, d1, d2, d3) -> (d0, d1, d2, d3)
            : !tile.buffer<f32, () -> (3, 2, 16, 64)> -> tensor<1x1x16x32xf32>
        %w = tile.load %b[%i, %j, %k, %c0] bounds () -> (3, 2, 64, 16) map (d0, d1, d2, d3) -> (d0, d1, d2, d3)
            : !tile.buffer<f32, () -> (3, 2, 64, 16)> -> tensor<1x1x32x16xf32>
        %d = tile.dot %x, %w, %acc : tensor<1x1x16x32xf32>, tensor<1x1x32x16xf32>, tensor<1x1x16x16xf32>
        scf.yield %d : tensor<1x1x16x16xf32>
      }
      scf.yield %inner : tensor<1x1x16x16xf32>
    }
    scf.yield %middle : tensor<1x1x16x16xf32>
  }
  tile.store %sum, %y[%c0, %c0, %c0, %c0] bounds () -> (1, 1, 16, 16) map (d0, d1, d2, d3) -> (d2, d3)
      : tensor<1x1x16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}
