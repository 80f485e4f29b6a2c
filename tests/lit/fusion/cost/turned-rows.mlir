// Rows that are reduced and returned whole are not turned in the same kernel if they are long: a block has few rows, so
// few of the elements that it stores would be neighbours.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s

// CHECK: fusion all: 2 launches
// CHECK: scale is not fused with turn because the elements of a reduced row would lie apart in memory, and so would those of neighbouring rows
module attributes {graph.nodes = ["sum|ReduceSum", "scale|Div", "turn|Transpose", "next|Exp"]} {
  func.func @main(%x: tensor<196x768xf32>) -> tensor<768x196xf32> {
    %0 = graph.reduce <sum> %x axes [1] {graph.node = 0 : i64} : tensor<196x768xf32> -> tensor<196xf32>
    %1 = graph.broadcast %0 dims [0] {graph.node = 1 : i64} : tensor<196xf32> -> tensor<196x768xf32>
    %2 = arith.divf %x, %1 {graph.node = 1 : i64} : tensor<196x768xf32>
    %3 = graph.transpose %2 perm [1, 0] {graph.node = 2 : i64} : tensor<196x768xf32> -> tensor<768x196xf32>
    %4 = math.exp %3 {graph.node = 3 : i64} : tensor<768x196xf32>
    return %4 : tensor<768x196xf32>
  }
}

// -----

// Of short rows a block has many.
// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["sum|ReduceSum", "scale|Div", "turn|Transpose"]} {
  func.func @main(%x: tensor<4096x48xf32>) -> tensor<48x4096xf32> {
    %0 = graph.reduce <sum> %x axes [1] {graph.node = 0 : i64} : tensor<4096x48xf32> -> tensor<4096xf32>
    %1 = graph.broadcast %0 dims [0] {graph.node = 1 : i64} : tensor<4096xf32> -> tensor<4096x48xf32>
    %2 = arith.divf %x, %1 {graph.node = 1 : i64} : tensor<4096x48xf32>
    %3 = graph.transpose %2 perm [1, 0] {graph.node = 2 : i64} : tensor<4096x48xf32> -> tensor<48x4096xf32>
    return %3 : tensor<48x4096xf32>
  }
}

// -----

// Sums alone are small.
// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["sum|ReduceSum", "turn|Transpose", "next|Exp"]} {
  func.func @main(%x: tensor<8x196x768xf32>) -> tensor<196x8xf32> {
    %0 = graph.reduce <sum> %x axes [2] {graph.node = 0 : i64} : tensor<8x196x768xf32> -> tensor<8x196xf32>
    %1 = graph.transpose %0 perm [1, 0] {graph.node = 1 : i64} : tensor<8x196xf32> -> tensor<196x8xf32>
    %2 = math.exp %1 {graph.node = 2 : i64} : tensor<196x8xf32>
    return %2 : tensor<196x8xf32>
  }
}
