// The loop of an attention runs over the keys that count in some row of the tile: its bounds are index arithmetic on the tile's
// first row. The longest programs come first. Vectors end their loops within a tile of keys too. On GPUs a mask is computed in
// the steps whose keys it is not neutral for.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_80},tilewright-tile-emit{target=sm_80})" | FileCheck %s --check-prefix=BLOCK
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" | FileCheck %s --check-prefix=VECTOR

// BLOCK-LABEL: tile.kernel @past
// BLOCK-SAME: tile = [1, 64, 64], reduce = [64, 64]
// BLOCK: %[[ROW:.*]] = tile.size (d0) -> ((-(d0 mod 4) + 3) * 64)(%{{.*}})
// BLOCK: %[[BELOW:.*]] = tile.size (d0) -> (d0 + 164)(%[[ROW]])
// BLOCK: %[[END:.*]] = arith.minsi %c300, %[[BELOW]] : index
// BLOCK: %[[WHOLE:.*]] = tile.size (d0) -> (d0 + 101)(%[[ROW]])
// BLOCK: scf.for %[[KEY:.*]] = %c0 to %[[END]] step %c64
// BLOCK: %[[SCORES:.*]] = tile.dot
// BLOCK: %[[BEHIND:.*]] = tile.size (d0, d1) -> (d0 - d1 + 64)(%[[KEY]], %[[WHOLE]])
// BLOCK: %[[TIMES:.*]] = arith.minsi %[[BEHIND]], %c1 : index
// BLOCK: %[[MASKED:.*]] = scf.for %[[I:.*]] = %c0 to %[[TIMES]] step %c64 iter_args(%[[S:.*]] = %[[SCORES]])
// BLOCK: %[[AT:.*]] = tile.size (d0, d1) -> (d0 + d1)(%[[KEY]], %[[I]])
// BLOCK: tile.coordinate %[[AT]] dim 2
// BLOCK: %[[X:.*]] = arith.select %{{.*}}, %[[S]], %{{.*}}
// BLOCK: scf.yield %[[X]]
// Keys behind the last one are another mask, neutral before the last step.
// BLOCK: %[[PAST:.*]] = tile.size (d0, d1) -> (d0 - d1 + 64)(%[[KEY]], %c300)
// BLOCK: %[[TIMES2:.*]] = arith.minsi %[[PAST]], %c1 : index
// BLOCK: scf.for %{{.*}} = %c0 to %[[TIMES2]] step %c64 iter_args(%{{.*}} = %[[MASKED]])
// BLOCK: tile.reduce <max>

// One tile of keys, which ends with the last row's.
// VECTOR-LABEL: tile.kernel @past
// VECTOR-SAME: tile = [1, 102, 64], reduce = [304, 64]
// VECTOR: %[[BELOW:.*]] = tile.size (d0) -> (d0 + 202)(%{{.*}})
// VECTOR: %[[END:.*]] = arith.minsi %c300, %[[BELOW]] : index
// VECTOR-NOT: scf.for
// VECTOR: %[[LEFT:.*]] = tile.size (d0, d1) -> (d0 - d1)(%c0, %[[END]])
// VECTOR: tile.coordinate %[[LEFT]] dim 2

// BLOCK-LABEL: tile.kernel @window
// BLOCK: %[[ROW:.*]] = tile.size (d0) -> ((-(d0 mod 16) + 15) * 64)
// BLOCK: %[[BELOW:.*]] = tile.size (d0) -> (d0 + 64)(%[[ROW]])
// BLOCK: %[[END:.*]] = arith.minsi %c1000, %[[BELOW]] : index
// BLOCK: %[[FROM:.*]] = tile.size (d0) -> (((d0 - 63) floordiv 16) * 16)(%[[ROW]])
// BLOCK: %[[FIRST:.*]] = arith.maxsi %c0, %[[FROM]] : index
// BLOCK: scf.for %[[KEY:.*]] = %[[FIRST]] to %[[END]] step %c64
// BLOCK: %[[BEFORE:.*]] = tile.size (d0, d1) -> (d0 - d1)(%[[ROW]], %[[KEY]])
// BLOCK: %[[BEHIND:.*]] = tile.size (d0, d1) -> (d0 - d1 + 64)(%[[KEY]], %{{.*}})
// BLOCK: %[[OUTSIDE:.*]] = arith.maxsi %[[BEFORE]], %[[BEHIND]] : index
// BLOCK: arith.minsi %[[OUTSIDE]], %c1 : index

// Blocks with roles take several programs: of two heads at a time the last rows first.
// ROLES-LABEL: tile.kernel @past
// ROLES-NOT: ordered_program
// ROLES-LABEL: tile.kernel @ordered
// ROLES: %[[I:.*]] = tile.program_id 0
// ROLES: %[[P:.*]] = tile.ordered_program %[[I]] rows () -> (64) columns () -> (4) group 2
// ROLES: tile.size (d0) -> ((-(d0 mod 4) + 3) * 128)(%[[P]])
// ROLES: tile.size (d0) -> (d0 floordiv 4)(%[[P]])
// ROLES: scf.for

// VECTOR-LABEL: tile.kernel @window
// VECTOR: %[[FIRST:.*]] = arith.maxsi %c0, %{{.*}} : index
// VECTOR: scf.for %[[KEY:.*]] = %[[FIRST]] to %[[END:.*]] step
// VECTOR: tile.size (d0, d1) -> (d0 - d1)(%[[KEY]], %[[END]])
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a})" | FileCheck %s --check-prefix=ROLES
module attributes {graph.nodes = ["a|Attention"]} {
  graph.kernel @past(%q: tensor<2x200x64xf32>, %k: tensor<2x300x64xf32>, %v: tensor<2x300x64xf32>) -> tensor<2x200x64xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d1 + 101)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<2x200x64xf32>, tensor<2x300x64xf32> -> tensor<2x200x300xf32>
    %row = graph.iota dim 1 : tensor<2x200x300xi64>
    %key = graph.iota dim 2 : tensor<2x200x300xi64>
    %past = arith.constant dense<100> : tensor<2x200x300xi64>
    %end = arith.addi %row, %past : tensor<2x200x300xi64>
    %live = arith.cmpi sle, %key, %end : tensor<2x200x300xi64>
    %never = arith.constant dense<0xFF800000> : tensor<2x200x300xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 + 101)>} : tensor<2x200x300xi1>, tensor<2x200x300xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<2x200x300xf32> -> tensor<2x200xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<2x200xf32> -> tensor<2x200x300xf32>
    %d = arith.subf %x, %mb : tensor<2x200x300xf32>
    %e = math.exp %d : tensor<2x200x300xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<2x200x300xf32> -> tensor<2x200xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<2x200xf32> -> tensor<2x200x300xf32>
    %p = arith.divf %e, %tb : tensor<2x200x300xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<2x200x300xf32>
    %z = arith.constant dense<0.0> : tensor<2x200x300xf32>
    %g = arith.select %nan, %z, %p : tensor<2x200x300xi1>, tensor<2x200x300xf32>
    %o = graph.contract %g, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<2x200x300xf32>, tensor<2x300x64xf32> -> tensor<2x200x64xf32>
    graph.return %o : tensor<2x200x64xf32>
  }
  graph.kernel @ordered(%q: tensor<64x512x64xf16>, %k: tensor<64x512x64xf16>, %v: tensor<64x512x64xf16>) -> tensor<64x512x64xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d1 + 1)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<64x512x64xf16>, tensor<64x512x64xf16> -> tensor<64x512x512xf32>
    %row = graph.iota dim 1 : tensor<64x512x512xi64>
    %key = graph.iota dim 2 : tensor<64x512x512xi64>
    %past = arith.constant dense<0> : tensor<64x512x512xi64>
    %end = arith.addi %row, %past : tensor<64x512x512xi64>
    %live = arith.cmpi sle, %key, %end : tensor<64x512x512xi64>
    %never = arith.constant dense<0xFF800000> : tensor<64x512x512xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 + 1)>} : tensor<64x512x512xi1>, tensor<64x512x512xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<64x512x512xf32> -> tensor<64x512xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<64x512xf32> -> tensor<64x512x512xf32>
    %d = arith.subf %x, %mb : tensor<64x512x512xf32>
    %e = math.exp %d : tensor<64x512x512xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<64x512x512xf32> -> tensor<64x512xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<64x512xf32> -> tensor<64x512x512xf32>
    %p = arith.divf %e, %tb : tensor<64x512x512xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<64x512x512xf32>
    %z = arith.constant dense<0.0> : tensor<64x512x512xf32>
    %g = arith.select %nan, %z, %p : tensor<64x512x512xi1>, tensor<64x512x512xf32>
    %h = arith.truncf %g : tensor<64x512x512xf32> to tensor<64x512x512xf16>
    %o = graph.contract %h, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<64x512x512xf16>, tensor<64x512x64xf16> -> tensor<64x512x64xf32>
    graph.return %o : tensor<64x512x64xf32>
  }
  graph.kernel @window(%q: tensor<2x1000x64xf32>, %k: tensor<2x1000x64xf32>, %v: tensor<2x1000x64xf32>) -> tensor<2x1000x64xf32> attributes {graph.keys_below = affine_map<(d0, d1, d2) -> (d1 + 1)>, graph.keys_from = affine_map<(d0, d1, d2) -> (d1 - 63)>, root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<2x1000x64xf32>, tensor<2x1000x64xf32> -> tensor<2x1000x1000xf32>
    %row = graph.iota dim 1 : tensor<2x1000x1000xi64>
    %key = graph.iota dim 2 : tensor<2x1000x1000xi64>
    %past = arith.constant dense<0> : tensor<2x1000x1000xi64>
    %end = arith.addi %row, %past : tensor<2x1000x1000xi64>
    %behind = arith.cmpi sle, %key, %end : tensor<2x1000x1000xi64>
    %width = arith.constant dense<64> : tensor<2x1000x1000xi64>
    %first = arith.subi %end, %width : tensor<2x1000x1000xi64>
    %within = arith.cmpi sgt, %key, %first : tensor<2x1000x1000xi64>
    %live = arith.andi %behind, %within : tensor<2x1000x1000xi1>
    %never = arith.constant dense<0xFF800000> : tensor<2x1000x1000xf32>
    %x = arith.select %live, %s, %never {graph.neutral_below = affine_map<(d0, d1, d2) -> (d1 + 1)>, graph.neutral_from = affine_map<(d0, d1, d2) -> (d1 - 63)>} : tensor<2x1000x1000xi1>, tensor<2x1000x1000xf32>
    %m = graph.reduce <max> %x axes [2] : tensor<2x1000x1000xf32> -> tensor<2x1000xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<2x1000xf32> -> tensor<2x1000x1000xf32>
    %d = arith.subf %x, %mb : tensor<2x1000x1000xf32>
    %e = math.exp %d : tensor<2x1000x1000xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<2x1000x1000xf32> -> tensor<2x1000xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<2x1000xf32> -> tensor<2x1000x1000xf32>
    %p = arith.divf %e, %tb : tensor<2x1000x1000xf32>
    %nan = arith.cmpf uno, %p, %p : tensor<2x1000x1000xf32>
    %z = arith.constant dense<0.0> : tensor<2x1000x1000xf32>
    %g = arith.select %nan, %z, %p : tensor<2x1000x1000xi1>, tensor<2x1000x1000xf32>
    %o = graph.contract %g, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<2x1000x1000xf32>, tensor<2x1000x64xf32> -> tensor<2x1000x64xf32>
    graph.return %o : tensor<2x1000x64xf32>
  }
}
