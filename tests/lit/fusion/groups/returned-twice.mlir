// A result that is returned twice is stored twice by its kernel on GPUs, where a copy of its own would be as long as a kernel. A core copies.
// RUN: tilewright-opt %s --tilewright-group-form-groups=mode=all | FileCheck %s
// RUN: tilewright-opt %s --tilewright-group-form-groups='mode=all cpu' | FileCheck %s --check-prefix=CPU

// CHECK: %[[R:.*]]:3 = graph.launch @tanh_relu
// CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// CHECK: graph.return %[[H:.*]], %[[C:.*]], %[[H]] : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// CPU: %[[R:.*]]:2 = graph.launch @tanh_relu
// CPU: return %[[R]]#0, %[[R]]#1, %[[R]]#0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
module attributes {graph.nodes = ["a|Tanh", "b|Relu"]} {
  func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %h = math.tanh %x {graph.node = 0 : i64} : tensor<8xf32>
    %c = arith.negf %h {graph.node = 1 : i64} : tensor<8xf32>
    return %h, %c, %h : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
