// A contraction takes bias, activation and residual; a half-precision value is rounded once, when it is stored.
// RUN: tilewright-opt %s --tilewright-group-form-groups=mode=all | FileCheck %s
// RUN: tilewright-opt %s --tilewright-group-form-groups=mode=epilogue | FileCheck %s
// RUN: tilewright-opt %s --tilewright-group-form-groups=mode=none | FileCheck %s --check-prefix=NONE

// CHECK-DAG: #[[BYTES:.*]] = affine_map<()[s0] -> (s0 * 4608 + 1181184)>
// CHECK-DAG: #[[FLOPS:.*]] = affine_map<()[s0] -> (s0 * 1181952)>
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = graph.constant
// CHECK: %[[Y:.*]] = graph.launch @matmul_add_relu(%arg0, %[[W]], %arg1, %arg2)
// CHECK-SAME: graph.bytes = #[[BYTES]], graph.flops = #[[FLOPS]]
// CHECK-SAME: graph.nodes_of = array<i64: 0, 1, 2, 3>
// CHECK-NEXT: return %[[Y]]
// CHECK: graph.kernel @matmul_add_relu
// CHECK-SAME: {graph.constant}
// CHECK: graph.contract
// CHECK-NOT: arith.extf %{{[0-9]}}
// CHECK: arith.truncf
// CHECK-NEXT: graph.return

// NONE-LABEL: func.func @main
// NONE: graph.launch @matmul
// NONE: graph.launch @add
// NONE: graph.launch @add
// NONE: graph.launch @relu
// NONE-NEXT: return
#t16 = affine_map<()[s0] -> (s0, 768)>
// What every launch passes of the model's inputs is known as such.
// NONE: graph.kernel @add_0(%arg0: tensor<?x768xf16, #{{[a-z0-9]+}}>, %arg1: tensor<?x768xf16, #{{[a-z0-9]+}}> {graph.input})

module attributes {graph.symbols = ["batch"], graph.nodes = ["mm|MatMul", "bias|Add", "residual|Add", "act|Relu"]} {
  func.func @main(%x: tensor<?x768xf16, #t16>, %b: tensor<768xf16>, %r: tensor<?x768xf16, #t16>) -> tensor<?x768xf16, #t16> {
    %w = graph.constant "00112233445566778899aabbccddeeff" : tensor<768x768xf16>
    %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<?x768xf16, #t16>, tensor<768x768xf16> -> tensor<?x768xf32, #t16>
    %1 = arith.truncf %0 {graph.node = 0 : i64} : tensor<?x768xf32, #t16> to tensor<?x768xf16, #t16>
    %2 = arith.extf %1 {graph.node = 1 : i64} : tensor<?x768xf16, #t16> to tensor<?x768xf32, #t16>
    %3 = arith.extf %b {graph.node = 1 : i64} : tensor<768xf16> to tensor<768xf32>
    %4 = graph.broadcast %3 dims [1] {graph.node = 1 : i64} : tensor<768xf32> -> tensor<?x768xf32, #t16>
    %5 = arith.addf %2, %4 {graph.node = 1 : i64} : tensor<?x768xf32, #t16>
    %6 = arith.truncf %5 {graph.node = 1 : i64} : tensor<?x768xf32, #t16> to tensor<?x768xf16, #t16>
    %7 = arith.extf %6 {graph.node = 2 : i64} : tensor<?x768xf16, #t16> to tensor<?x768xf32, #t16>
    %8 = arith.extf %r {graph.node = 2 : i64} : tensor<?x768xf16, #t16> to tensor<?x768xf32, #t16>
    %9 = arith.addf %7, %8 {graph.node = 2 : i64} : tensor<?x768xf32, #t16>
    %10 = arith.truncf %9 {graph.node = 2 : i64} : tensor<?x768xf32, #t16> to tensor<?x768xf16, #t16>
    %11 = arith.extf %10 {graph.node = 3 : i64} : tensor<?x768xf16, #t16> to tensor<?x768xf32, #t16>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %z = graph.broadcast %zero dims [] {graph.node = 3 : i64} : tensor<f32> -> tensor<?x768xf32, #t16>
    %12 = arith.maximumf %11, %z {graph.node = 3 : i64} : tensor<?x768xf32, #t16>
    %13 = arith.truncf %12 {graph.node = 3 : i64} : tensor<?x768xf32, #t16> to tensor<?x768xf16, #t16>
    return %13 : tensor<?x768xf16, #t16>
  }
}
