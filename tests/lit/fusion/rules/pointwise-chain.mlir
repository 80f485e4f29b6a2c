// Elementwise chains through every access, diamonds and several outputs.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s

// A diamond through broadcast, transpose, slice and pad, with two outputs.
// CHECK: fusion all: 1 launches
// CHECK: (pointwise): a, b, c, d, e, f
module attributes {graph.nodes = ["a|A", "b|B", "c|C", "d|D", "e|E", "f|F"]} {
  func.func @main(%x: tensor<8x16xf32>, %v: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = arith.negf %x {graph.node = 0 : i64} : tensor<8x16xf32>
    %1 = graph.broadcast %v dims [1] {graph.node = 1 : i64} : tensor<16xf32> -> tensor<8x16xf32>
    %2 = arith.addf %0, %1 {graph.node = 1 : i64} : tensor<8x16xf32>
    %3 = graph.slice %0 offsets affine_map<() -> (0, 2)> strides [1, 1] {graph.node = 2 : i64} : tensor<8x16xf32> -> tensor<8x14xf32>
    %4 = graph.pad %3 low [0, 1] fill 0.0 : f32 {graph.node = 3 : i64} : tensor<8x14xf32> -> tensor<8x16xf32>
    %5 = arith.mulf %2, %4 {graph.node = 4 : i64} : tensor<8x16xf32>
    %6 = math.absf %2 {graph.node = 5 : i64} : tensor<8x16xf32>
    return %5, %6 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}

// -----

// Refused: the outputs would have different numbers of elements.
// CHECK: fusion all: 2 launches
// CHECK: neg is not fused with add because the outputs would have different numbers of elements, or another order
module attributes {graph.nodes = ["neg|A", "add|B"]} {
  func.func @main(%v: tensor<16xf32>, %x: tensor<8x16xf32>) -> (tensor<16xf32>, tensor<8x16xf32>) {
    %0 = arith.negf %v {graph.node = 0 : i64} : tensor<16xf32>
    %1 = graph.broadcast %0 dims [1] {graph.node = 1 : i64} : tensor<16xf32> -> tensor<8x16xf32>
    %2 = arith.addf %1, %x {graph.node = 1 : i64} : tensor<8x16xf32>
    return %0, %2 : tensor<16xf32>, tensor<8x16xf32>
  }
}
