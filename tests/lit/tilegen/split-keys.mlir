// Eight query heads of two rows each read one head of keys and values: they are 16 rows of one tile. Four tiles leave
// multiprocessors idle, so that several programs have a part of the keys each. How two parts become one stands behind
// the loop.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_80},tilewright-tile-emit{target=sm_80})" | FileCheck %s
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a})" | FileCheck %s --check-prefix=ROLES

// CHECK-LABEL: tile.kernel @grouped
// CHECK-SAME: grid = #[[GRID:.*]], schedule = #tile.schedule<attention, tile = [1, 16, 64], reduce = [64, 64], stages = 2, parts = 16>
// CHECK-DAG: %[[NEVER:.*]] = arith.constant dense<0xFF800000> : tensor<1x16x1xf32>
// CHECK-DAG: %[[NOTHING:.*]] = arith.constant dense<0.000000e+00> : tensor<1x16x1xf32>
// CHECK: tile.load %arg0[%[[TILE:.*]], %c0, %c0] bounds () -> (4, 16, 64) map (d0, d1, d2) -> (0, d0 * 16 + d1, d2)
// CHECK: %[[LOOP:.*]]:3 = scf.for
// CHECK: tile.load %arg1[%[[TILE]], %c0, %{{.*}}] bounds () -> (4, 64, 4096) map (d0, d1, d2) -> (d0, d2, d1)
// CHECK: tile.load %arg2[%[[TILE]], %{{.*}}, %c0] bounds () -> (4, 4096, 64) map (d0, d1, d2) -> (d0, d1, d2)
// CHECK: %[[ALL:.*]]:3 = tile.part_join %[[LOOP]]#0, %[[LOOP]]#1, %[[LOOP]]#2 : tensor<1x16x1xf32>, tensor<1x16x1xf32>, tensor<1x16x64xf32>
// CHECK: ^bb0(%[[MAX0:.*]]: tensor<1x16x1xf32>, %[[SUM0:.*]]: tensor<1x16x1xf32>, %[[MIX0:.*]]: tensor<1x16x64xf32>, %[[MAX1:.*]]: tensor<1x16x1xf32>, %[[SUM1:.*]]: tensor<1x16x1xf32>, %[[MIX1:.*]]: tensor<1x16x64xf32>):
// CHECK: %[[MAX:.*]] = arith.maximumf %[[MAX0]], %[[MAX1]]
// CHECK: %[[ISANY:.*]] = arith.cmpf une, %[[MAX]], %[[NEVER]]
// CHECK: %[[SHIFT:.*]] = arith.select %[[ISANY]], %[[MAX]], %[[NOTHING]]
// CHECK: %[[FALL0:.*]] = arith.subf %[[MAX0]], %[[SHIFT]]
// CHECK: %[[WORTH0:.*]] = math.exp2 %[[FALL0]]
// CHECK: %[[FALL1:.*]] = arith.subf %[[MAX1]], %[[SHIFT]]
// CHECK: %[[WORTH1:.*]] = math.exp2 %[[FALL1]]
// CHECK: arith.mulf %[[SUM0]], %[[WORTH0]]
// CHECK: arith.mulf %[[SUM1]], %[[WORTH1]]
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[MIX:.*]] = arith.addf
// CHECK: tile.part_yield %[[MAX]], %[[SUM]], %[[MIX]]
// CHECK: %[[WORTH:.*]] = arith.divf %{{.*}}, %[[ALL]]#1
// CHECK: %[[SHARES:.*]] = tile.broadcast %[[WORTH]]
// CHECK: arith.mulf %[[ALL]]#2, %[[SHARES]]
// CHECK: tile.store

// Matrix instructions that read shared memory take 64 rows, of which 16 live.
// ROLES-LABEL: tile.kernel @grouped
// ROLES-SAME: schedule = #tile.schedule<attention, tile = [1, 64, 64], reduce = [128, 64], warps = 4, stages = 3, groups = 1, parts = 8>
// ROLES: tile.part_join %{{.*}} live [1, 16, 64]
graph.kernel @grouped(%q: tensor<1x32x2x64xf16>, %k: tensor<4x4096x64xf16>, %v: tensor<4x4096x64xf16>) -> tensor<1x32x2x64xf16> attributes {root = #graph.root<attention>} {
  %kb = graph.broadcast %k dims [1, 3, 4] : tensor<4x4096x64xf16> -> tensor<1x4x8x4096x64xf16>
  %kr = graph.reshape %kb : tensor<1x4x8x4096x64xf16> -> tensor<1x32x4096x64xf16>
  %s = graph.contract %q, %kr maps [affine_map<(b, h, m, n, d) -> (b, h, m, d)>, affine_map<(b, h, m, n, d) -> (b, h, n, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
      : tensor<1x32x2x64xf16>, tensor<1x32x4096x64xf16> -> tensor<1x32x2x4096xf32>
  %m = graph.reduce <max> %s axes [3] : tensor<1x32x2x4096xf32> -> tensor<1x32x2xf32>
  %mb = graph.broadcast %m dims [0, 1, 2] : tensor<1x32x2xf32> -> tensor<1x32x2x4096xf32>
  %d = arith.subf %s, %mb : tensor<1x32x2x4096xf32>
  %e = math.exp %d : tensor<1x32x2x4096xf32>
  %t = graph.reduce <sum> %e axes [3] : tensor<1x32x2x4096xf32> -> tensor<1x32x2xf32>
  %tb = graph.broadcast %t dims [0, 1, 2] : tensor<1x32x2xf32> -> tensor<1x32x2x4096xf32>
  %p = arith.divf %e, %tb : tensor<1x32x2x4096xf32>
  %w = arith.truncf %p : tensor<1x32x2x4096xf32> to tensor<1x32x2x4096xf16>
  %vb = graph.broadcast %v dims [1, 3, 4] : tensor<4x4096x64xf16> -> tensor<1x4x8x4096x64xf16>
  %vr = graph.reshape %vb : tensor<1x4x8x4096x64xf16> -> tensor<1x32x4096x64xf16>
  %o = graph.contract %w, %vr maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, h, n, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
      : tensor<1x32x2x4096xf16>, tensor<1x32x4096x64xf16> -> tensor<1x32x2x64xf32>
  %h = arith.truncf %o : tensor<1x32x2x64xf32> to tensor<1x32x2x64xf16>
  graph.return %h : tensor<1x32x2x64xf16>
}
