// Every reason against fusion, each from the smallest graph that has it. `data-dependent` and `mode` need a host call and a mode: see below. `window-copied` is in single-windows.mlir, `pixels-copied` in few-channels.mlir, `rows-copied` in products/aligned-constants.mlir.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=epilogue explain=json' -o /dev/null | FileCheck %s --check-prefix=JSON

// CHECK: first is not fused with second because a kernel holds one contraction (two around a softmax, or of one left side), and this would be one more
// JSON: "reason": "second-contraction"
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = graph.contract %a, %a maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = graph.contract %0, %a maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
}

// -----

// CHECK: first is not fused with second because a contraction would wait for a whole reduction of its operand
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64x64x8xf32>) -> tensor<64x64xf32> {
    %0 = graph.reduce <sum> %a axes [2] {graph.node = 0 : i64} : tensor<64x64x8xf32> -> tensor<64x64xf32>
    %1 = graph.contract %0, %0 maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
}

// -----

// A residual is no operand of the contraction that it is added to.
// CHECK: norm is not fused with product because a contraction would wait for a whole reduction of its operand
// CHECK: norm is not fused with residual because each has a contraction or reduction of its own, and the one's value only joins the other's result
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["norm|A", "product|B", "again|C", "residual|D"]} {
  func.func @main(%a: tensor<64x64x8xf32>) -> tensor<64x64xf32> {
    %0 = graph.reduce <sum> %a axes [2] {graph.node = 0 : i64} : tensor<64x64x8xf32> -> tensor<64x64xf32>
    %1 = graph.contract %0, %0 maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %2 = graph.contract %1, %1 maps [#mk, #kn, #mn] {graph.node = 2 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %3 = arith.addf %2, %0 {graph.node = 3 : i64} : tensor<64x64xf32>
    return %3 : tensor<64x64xf32>
  }
}

// -----

// A node of two kernels is not said to be apart from itself.
// CHECK: softmax is split between the two because a reduction feeds a reduction over other loops
// CHECK-NOT: softmax is not fused with softmax
module attributes {graph.nodes = ["softmax|A"]} {
  func.func @main(%a: tensor<8x64x64xf32>) -> tensor<8xf32> {
    %0 = graph.reduce <sum> %a axes [2] {graph.node = 0 : i64} : tensor<8x64x64xf32> -> tensor<8x64xf32>
    %1 = math.exp %0 {graph.node = 0 : i64} : tensor<8x64xf32>
    %2 = graph.reduce <max> %1 axes [1] {graph.node = 0 : i64} : tensor<8x64xf32> -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}

// -----

// CHECK: first is not fused with second because a reduction needs whole rows of a contraction, which no one tile holds
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64xf32> {
    %0 = graph.contract %a, %a maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = graph.reduce <max> %0 axes [1] {graph.node = 1 : i64} : tensor<64x64xf32> -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
}

// -----

// CHECK: first is not fused with second because a reduction feeds a reduction over other loops
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<8x64x64xf32>) -> tensor<8xf32> {
    %0 = graph.reduce <sum> %a axes [2] {graph.node = 0 : i64} : tensor<8x64x64xf32> -> tensor<8x64xf32>
    %1 = math.exp %0 {graph.node = 0 : i64} : tensor<8x64xf32>
    %2 = graph.reduce <max> %1 axes [1] {graph.node = 1 : i64} : tensor<8x64xf32> -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}

// -----

// CHECK: first is not fused with second because the result of a reduction over windows or outer loops is read again inside those loops
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<8192x32xf32>) -> tensor<8192x32xf32> {
    %0 = graph.reduce <max> %a axes [0] {graph.node = 0 : i64} : tensor<8192x32xf32> -> tensor<32xf32>
    %1 = graph.broadcast %0 dims [1] {graph.node = 1 : i64} : tensor<32xf32> -> tensor<8192x32xf32>
    %2 = arith.subf %a, %1 {graph.node = 1 : i64} : tensor<8192x32xf32>
    return %2 : tensor<8192x32xf32>
  }
}

// -----

// CHECK: first is not fused with second because the result is read through an access that is not one to one
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x32xf32> {
    %0 = graph.contract %a, %a maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = graph.slice %0 offsets affine_map<() -> (0, 32)> strides [1, 1] {graph.node = 1 : i64} : tensor<64x64xf32> -> tensor<64x32xf32>
    return %1 : tensor<64x32xf32>
  }
}

// -----

// CHECK: first is not fused with second because it would recompute a contraction or reduction for every repetition of its result
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64x64xf32>, %b: tensor<8x64x64xf32>) -> tensor<8x64x64xf32> {
    %0 = graph.contract %a, %a maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = graph.broadcast %0 dims [1, 2] {graph.node = 1 : i64} : tensor<64x64xf32> -> tensor<8x64x64xf32>
    %2 = arith.addf %1, %b {graph.node = 1 : i64} : tensor<8x64x64xf32>
    return %2 : tensor<8x64x64xf32>
  }
}

// -----

// CHECK: first is not fused with second because one value would be needed at two coordinates at once
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = graph.contract %a, %a maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = graph.transpose %0 perm [1, 0] {graph.node = 1 : i64} : tensor<64x64xf32> -> tensor<64x64xf32>
    %2 = arith.addf %0, %1 {graph.node = 1 : i64} : tensor<64x64xf32>
    return %2 : tensor<64x64xf32>
  }
}

// -----

// CHECK: first is not fused with second because the outputs would have different numbers of elements, or another order
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64xf32>, %b: tensor<8x64xf32>) -> (tensor<64xf32>, tensor<8x64xf32>) {
    %0 = arith.negf %a {graph.node = 0 : i64} : tensor<64xf32>
    %1 = graph.broadcast %0 dims [1] {graph.node = 1 : i64} : tensor<64xf32> -> tensor<8x64xf32>
    %2 = arith.addf %1, %b {graph.node = 1 : i64} : tensor<8x64xf32>
    return %0, %2 : tensor<64xf32>, tensor<8x64xf32>
  }
}

// -----

// CHECK: first is not fused with second because the value is needed in memory by several kernels
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = arith.negf %a {graph.node = 0 : i64} : tensor<64x64xf32>
    %1 = graph.contract %0, %a maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
}

// -----

// CHECK: first is not fused with third because the group would not be convex: a path leaves it and comes back
module attributes {graph.nodes = ["first|A", "second|B", "third|C"]} {
  func.func @main(%a: tensor<8192x32xf32>) -> tensor<8192x32xf32> {
    %0 = arith.negf %a {graph.node = 0 : i64} : tensor<8192x32xf32>
    %1 = graph.reduce <max> %0 axes [0] {graph.node = 1 : i64} : tensor<8192x32xf32> -> tensor<32xf32>
    %2 = graph.broadcast %1 dims [1] {graph.node = 2 : i64} : tensor<32xf32> -> tensor<8192x32xf32>
    %3 = arith.subf %0, %2 {graph.node = 2 : i64} : tensor<8192x32xf32>
    return %3 : tensor<8192x32xf32>
  }
}

// -----

// CHECK: first is not fused with second because work would be repeated for every use of its result
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = math.erf %a {graph.node = 0 : i64} : tensor<64x64xf32>
    %1 = graph.contract %0, %a maps [#mk, #kn, #mn] {graph.node = 1 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    return %1 : tensor<64x64xf32>
  }
}

// -----

// CHECK: first is not fused with second because one of them runs on the host, outside any kernel
// CHECK: second is not fused with third because one of them runs on the host, outside any kernel
module attributes {graph.nodes = ["first|A", "second|B", "third|C"]} {
  func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
    %0 = arith.negf %a {graph.node = 0 : i64} : tensor<64xf32>
    %1 = graph.host_call "Unknown"("", 13) present [true] attributes {} (%0) {graph.node = 1 : i64} : (tensor<64xf32>) -> tensor<64xf32>
    %2 = arith.negf %1 {graph.node = 2 : i64} : tensor<64xf32>
    return %2 : tensor<64xf32>
  }
}

// -----

// A chain that only mode all joins.
// JSON: "reason": "mode",
// JSON-NEXT: "because": "the fusion mode keeps them apart"
module attributes {graph.nodes = ["first|A", "second|B"]} {
  func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
    %0 = arith.negf %a {graph.node = 0 : i64} : tensor<64xf32>
    %1 = math.absf %0 {graph.node = 1 : i64} : tensor<64xf32>
    return %1 : tensor<64xf32>
  }
}
