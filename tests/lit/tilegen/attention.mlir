// The text of an attention: for blocks it is what placing starts from. One loop over blocks of keys carries the largest logit of
// each row, the sum of its weights and the mix so far; the queries are loaded before it.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_80},tilewright-tile-emit{target=sm_80})" | FileCheck %s --check-prefix=BLOCK
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" | FileCheck %s --check-prefix=VECTOR

// BLOCK-LABEL: tile.kernel @attention
// BLOCK-SAME: schedule = #tile.schedule<attention, tile = [1, 1, 64, 64], reduce = [64, 64], warps = 4, stages = 2>
// BLOCK-DAG: %[[NEVER:.*]] = arith.constant dense<0xFF800000> : tensor<1x1x64x1xf32>
// BLOCK-DAG: %[[NOTHING:.*]] = arith.constant dense<0.000000e+00> : tensor<1x1x64x1xf32>
// BLOCK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<1x1x64x64xf32>
// BLOCK: %[[Q:.*]] = tile.load %arg0{{.*}} -> tensor<1x1x64x64xf16>
// BLOCK: %[[LAST:.*]]:3 = scf.for %[[KEYS:.*]] = %c0 to %{{.*}} step %c64 iter_args(%[[MAX:.*]] = %[[NEVER]], %[[SUM:.*]] = %[[NOTHING]], %[[MIX:.*]] = %[[ZERO]]) -> (tensor<1x1x64x1xf32>, tensor<1x1x64x1xf32>, tensor<1x1x64x64xf32>) {
// BLOCK: %[[K:.*]] = tile.load %arg1[{{.*}}, %c0, %[[KEYS]]]{{.*}} -> tensor<1x1x64x64xf16>
// BLOCK: %[[S:.*]] = tile.dot %[[Q]], %[[K]], %[[ZERO]] : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf32>
// BLOCK: %[[SCALED:.*]] = arith.mulf %[[S]]
// BLOCK: tile.load %arg3
// BLOCK: %[[X:.*]] = arith.addf %[[SCALED]]
// Keys behind the last one are masked in the last step alone.
// BLOCK: %[[LIVE:.*]] = scf.for %{{.*}} = %c0 to %{{.*}} step %c64 iter_args(%[[MASKED:.*]] = %[[X]]) -> (tensor<1x1x64x64xf32>) {
// BLOCK: arith.select %{{.*}}, %[[MASKED]], %{{.*}} : tensor<1x1x64x64xi1>, tensor<1x1x64x64xf32>
// BLOCK: scf.yield
// BLOCK: %[[V:.*]] = tile.load %arg2[{{.*}}, %[[KEYS]], %c0]{{.*}} fill 0.000000e+00 : f16 {{.*}} -> tensor<1x1x64x64xf16>
// BLOCK: %[[HERE:.*]] = tile.reduce <max> %[[LIVE]] dim 3 : tensor<1x1x64x64xf32> -> tensor<1x1x64x1xf32>
// BLOCK: %[[NEXT:.*]] = arith.maximumf %[[MAX]], %[[HERE]] : tensor<1x1x64x1xf32>
// BLOCK: %[[ISANY:.*]] = arith.cmpf une, %[[NEXT]], %[[NEVER]]
// BLOCK: %[[SHIFT:.*]] = arith.select %[[ISANY]], %[[NEXT]], %[[NOTHING]]
// BLOCK: %[[SHIFTS:.*]] = tile.broadcast %[[SHIFT]] : tensor<1x1x64x1xf32> -> tensor<1x1x64x64xf32>
// BLOCK: %[[BELOW:.*]] = arith.subf %[[LIVE]], %[[SHIFTS]]
// BLOCK: %[[WEIGHTS:.*]] = math.exp %[[BELOW]] fastmath<afn> : tensor<1x1x64x64xf32>
// BLOCK: %[[MORE:.*]] = tile.reduce <sum> %[[WEIGHTS]] dim 3
// BLOCK: %[[FALL:.*]] = arith.subf %[[MAX]], %[[SHIFT]]
// BLOCK: %[[WORTH:.*]] = math.exp %[[FALL]] : tensor<1x1x64x1xf32>
// BLOCK: %[[KEPT:.*]] = arith.mulf %[[SUM]], %[[WORTH]]
// BLOCK: %[[TOTAL:.*]] = arith.addf %[[KEPT]], %[[MORE]]
// BLOCK: %[[WORTHS:.*]] = tile.broadcast %[[WORTH]] : tensor<1x1x64x1xf32> -> tensor<1x1x64x64xf32>
// BLOCK: %[[BEFORE:.*]] = arith.mulf %[[MIX]], %[[WORTHS]]
// BLOCK: %[[HALF:.*]] = arith.truncf %[[WEIGHTS]] : tensor<1x1x64x64xf32> to tensor<1x1x64x64xf16>
// BLOCK: %[[MIXED:.*]] = tile.dot %[[HALF]], %[[V]], %[[BEFORE]] : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf32>
// BLOCK: scf.yield %[[NEXT]], %[[TOTAL]], %[[MIXED]]
// BLOCK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[LAST]]#1 : tensor<1x1x64x1xf32>
// BLOCK: %[[INVERSES:.*]] = tile.broadcast %[[INVERSE]]
// BLOCK: %[[SHARE:.*]] = arith.mulf %[[LAST]]#2, %[[INVERSES]]
// BLOCK: %[[ANY:.*]] = arith.cmpf ogt, %[[LAST]]#1, %[[NOTHING]]
// BLOCK: %[[DEFINED:.*]] = arith.select %{{.*}}, %[[SHARE]], %[[ZERO]]
// BLOCK: arith.truncf %[[DEFINED]]
// BLOCK: tile.store

// VECTOR-LABEL: tile.kernel @attention
// VECTOR: tile.dot {{.*}} : tensor<1x1x{{[0-9]+}}x64xf16>, tensor<1x1x64x{{[0-9]+}}xf16>
#qo = affine_map<()[s0, s1] -> (s0, s1, 12, 64)>
#scores = affine_map<()[s0, s1] -> (s0, 12, s1, s1)>
#row = affine_map<()[s0, s1] -> (s0, 12, s1)>
#mask = affine_map<()[s0, s1] -> (s0, s1)>
#mix = affine_map<()[s0, s1] -> (s0, 12, s1, 64)>
module attributes {graph.nodes = ["a|Attention"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @attention(%q: tensor<?x?x12x64xf16, #qo>, %k: tensor<?x?x12x64xf16, #qo>, %v: tensor<?x?x12x64xf16, #qo>, %mask: tensor<?x?xf32, #mask>) -> tensor<?x?x12x64xf16, #qo> attributes {root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, h, m, n, d) -> (b, m, h, d)>, affine_map<(b, h, m, n, d) -> (b, n, h, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<?x?x12x64xf16, #qo>, tensor<?x?x12x64xf16, #qo> -> tensor<?x12x?x?xf32, #scores>
    %c = arith.constant dense<0.125> : tensor<f32>
    %cb = graph.broadcast %c dims [] : tensor<f32> -> tensor<?x12x?x?xf32, #scores>
    %scaled = arith.mulf %s, %cb : tensor<?x12x?x?xf32, #scores>
    %maskb = graph.broadcast %mask dims [0, 3] : tensor<?x?xf32, #mask> -> tensor<?x12x?x?xf32, #scores>
    %x = arith.addf %scaled, %maskb : tensor<?x12x?x?xf32, #scores>
    %m = graph.reduce <max> %x axes [3] : tensor<?x12x?x?xf32, #scores> -> tensor<?x12x?xf32, #row>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<?x12x?xf32, #row> -> tensor<?x12x?x?xf32, #scores>
    %d = arith.subf %x, %mb : tensor<?x12x?x?xf32, #scores>
    %e = math.exp %d : tensor<?x12x?x?xf32, #scores>
    %t = graph.reduce <sum> %e axes [3] : tensor<?x12x?x?xf32, #scores> -> tensor<?x12x?xf32, #row>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<?x12x?xf32, #row> -> tensor<?x12x?x?xf32, #scores>
    %p = arith.divf %e, %tb : tensor<?x12x?x?xf32, #scores>
    %ph = arith.truncf %p : tensor<?x12x?x?xf32, #scores> to tensor<?x12x?x?xf16, #scores>
    %nan = arith.cmpf uno, %p, %p : tensor<?x12x?x?xf32, #scores>
    %z = arith.constant dense<0.0> : tensor<f16>
    %zb = graph.broadcast %z dims [] : tensor<f16> -> tensor<?x12x?x?xf16, #scores>
    %g = arith.select %nan, %zb, %ph : tensor<?x12x?x?xi1, #scores>, tensor<?x12x?x?xf16, #scores>
    %o = graph.contract %g, %v maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, n, h, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
        : tensor<?x12x?x?xf16, #scores>, tensor<?x?x12x64xf16, #qo> -> tensor<?x12x?x64xf32, #mix>
    %h = arith.truncf %o : tensor<?x12x?x64xf32, #mix> to tensor<?x12x?x64xf16, #mix>
    %ot = graph.transpose %h perm [0, 2, 1, 3] : tensor<?x12x?x64xf16, #mix> -> tensor<?x?x12x64xf16, #qo>
    graph.return %ot : tensor<?x?x12x64xf16, #qo>
  }
}
