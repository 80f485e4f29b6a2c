// Reshapes at the border of a group stay outside of the kernel, as views.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = graph.reshape %arg0 {{.*}}: tensor<8x16xf32> -> tensor<128xf32>
// CHECK: %[[Y:.*]] = graph.launch @{{.*}}(%[[X]])
// CHECK: graph.reshape %[[Y]] {{.*}}: tensor<128xf32> -> tensor<4x32xf32>
// CHECK: graph.kernel
// CHECK-NOT: graph.reshape
// CHECK: graph.return
module attributes {graph.nodes = ["flat|A", "neg|B", "split|C"]} {
  func.func @main(%x: tensor<8x16xf32>) -> tensor<4x32xf32> {
    %0 = graph.reshape %x {graph.node = 0 : i64} : tensor<8x16xf32> -> tensor<128xf32>
    %1 = arith.negf %0 {graph.node = 1 : i64} : tensor<128xf32>
    %2 = graph.reshape %1 {graph.node = 2 : i64} : tensor<128xf32> -> tensor<4x32xf32>
    return %2 : tensor<4x32xf32>
  }
}

// -----

// A reshape between members stays inside.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.reshape
// CHECK: graph.kernel
// CHECK: graph.reshape
// CHECK: graph.return
module attributes {graph.nodes = ["neg|A", "flat|B", "add|C"]} {
  func.func @main(%x: tensor<8x16xf32>, %y: tensor<128xf32>) -> tensor<128xf32> {
    %0 = arith.negf %x {graph.node = 0 : i64} : tensor<8x16xf32>
    %1 = graph.reshape %0 {graph.node = 1 : i64} : tensor<8x16xf32> -> tensor<128xf32>
    %2 = arith.addf %1, %y {graph.node = 2 : i64} : tensor<128xf32>
    return %2 : tensor<128xf32>
  }
}
