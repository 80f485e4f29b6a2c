// Accesses are composed, and those that move nothing are reshapes.
// RUN: tilewright-opt %s --split-input-file --tilewright-normalize-graph | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0 perm [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
// CHECK-NEXT: return %[[T]]
module {
  func.func @main(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
    %0 = graph.transpose %x perm [1, 0, 2] : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
    %1 = graph.transpose %0 perm [0, 2, 1] : tensor<3x2x4xf32> -> tensor<3x4x2xf32>
    return %1 : tensor<3x4x2xf32>
  }
}

// -----

// A transpose of a dimension of size 1.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: graph.reshape %arg0 : tensor<1x8xf32> -> tensor<8x1xf32>
// CHECK-NEXT: return
module {
  func.func @main(%x: tensor<1x8xf32>) -> tensor<8x1xf32> {
    %0 = graph.transpose %x perm [1, 0] : tensor<1x8xf32> -> tensor<8x1xf32>
    return %0 : tensor<8x1xf32>
  }
}

// -----

// A slice of a slice.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: graph.slice %arg0 offsets {{.*}} strides [6] : tensor<100xf32> -> tensor<10xf32>
// CHECK-NEXT: return
module {
  func.func @main(%x: tensor<100xf32>) -> tensor<10xf32> {
    %0 = graph.slice %x offsets affine_map<() -> (5)> strides [2] : tensor<100xf32> -> tensor<40xf32>
    %1 = graph.slice %0 offsets affine_map<() -> (1)> strides [3] : tensor<40xf32> -> tensor<10xf32>
    return %1 : tensor<10xf32>
  }
}

// -----

// Near miss: a broadcast that repeats elements stays one.
// CHECK-LABEL: func.func @main
// CHECK: graph.broadcast
// CHECK-NEXT: return
module {
  func.func @main(%x: tensor<1x8xf32>) -> tensor<4x8xf32> {
    %0 = graph.broadcast %x dims [0, 1] : tensor<1x8xf32> -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----

// What MLIR folds to a constant has no sizes where they are not known: a scalar is repeated.
#unknown = affine_map<()[s0] -> (8, s0)>
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[TRUE:.*]] = arith.constant dense<true> : tensor<i1>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0> : tensor<i8>
// CHECK-DAG: graph.broadcast %[[TRUE]] dims [] : tensor<i1> -> tensor<8x?xi1
// CHECK-DAG: graph.broadcast %[[ZERO]] dims [] : tensor<i8> -> tensor<8x?xi8
// CHECK: return
module {
  func.func @main(%x: tensor<8x?xi64, #unknown>, %y: tensor<8x?xi8, #unknown>) -> (tensor<8x?xi1, #unknown>, tensor<8x?xi8, #unknown>) {
    %0 = arith.cmpi sge, %x, %x : tensor<8x?xi64, #unknown>
    %1 = arith.xori %y, %y : tensor<8x?xi8, #unknown>
    return %0, %1 : tensor<8x?xi1, #unknown>, tensor<8x?xi8, #unknown>
  }
}
