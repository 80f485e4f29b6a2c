// A reduction computes its input while it reads it.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=json' -o /dev/null | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all cpu=true explain=json' -o /dev/null | FileCheck %s --check-prefix=CPU

// CHECK: "kernel": "a_sum",
// CHECK: "rules": [
// CHECK-NEXT: "reduction-prologue"
module attributes {graph.nodes = ["scale|A", "sum|Sum"]} {
  func.func @main(%x: tensor<64x1000xf32>, %y: tensor<64x1000xf32>) -> tensor<64xf32> {
    %0 = arith.mulf %x, %y {graph.node = 0 : i64} : tensor<64x1000xf32>
    %1 = graph.reduce <sum> %0 axes [1] {graph.node = 1 : i64} : tensor<64x1000xf32> -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
}

// -----

// Near miss: a second reader needs the input in memory, so it is stored too.
// CHECK: "kernel": "a_sum",
// CHECK: "nodes": [
// CHECK-NEXT: "scale",
// CHECK-NEXT: "sum"
module attributes {graph.nodes = ["scale|A", "sum|Sum", "host|B"]} {
  func.func @main(%x: tensor<64x1000xf32>, %y: tensor<64x1000xf32>) -> (tensor<64xf32>, tensor<64x1000xf32>) {
    %0 = arith.mulf %x, %y {graph.node = 0 : i64} : tensor<64x1000xf32>
    %1 = graph.reduce <sum> %0 axes [1] {graph.node = 1 : i64} : tensor<64x1000xf32> -> tensor<64xf32>
    %2 = graph.host_call "Unknown"("", 13) present [true] attributes {} (%0) {graph.node = 2 : i64} : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
    return %1, %2 : tensor<64xf32>, tensor<64x1000xf32>
  }
}

// -----

// Refused on a core: the rows are too short for a function in front of the sum.
// CPU: "reason": "short-rows"
module attributes {graph.nodes = ["exp|A", "sum|Sum"]} {
  func.func @main(%x: tensor<1000x40xf32>) -> tensor<1000xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<1000x40xf32>
    %1 = graph.reduce <sum> %0 axes [1] {graph.node = 1 : i64} : tensor<1000x40xf32> -> tensor<1000xf32>
    return %1 : tensor<1000xf32>
  }
}
