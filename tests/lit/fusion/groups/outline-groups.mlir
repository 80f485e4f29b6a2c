// Groups become kernels named after their ONNX operators. Equal kernels are one, and arguments that are constant at
// every launch are marked.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s

// Two equal layers, of which only one adds a constant.
// CHECK-LABEL: func.func @main
// CHECK: graph.launch @gemm_add(
// CHECK: graph.launch @gemm_add(
// CHECK: graph.kernel @gemm_add(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<64x64xf32>, %{{[a-z0-9]+}}: tensor<64x64xf32> {graph.constant}, %{{[a-z0-9]+}}: tensor<64x64xf32>)
// CHECK-NOT: graph.kernel
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module attributes {graph.nodes = ["one|Gemm", "two|Add", "three|Gemm", "four|Add"]} {
  func.func @main(%a: tensor<64x64xf32>, %r: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %w = graph.constant "00112233445566778899aabbccddeeff" : tensor<64x64xf32>
    %v = graph.constant "ffeeddccbbaa99887766554433221100" : tensor<64x64xf32>
    %0 = graph.contract %a, %w maps [#mk, #kn, #mn] {graph.node = 0 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = arith.addf %0, %r {graph.node = 1 : i64} : tensor<64x64xf32>
    %2 = graph.contract %1, %v maps [#mk, #kn, #mn] {graph.node = 2 : i64} : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %3 = arith.addf %2, %w {graph.node = 3 : i64} : tensor<64x64xf32>
    return %3 : tensor<64x64xf32>
  }
}

// -----

// A name has four operators at most. Without ONNX nodes it is that of the root.
// CHECK: graph.kernel @a_b_c_d_etc(
module attributes {graph.nodes = ["1|A", "2|B", "3|C", "4|D", "5|E"]} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = arith.negf %x {graph.node = 0 : i64} : tensor<8xf32>
    %1 = math.absf %0 {graph.node = 1 : i64} : tensor<8xf32>
    %2 = math.exp %1 {graph.node = 2 : i64} : tensor<8xf32>
    %3 = math.floor %2 {graph.node = 3 : i64} : tensor<8xf32>
    %4 = arith.addf %3, %x {graph.node = 4 : i64} : tensor<8xf32>
    return %4 : tensor<8xf32>
  }
}

// -----

// CHECK: graph.kernel @pointwise(
module {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = arith.negf %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
