// Pointwise groups that read the same value become one kernel, which reads it once.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s

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

// -----

// Two functions of one value.
// CHECK: fusion all: 1 launches
// CHECK: (pointwise): neg, abs
module attributes {graph.nodes = ["neg|A", "abs|B"]} {
  func.func @main(%x: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
    %0 = arith.negf %x {graph.node = 0 : i64} : tensor<8x32xf32>
    %1 = math.absf %x {graph.node = 1 : i64} : tensor<8x32xf32>
    return %0, %1 : tensor<8x32xf32>, tensor<8x32xf32>
  }
}

// -----

// Refused: the outputs have different sizes.
// CHECK: fusion all: 2 launches
module attributes {graph.nodes = ["head|A", "tail|B"]} {
  func.func @main(%x: tensor<8x32xf32>) -> (tensor<8x8xf32>, tensor<8x24xf32>) {
    %0 = graph.slice %x offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 0 : i64} : tensor<8x32xf32> -> tensor<8x8xf32>
    %1 = graph.slice %x offsets affine_map<() -> (0, 8)> strides [1, 1] {graph.node = 1 : i64} : tensor<8x32xf32> -> tensor<8x24xf32>
    return %0, %1 : tensor<8x8xf32>, tensor<8x24xf32>
  }
}

// -----

// Near miss: a path leads from one to the other.
// CHECK: fusion all: 3 launches
module attributes {graph.nodes = ["neg|A", "host|B", "add|C"]} {
  func.func @main(%x: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
    %0 = arith.negf %x {graph.node = 0 : i64} : tensor<8x32xf32>
    %1 = graph.host_call "Unknown"("", 13) present [true] attributes {} (%0) {graph.node = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %2 = arith.addf %1, %x {graph.node = 2 : i64} : tensor<8x32xf32>
    return %0, %2 : tensor<8x32xf32>, tensor<8x32xf32>
  }
}
