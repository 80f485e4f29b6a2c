// Operations that need a size come after the call that binds it, even if they do not read its result.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: graph.host_call "NonZero"
// CHECK: graph.launch @fill
#n = affine_map<()[s0] -> (s0)>
#found = affine_map<()[s0] -> (1, s0)>
module attributes {graph.symbols = ["u0"], graph.nodes = ["fill|Fill", "find|NonZero"]} {
  func.func @main(%x: tensor<16xf32>, %v: tensor<f32>) -> (tensor<?xf32, #n>, tensor<1x?xi64, #found>) {
    %0 = graph.broadcast %v dims [] {graph.node = 0 : i64} : tensor<f32> -> tensor<?xf32, #n>
    %1 = arith.negf %0 {graph.node = 0 : i64} : tensor<?xf32, #n>
    %2 = graph.host_call "NonZero"("", 13) present [true] attributes {} (%x) {graph.node = 1 : i64} : (tensor<16xf32>) -> tensor<1x?xi64, #found>
    return %1, %2 : tensor<?xf32, #n>, tensor<1x?xi64, #found>
  }
}

// -----

// A call whose result has a size that an earlier node reads comes after it: the size is bound once.
// CHECK-LABEL: func.func @main
// CHECK: graph.read_sizes
// CHECK: graph.host_call "TopK"
#n = affine_map<()[s0] -> (s0)>
module attributes {graph.symbols = ["u0"], graph.nodes = ["n|Range", "top|TopK"]} {
  func.func @main(%x: tensor<16xf32>, %k: tensor<1xi64>) -> tensor<?xf32, #n> {
    %0:2 = graph.host_call "TopK"("", 18) present [true, true] attributes {} (%x, %k) {graph.node = 1 : i64} : (tensor<16xf32>, tensor<1xi64>) -> (tensor<?xf32, #n>, tensor<?xi64, #n>)
    graph.read_sizes %k symbols [0] {graph.node = 0 : i64} : tensor<1xi64>
    %1 = arith.negf %0#0 {graph.node = 1 : i64} : tensor<?xf32, #n>
    return %1 : tensor<?xf32, #n>
  }
}
