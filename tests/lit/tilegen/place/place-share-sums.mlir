// Each tile is given to several programs; the last one adds up their sums and does the rest.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile.kernel(tilewright-place-flatten-loops,tilewright-place-assign-layouts{target=sm_80},tilewright-place-share-sums))" | FileCheck %s

// Ten steps in two parts: both loops have constant bounds, and the part's first position is added. Parts are too large
// to read several at a time.
// CHECK-LABEL: tile.kernel @evenly
// CHECK-SAME: grid = #[[GRID:.*]],
// CHECK: %[[P:.*]] = tile.program_id 0
// CHECK: %[[TILE:.*]] = tile.size (d0) -> (d0 floordiv 2)(%[[P]])
// CHECK: %[[PART:.*]] = tile.size (d0) -> (d0 mod 2)(%[[P]])
// CHECK: %[[WS:.*]] = tile.workspace : <f32, () -> (3, 2, 8192)>
// CHECK: %[[COUNT:.*]] = tile.workspace zeroed : <i32, () -> (3)>
// CHECK: tile.size (d0) -> (d0 * 64)(%[[TILE]])
// CHECK: %[[FIRST:.*]] = tile.size (d0) -> (d0 * 160)(%[[PART]])
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %c0{{.*}} to %c160{{.*}} step %c32
// CHECK: %[[AT:.*]] = arith.addi %[[K]], %[[FIRST]]
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[AT]]]
// CHECK: tile.load %{{.*}}[%[[AT]], %{{.*}}]
// CHECK: tile.part_write %[[SUM]], %[[WS]][%[[TILE]], %[[PART]]]
// CHECK: %[[LAST:.*]] = tile.part_arrive %[[COUNT]][%[[TILE]]] of 2
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK: %[[TOTAL:.*]] = scf.for %[[I:.*]] = %{{.*}} to %c2{{.*}} step %c1{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[READ:.*]] = tile.part_read %[[WS]][%[[TILE]], %[[I]]]
// CHECK: arith.addf %[[ACC]], %[[READ]]
// CHECK: tile.store %[[TOTAL]]
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
tile.kernel @evenly(%a: !tile.buffer<f16, () -> (192, 320)>, %b: !tile.buffer<f16, () -> (320, 128)>,
                    %y: !tile.buffer<f32, () -> (192, 128)>)
    attributes {grid = affine_map<() -> (3, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [32], warps = 4, parts = 2>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %end = arith.constant 320 : index
  %step = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%c = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (192, 320) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (192, 320)> -> tensor<64x32xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (320, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (320, 128)> -> tensor<32x128xf16>
    %d = tile.dot %x, %w, %c : tensor<64x32xf16>, tensor<32x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %acc, %y[%m, %c0] bounds () -> (192, 128) map (d0, d1) -> (d0, d1) : tensor<64x128xf32> -> !tile.buffer<f32, () -> (192, 128)>
  tile.return
}

// -----

// Two loops of seven steps together, in three parts: from 14 * part / 3 on. Small parts are read at once, in order.
// CHECK-LABEL: tile.kernel @unevenly
// CHECK: %[[PART:.*]] = tile.size (d0) -> (d0 mod 3)
// CHECK: %[[STEPS:.*]] = arith.muli %[[PART]], %c14
// CHECK: %[[PASSED:.*]] = tile.size (d0) -> (d0 floordiv 3)(%[[STEPS]])
// CHECK: %[[AT:.*]] = arith.muli %[[PASSED]], %c1
// CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %c1
// CHECK: scf.if
// CHECK: %[[R0:.*]] = tile.part_read %{{.*}}, %c0
// CHECK: %[[R1:.*]] = tile.part_read
// CHECK: %[[R2:.*]] = tile.part_read
// CHECK: %[[S0:.*]] = arith.addi %{{.*}}, %[[R0]] : tensor
// CHECK: %[[S1:.*]] = arith.addi %[[S0]], %[[R1]] : tensor
// CHECK: %[[S2:.*]] = arith.addi %[[S1]], %[[R2]] : tensor
// CHECK: tile.store %[[S2]]
tile.kernel @unevenly(%a: !tile.buffer<i8, () -> (16, 224)>, %b: !tile.buffer<i8, () -> (224, 16)>,
                      %y: !tile.buffer<i32, () -> (16, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [16, 16], reduce = [1, 16], parts = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %end = arith.constant 112 : index
  %step = arith.constant 16 : index
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %acc = scf.for %i = %c0 to %c2 step %c1 iter_args(%o = %zero) -> (tensor<16x16xi32>) {
    %inner = scf.for %j = %c0 to %end step %step iter_args(%c = %o) -> (tensor<16x16xi32>) {
      %k = tile.size (d0, d1) -> (d0 * 112 + d1)(%i, %j)
      %x = tile.load %a[%c0, %k] bounds () -> (16, 224) map (d0, d1) -> (d0, d1) : !tile.buffer<i8, () -> (16, 224)> -> tensor<16x16xi8>
      %w = tile.load %b[%k, %c0] bounds () -> (224, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<i8, () -> (224, 16)> -> tensor<16x16xi8>
      %d = tile.dot %x, %w, %c : tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32>
      scf.yield %d : tensor<16x16xi32>
    }
    scf.yield %inner : tensor<16x16xi32>
  }
  tile.store %acc, %y[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x16xi32> -> !tile.buffer<i32, () -> (16, 16)>
  tile.return
}

// -----

// Refused: the number of tiles is not known.
// CHECK-LABEL: tile.kernel @unknown
// CHECK-NOT: tile.part
// expected-remark@+1 {{its sums are not shared because the number of its tiles is not known, nor a bound of it}}
tile.kernel @unknown(%a: !tile.buffer<f16, ()[s0] -> (s0, 64)>, %b: !tile.buffer<f16, ()[s0] -> (64, 64)>,
                     %y: !tile.buffer<f32, ()[s0] -> (s0, 64)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 64, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, parts = 2>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %end = arith.constant 64 : index
  %step = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%c = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%m, %k] bounds ()[s0] -> (s0, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (s0, 64)> -> tensor<64x32xf16>
    %w = tile.load %b[%k, %c0] bounds ()[s0] -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, ()[s0] -> (64, 64)> -> tensor<32x64xf16>
    %d = tile.dot %x, %w, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%m, %c0] bounds ()[s0] -> (s0, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, ()[s0] -> (s0, 64)>
  tile.return
}

// -----

// Refused: one step, no loop.
// CHECK-LABEL: tile.kernel @short
// CHECK-NOT: tile.part
// expected-remark@+1 {{its sums are not shared because there is no single loop around its products}}
tile.kernel @short(%a: !tile.buffer<f16, () -> (64, 32)>, %b: !tile.buffer<f16, () -> (32, 64)>,
                   %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, parts = 2>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.load %a[%c0, %c0] bounds () -> (64, 32) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 32)> -> tensor<64x32xf16>
  %w = tile.load %b[%c0, %c0] bounds () -> (32, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (32, 64)> -> tensor<32x64xf16>
  %d = tile.dot %x, %w, %zero : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
  tile.store %d, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// -----

// A loop that carries more than sums says how its parts are put together. Rows from the sixteenth on mean nothing: of
// eight registers with rows of both halves, each thread leaves half of them out.
// CHECK-LABEL: tile.kernel @joined
// CHECK: %[[PART:.*]] = tile.size (d0) -> (d0 mod 2)
// CHECK: %[[WS:.*]] = tile.workspace : <f32, () -> (1, 2, 256)>
// CHECK: %[[WT:.*]] = tile.workspace : <f32, () -> (1, 2, 256)>
// CHECK: %[[LOOP:.*]]:2 = scf.for
// CHECK: tile.part_write %[[LOOP]]#0, %[[WS]][%{{.*}}, %[[PART]]] live [16, 16]
// CHECK: tile.part_write %[[LOOP]]#1, %[[WT]][%{{.*}}, %[[PART]]] live [16, 16]
// CHECK: scf.if
// CHECK: %[[A0:.*]] = tile.part_read %[[WS]]
// CHECK: %[[B0:.*]] = tile.part_read %[[WT]]
// CHECK: %[[A1:.*]] = tile.part_read %[[WS]]
// CHECK: %[[B1:.*]] = tile.part_read %[[WT]]
// CHECK: %[[SUM0:.*]] = arith.addf %{{.*}}, %[[A0]]
// CHECK: %[[TOP0:.*]] = arith.maximumf %{{.*}}, %[[B0]]
// CHECK: %[[SUM:.*]] = arith.addf %[[SUM0]], %[[A1]]
// CHECK: %[[TOP:.*]] = arith.maximumf %[[TOP0]], %[[B1]]
// CHECK-NOT: tile.part_join
// CHECK: %[[RATIO:.*]] = arith.divf %[[SUM]], %[[TOP]]
// CHECK: tile.store %[[RATIO]]
tile.kernel @joined(%a: !tile.buffer<f16, () -> (16, 64)>, %b: !tile.buffer<f16, () -> (64, 16)>,
                    %y: !tile.buffer<f32, () -> (16, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<attention, tile = [32, 16], reduce = [16], parts = 2>} {
  %c0 = arith.constant 0 : index
  %end = arith.constant 64 : index
  %step = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %low = arith.constant dense<0xFF800000> : tensor<32x16xf32>
  %last:2 = scf.for %k = %c0 to %end step %step iter_args(%c = %zero, %top = %low) -> (tensor<32x16xf32>, tensor<32x16xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (16, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (16, 64)> -> tensor<32x16xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (64, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 16)> -> tensor<16x16xf16>
    %d = tile.dot %x, %w, %c : tensor<32x16xf16>, tensor<16x16xf16>, tensor<32x16xf32>
    %t = arith.maximumf %top, %d : tensor<32x16xf32>
    scf.yield %d, %t : tensor<32x16xf32>, tensor<32x16xf32>
  }
  %all:2 = tile.part_join %last#0, %last#1 live [16, 16] : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<32x16xf32>, tensor<32x16xf32> {
  ^bb0(%s0: tensor<32x16xf32>, %t0: tensor<32x16xf32>, %s1: tensor<32x16xf32>, %t1: tensor<32x16xf32>):
    %s = arith.addf %s0, %s1 : tensor<32x16xf32>
    %t = arith.maximumf %t0, %t1 : tensor<32x16xf32>
    tile.part_yield %s, %t : tensor<32x16xf32>, tensor<32x16xf32>
  }
  %r = arith.divf %all#0, %all#1 : tensor<32x16xf32>
  tile.store %r, %y[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<32x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}

// -----

// Not shared, as nobody says how more than sums are put together, and how it is said where a tile is not shared.
// CHECK-LABEL: tile.kernel @alone
// CHECK: %[[LOOP:.*]]:2 = scf.for
// CHECK-NOT: tile.part
// CHECK: arith.divf %[[LOOP]]#0, %[[LOOP]]#1
// expected-remark@+1 {{its sums are not shared because its loop carries more than sums}}
tile.kernel @alone(%a: !tile.buffer<f16, () -> (16, 64)>, %b: !tile.buffer<f16, () -> (64, 16)>,
                   %y: !tile.buffer<f32, () -> (16, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<attention, tile = [16, 16], reduce = [16], parts = 2>} {
  %c0 = arith.constant 0 : index
  %end = arith.constant 64 : index
  %step = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %last:2 = scf.for %k = %c0 to %end step %step iter_args(%c = %zero, %top = %zero) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (16, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (16, 64)> -> tensor<16x16xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (64, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 16)> -> tensor<16x16xf16>
    %d = tile.dot %x, %w, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    %t = arith.maximumf %top, %d : tensor<16x16xf32>
    scf.yield %d, %t : tensor<16x16xf32>, tensor<16x16xf32>
  }
  %one = tile.part_join %last#0 : tensor<16x16xf32> -> tensor<16x16xf32> {
  ^bb0(%s0: tensor<16x16xf32>, %s1: tensor<16x16xf32>):
    %s = arith.addf %s0, %s1 : tensor<16x16xf32>
    tile.part_yield %s : tensor<16x16xf32>
  }
  %r = arith.divf %one, %last#1 : tensor<16x16xf32>
  tile.store %r, %y[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}
