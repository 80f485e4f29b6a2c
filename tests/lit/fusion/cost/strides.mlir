// A broadcast that repeats rows of a transpose would collect each of its elements again and again on a core, from places
// that lie apart. A GPU's threads read them once for a tile.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text cpu=true' -o /dev/null | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s --check-prefixes=CHECK,GPU

// The ranks of distances: each with all others of its row.
// CPU: fusion all: 2 launches
// CPU: turn is not fused with rank because work would be repeated for every use of its result
// GPU: fusion all: 1 launches
module attributes {graph.nodes = ["turn|Transpose", "rank|TopK"]} {
  func.func @main(%x: tensor<150x40xf32>) -> tensor<40x150xi64> {
    %0 = graph.transpose %x perm [1, 0] {graph.node = 0 : i64} : tensor<150x40xf32> -> tensor<40x150xf32>
    %1 = graph.broadcast %0 dims [0, 2] {graph.node = 1 : i64} : tensor<40x150xf32> -> tensor<40x150x150xf32>
    %2 = graph.broadcast %0 dims [0, 1] {graph.node = 1 : i64} : tensor<40x150xf32> -> tensor<40x150x150xf32>
    %3 = arith.cmpf ogt, %1, %2 {graph.node = 1 : i64} : tensor<40x150x150xf32>
    %4 = arith.extui %3 {graph.node = 1 : i64} : tensor<40x150x150xi1> to tensor<40x150x150xi64>
    %5 = graph.reduce <sum> %4 axes [2] {graph.node = 1 : i64} : tensor<40x150x150xi64> -> tensor<40x150xi64>
    return %5 : tensor<40x150xi64>
  }
}

// -----

// A number for each row is read once for it.
// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["turn|Transpose", "scale|Mul"]} {
  func.func @main(%x: tensor<150x40xf32>, %y: tensor<40x150x64xf32>) -> tensor<40x150x64xf32> {
    %0 = graph.transpose %x perm [1, 0] {graph.node = 0 : i64} : tensor<150x40xf32> -> tensor<40x150xf32>
    %1 = graph.broadcast %0 dims [0, 1] {graph.node = 1 : i64} : tensor<40x150xf32> -> tensor<40x150x64xf32>
    %2 = arith.mulf %1, %y {graph.node = 1 : i64} : tensor<40x150x64xf32>
    return %2 : tensor<40x150x64xf32>
  }
}
