// Where the blocks of a cluster can hold a row that is read again, its reductions are not cut into parts.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='longest-held-row=131072' | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups | FileCheck %s --check-prefix=WITHOUT
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=epilogue longest-held-row=131072' | FileCheck %s --check-prefix=WITHOUT

// The maximum meets the row again, and so does the sum. Without clusters, and where the mode may not join all of it, it
// is cut.
// CHECK-LABEL: module
// CHECK: graph.launch
// CHECK-NOT: graph.launch
// CHECK: graph.reduce <max> %{{.*}} axes [1] : tensor<4x131072xf32> -> tensor<4xf32>
// CHECK: graph.reduce <sum> %{{.*}} axes [1] : tensor<4x131072xf32> -> tensor<4xf32>
// WITHOUT-LABEL: module
// WITHOUT: graph.reduce <max> %{{.*}} axes [2] : tensor<4x16x8192xf32>
// WITHOUT: graph.reduce <sum> %{{.*}} axes [2] : tensor<4x16x8192xf32>
module attributes {graph.nodes = ["y|Softmax"]} {
  func.func @main(%x: tensor<4x131072xf32>) -> tensor<4x131072xf32> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<4x131072xf32> -> tensor<4xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x131072xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<4x131072xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<4x131072xf32>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<4x131072xf32> -> tensor<4xf32>
    %sb = graph.broadcast %s dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x131072xf32>
    %y = arith.divf %e, %sb {graph.node = 0 : i64} : tensor<4x131072xf32>
    return %y : tensor<4x131072xf32>
  }
}

// -----

// The sum of exponentials is in the same kernel as the maximum, though nothing of the row meets it again.
// CHECK-LABEL: module
// CHECK: graph.launch
// CHECK-NOT: graph.launch
// CHECK: graph.reduce <max> %{{.*}} axes [1] : tensor<4x131072xf32> -> tensor<4xf32>
// CHECK: graph.reduce <sum> %{{.*}} axes [1] : tensor<4x131072xf32> -> tensor<4xf32>
// WITHOUT-LABEL: module
module attributes {graph.nodes = ["y|Softmax"]} {
  func.func @main(%x: tensor<4x131072xf32>) -> tensor<4xf32> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<4x131072xf32> -> tensor<4xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x131072xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<4x131072xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<4x131072xf32>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<4x131072xf32> -> tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// Too long.
// CHECK-LABEL: module
// CHECK: graph.reduce <max> %{{.*}} axes [2] : tensor<4x16x8193xf32>
// CHECK: graph.reduce <sum> %{{.*}} axes [2] : tensor<4x16x8193xf32>
// WITHOUT-LABEL: module
module attributes {graph.nodes = ["y|Softmax"]} {
  func.func @main(%x: tensor<4x131088xf32>) -> tensor<4x131088xf32> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<4x131088xf32> -> tensor<4xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x131088xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<4x131088xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<4x131088xf32>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<4x131088xf32> -> tensor<4xf32>
    %sb = graph.broadcast %s dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x131088xf32>
    %y = arith.divf %e, %sb {graph.node = 0 : i64} : tensor<4x131088xf32>
    return %y : tensor<4x131088xf32>
  }
}

// -----

// Elements that take two registers each.
// CHECK-LABEL: module
// CHECK: graph.reduce <max> %{{.*}} axes [2] : tensor<4x16x8192xf64>
// WITHOUT-LABEL: module
module attributes {graph.nodes = ["y|Softmax"]} {
  func.func @main(%x: tensor<4x131072xf64>) -> tensor<4x131072xf64> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<4x131072xf64> -> tensor<4xf64>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<4xf64> -> tensor<4x131072xf64>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<4x131072xf64>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<4x131072xf64>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<4x131072xf64> -> tensor<4xf64>
    %sb = graph.broadcast %s dims [0] {graph.node = 0 : i64} : tensor<4xf64> -> tensor<4x131072xf64>
    %y = arith.divf %e, %sb {graph.node = 0 : i64} : tensor<4x131072xf64>
    return %y : tensor<4x131072xf64>
  }
}

// -----

// Nothing meets the row again, so it is read once anyhow.
// CHECK-LABEL: module
// CHECK: graph.reduce <max> %{{.*}} axes [2] : tensor<4x16x8192xf32>
// WITHOUT-LABEL: module
module attributes {graph.nodes = ["y|Softmax"]} {
  func.func @main(%x: tensor<4x131072xf32>) -> tensor<4xf32> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<4x131072xf32> -> tensor<4xf32>
    return %m : tensor<4xf32>
  }
}

// -----

// Another reduction of what meets it, an argmax's of indices, can't be held: neither is.
// CHECK-LABEL: module
// CHECK: graph.reduce <max> %{{.*}} axes [2] : tensor<4x16x8192xf32>
// CHECK: graph.reduce <min> %{{.*}} axes [2] : tensor<4x16x8192xi64>
// WITHOUT-LABEL: module
module attributes {graph.nodes = ["y|Softmax"]} {
  func.func @main(%x: tensor<4x131072xf32>) -> tensor<4xi64> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<4x131072xf32> -> tensor<4xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x131072xf32>
    %is = arith.cmpf oeq, %x, %mb {graph.node = 0 : i64} : tensor<4x131072xf32>
    %j = arith.extui %is {graph.node = 0 : i64} : tensor<4x131072xi1> to tensor<4x131072xi64>
    %i = graph.reduce <min> %j axes [1] {graph.node = 0 : i64} : tensor<4x131072xi64> -> tensor<4xi64>
    return %i : tensor<4xi64>
  }
}
