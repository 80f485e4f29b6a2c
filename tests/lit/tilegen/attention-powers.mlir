// Weights that are rounded to halves are powers of two, where the logits leave room for a factor of log2 e. What multiplies
// the logits last is part of that factor, so that the largest one is found among the scores. Heads that end within a tile
// are multiplied as far as they go.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a})" | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" | FileCheck %s --check-prefix=VECTOR
// VECTOR-NOT: math.exp2

// 0.125 log2 e
// CHECK-LABEL: tile.kernel @scaled
// CHECK-DAG: %[[ROWFACTOR:.*]] = arith.constant dense<0.180336878> : tensor<1x64x1xf32>
// CHECK-DAG: %[[FACTOR:.*]] = arith.constant dense<0.180336878> : tensor<1x64x128xf32>
// CHECK: %[[SCORES:.*]] = tile.dot {{.*}} {live_depth = 40 : i64}
// CHECK: %[[LARGEST:.*]] = tile.reduce <max> %[[SCORES]]
// CHECK: %[[HERE:.*]] = arith.mulf %[[LARGEST]], %[[ROWFACTOR]]
// CHECK: %[[LOGITS:.*]] = arith.mulf %[[SCORES]], %[[FACTOR]]
// CHECK: %[[NEXT:.*]] = arith.maximumf %{{.*}}, %[[HERE]]
// CHECK: %[[SHIFT:.*]] = arith.select %{{.*}}, %[[NEXT]]
// CHECK: %[[SHIFTS:.*]] = tile.broadcast %[[SHIFT]]
// CHECK: %[[BELOW:.*]] = arith.subf %[[LOGITS]], %[[SHIFTS]]
// CHECK: math.exp2 %[[BELOW]]
// CHECK: %[[FALL:.*]] = arith.subf %{{.*}}, %[[SHIFT]]
// CHECK: math.exp2 %[[FALL]]
// CHECK: tile.dot {{.*}} {live_columns = 40 : i64}
graph.kernel @scaled(%q: tensor<8x64x40xf16>, %k: tensor<8x256x40xf16>, %v: tensor<8x256x40xf16>) -> tensor<8x64x40xf32> attributes {root = #graph.root<attention>} {
  %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      : tensor<8x64x40xf16>, tensor<8x256x40xf16> -> tensor<8x64x256xf32>
  %c = arith.constant dense<0.125> : tensor<8x64x256xf32>
  %x = arith.mulf %c, %s : tensor<8x64x256xf32>
  %m = graph.reduce <max> %x axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %mb = graph.broadcast %m dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %d = arith.subf %x, %mb : tensor<8x64x256xf32>
  %e = math.exp %d : tensor<8x64x256xf32>
  %sum = graph.reduce <sum> %e axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %sums = graph.broadcast %sum dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %p = arith.divf %e, %sums : tensor<8x64x256xf32>
  %w = arith.truncf %p : tensor<8x64x256xf32> to tensor<8x64x256xf16>
  %o = graph.contract %w, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
      : tensor<8x64x256xf16>, tensor<8x256x40xf16> -> tensor<8x64x40xf32>
  graph.return %o : tensor<8x64x40xf32>
}

// -----

// A mask of halves leaves room, and the sum is divided by 8: 0.125 log2 e again.
// CHECK-LABEL: tile.kernel @divided
// CHECK-DAG: arith.constant dense<0.180336878> : tensor<1x64x128xf32>
// CHECK: %[[X:.*]] = arith.addf
// CHECK: tile.reduce <max> %[[X]]
// CHECK: math.exp2
graph.kernel @divided(%q: tensor<8x64x40xf16>, %k: tensor<8x256x40xf16>, %v: tensor<8x256x40xf16>, %mask: tensor<8x64x256xf16>) -> tensor<8x64x40xf32> attributes {root = #graph.root<attention>} {
  %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      : tensor<8x64x40xf16>, tensor<8x256x40xf16> -> tensor<8x64x256xf32>
  %wide = arith.extf %mask : tensor<8x64x256xf16> to tensor<8x64x256xf32>
  %masked = arith.addf %s, %wide : tensor<8x64x256xf32>
  %c = arith.constant dense<8.0> : tensor<8x64x256xf32>
  %x = arith.divf %masked, %c : tensor<8x64x256xf32>
  %m = graph.reduce <max> %x axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %mb = graph.broadcast %m dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %d = arith.subf %x, %mb : tensor<8x64x256xf32>
  %e = math.exp %d : tensor<8x64x256xf32>
  %sum = graph.reduce <sum> %e axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %sums = graph.broadcast %sum dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %p = arith.divf %e, %sums : tensor<8x64x256xf32>
  %w = arith.truncf %p : tensor<8x64x256xf32> to tensor<8x64x256xf16>
  %o = graph.contract %w, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
      : tensor<8x64x256xf16>, tensor<8x256x40xf16> -> tensor<8x64x40xf32>
  graph.return %o : tensor<8x64x40xf32>
}

// -----

// Tanh and selections of constants leave room.
// CHECK-LABEL: tile.kernel @capped
// CHECK: math.exp2
graph.kernel @capped(%q: tensor<8x64x40xf16>, %k: tensor<8x256x40xf16>, %v: tensor<8x256x40xf16>, %live: tensor<8x64x256xi1>) -> tensor<8x64x40xf32> attributes {root = #graph.root<attention>} {
  %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      : tensor<8x64x40xf16>, tensor<8x256x40xf16> -> tensor<8x64x256xf32>
  %t = math.tanh %s : tensor<8x64x256xf32>
  %n = arith.negf %t : tensor<8x64x256xf32>
  %never = arith.constant dense<0xFF800000> : tensor<8x64x256xf32>
  %x = arith.select %live, %n, %never : tensor<8x64x256xi1>, tensor<8x64x256xf32>
  %m = graph.reduce <max> %x axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %mb = graph.broadcast %m dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %d = arith.subf %x, %mb : tensor<8x64x256xf32>
  %e = math.exp %d : tensor<8x64x256xf32>
  %sum = graph.reduce <sum> %e axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %sums = graph.broadcast %sum dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %p = arith.divf %e, %sums : tensor<8x64x256xf32>
  %w = arith.truncf %p : tensor<8x64x256xf32> to tensor<8x64x256xf16>
  %o = graph.contract %w, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
      : tensor<8x64x256xf16>, tensor<8x256x40xf16> -> tensor<8x64x40xf32>
  graph.return %o : tensor<8x64x40xf32>
}

// -----

// A mask of singles may hold the lowest one, which times log2 e is infinite.
// CHECK-LABEL: tile.kernel @lowest
// CHECK-NOT: math.exp2
// CHECK: math.exp %{{.*}} fastmath<afn>
graph.kernel @lowest(%q: tensor<8x64x40xf16>, %k: tensor<8x256x40xf16>, %v: tensor<8x256x40xf16>, %mask: tensor<8x64x256xf32>) -> tensor<8x64x40xf32> attributes {root = #graph.root<attention>} {
  %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      : tensor<8x64x40xf16>, tensor<8x256x40xf16> -> tensor<8x64x256xf32>
  %x = arith.addf %s, %mask : tensor<8x64x256xf32>
  %m = graph.reduce <max> %x axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %mb = graph.broadcast %m dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %d = arith.subf %x, %mb : tensor<8x64x256xf32>
  %e = math.exp %d : tensor<8x64x256xf32>
  %sum = graph.reduce <sum> %e axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %sums = graph.broadcast %sum dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %p = arith.divf %e, %sums : tensor<8x64x256xf32>
  %w = arith.truncf %p : tensor<8x64x256xf32> to tensor<8x64x256xf16>
  %o = graph.contract %w, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
      : tensor<8x64x256xf16>, tensor<8x256x40xf16> -> tensor<8x64x40xf32>
  graph.return %o : tensor<8x64x40xf32>
}

// -----

// So may a constant.
// CHECK-LABEL: tile.kernel @constant
// CHECK-NOT: math.exp2
// CHECK: math.exp %{{.*}} fastmath<afn>
graph.kernel @constant(%q: tensor<8x64x40xf16>, %k: tensor<8x256x40xf16>, %v: tensor<8x256x40xf16>, %live: tensor<8x64x256xi1>) -> tensor<8x64x40xf32> attributes {root = #graph.root<attention>} {
  %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      : tensor<8x64x40xf16>, tensor<8x256x40xf16> -> tensor<8x64x256xf32>
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<8x64x256xf32>
  %x = arith.select %live, %s, %lowest : tensor<8x64x256xi1>, tensor<8x64x256xf32>
  %m = graph.reduce <max> %x axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %mb = graph.broadcast %m dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %d = arith.subf %x, %mb : tensor<8x64x256xf32>
  %e = math.exp %d : tensor<8x64x256xf32>
  %sum = graph.reduce <sum> %e axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %sums = graph.broadcast %sum dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %p = arith.divf %e, %sums : tensor<8x64x256xf32>
  %w = arith.truncf %p : tensor<8x64x256xf32> to tensor<8x64x256xf16>
  %o = graph.contract %w, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
      : tensor<8x64x256xf16>, tensor<8x256x40xf16> -> tensor<8x64x40xf32>
  graph.return %o : tensor<8x64x40xf32>
}

// -----

// A negative factor turns the largest score into the least, so it is no scale.
// CHECK-LABEL: tile.kernel @negative
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: tile.reduce <max> %[[X]]
// CHECK: math.exp2
graph.kernel @negative(%q: tensor<8x64x40xf16>, %k: tensor<8x256x40xf16>, %v: tensor<8x256x40xf16>) -> tensor<8x64x40xf32> attributes {root = #graph.root<attention>} {
  %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      : tensor<8x64x40xf16>, tensor<8x256x40xf16> -> tensor<8x64x256xf32>
  %c = arith.constant dense<-0.125> : tensor<8x64x256xf32>
  %x = arith.mulf %s, %c : tensor<8x64x256xf32>
  %m = graph.reduce <max> %x axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %mb = graph.broadcast %m dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %d = arith.subf %x, %mb : tensor<8x64x256xf32>
  %e = math.exp %d : tensor<8x64x256xf32>
  %sum = graph.reduce <sum> %e axes [2] : tensor<8x64x256xf32> -> tensor<8x64xf32>
  %sums = graph.broadcast %sum dims [0, 1] : tensor<8x64xf32> -> tensor<8x64x256xf32>
  %p = arith.divf %e, %sums : tensor<8x64x256xf32>
  %w = arith.truncf %p : tensor<8x64x256xf32> to tensor<8x64x256xf16>
  %o = graph.contract %w, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
      : tensor<8x64x256xf16>, tensor<8x256x40xf16> -> tensor<8x64x40xf32>
  graph.return %o : tensor<8x64x40xf32>
}
