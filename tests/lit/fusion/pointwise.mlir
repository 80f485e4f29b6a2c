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

// Copies: the cast and the broadcast of one value go to both readers, whatever stands between them.
// CHECK: fusion all: 3 launches
// CHECK-NOT: cast is not fused
module attributes {graph.nodes = ["first|A", "middle|B", "last|C"]} {
  func.func @main(%x: tensor<8x16xf32>, %v: tensor<16xf16>) -> tensor<8x16xf32> {
    %0 = arith.extf %v {graph.node = 0 : i64} : tensor<16xf16> to tensor<16xf32>
    %1 = graph.broadcast %0 dims [1] {graph.node = 0 : i64} : tensor<16xf32> -> tensor<8x16xf32>
    %2 = arith.addf %x, %1 {graph.node = 0 : i64} : tensor<8x16xf32>
    %3 = graph.host_call "Unknown"("", 13) present [true] attributes {} (%2) {graph.node = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %4 = arith.mulf %3, %1 {graph.node = 2 : i64} : tensor<8x16xf32>
    return %4 : tensor<8x16xf32>
  }
}

// -----

// A split whose pieces nobody else touches is one kernel, as the one node that it is.
// CHECK: fusion all: 1 launches
// CHECK: (pointwise): split
module attributes {graph.nodes = ["split|A"]} {
  func.func @main(%x: tensor<8x32xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %0 = graph.slice %x offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 0 : i64} : tensor<8x32xf32> -> tensor<8x16xf32>
    %1 = graph.slice %x offsets affine_map<() -> (0, 16)> strides [1, 1] {graph.node = 0 : i64} : tensor<8x32xf32> -> tensor<8x16xf32>
    return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
  }
}
