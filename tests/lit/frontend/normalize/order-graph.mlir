// Operations and operands are ordered by structure: both functions become the same.
// RUN: tilewright-opt %s --split-input-file --tilewright-normalize-graph | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[E:.*]] = math.exp %arg0
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[X:.*]], %[[Y:.*]] : tensor<8xf32>
// CHECK-NEXT: return
module {
  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %0 = math.exp %x : tensor<8xf32>
    %1 = arith.addf %0, %y : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[E:.*]] = math.exp %arg0
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[Y]] : tensor<8xf32>
// CHECK-NEXT: return
module {
  func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    %unused = math.absf %y : tensor<8xf32>
    %0 = math.exp %x : tensor<8xf32>
    %1 = arith.addf %y, %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
