// Operands whose vector dimension is strided are transposed in registers or read in place, never gathered: a right side that is contiguous
// along k (few rows become dot products, more rows transpose it), and a transpose.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4})" | FileCheck %s --check-prefix=SCHEDULE
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" -o %t.mlir
// RUN: tilewright-opt %t.mlir --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s --implicit-check-not=gather

// SCHEDULE-LABEL: @few_rows
// SCHEDULE-SAME: #tile.schedule<gemv, tile = [4, 64], reduce = [1024]
// SCHEDULE-LABEL: @many_rows
// SCHEDULE-SAME: #tile.schedule<matmul

// CHECK-LABEL: few_rows:
// CHECK: vfmadd
// CHECK-NOT: {{vperm[it]2ps}}
// CHECK: retq

// A transpose moves blocks of registers too, whichever side is contiguous along the last dimension.
// CHECK-LABEL: transpose:
// CHECK: {{vpermt2ps|vpermi2ps|vunpcklps|vpermt2pd|vpermi2pd}}
// CHECK: retq

// CHECK-LABEL: many_rows:
// CHECK: {{vpermt2ps|vpermi2ps|vunpcklps|vpermt2pd|vpermi2pd}}
// CHECK: vfmadd
// CHECK: retq
module attributes {graph.nodes = ["a|Gemm"]} {
  graph.kernel @few_rows(%x: tensor<4x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<4x1024xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<4x1024xf32>, tensor<1024x1024xf32> -> tensor<4x1024xf32>
    graph.return %c : tensor<4x1024xf32>
  }
  graph.kernel @transpose(%x: tensor<64x112x112xf32>) -> tensor<112x112x64xf32> {
    %t = graph.transpose %x perm [1, 2, 0] {graph.node = 0 : i64} : tensor<64x112x112xf32> -> tensor<112x112x64xf32>
    %r = arith.negf %t {graph.node = 0 : i64} : tensor<112x112x64xf32>
    graph.return %r : tensor<112x112x64xf32>
  }
  graph.kernel @many_rows(%x: tensor<96x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<96x1024xf32> {
    %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<96x1024xf32>, tensor<1024x1024xf32> -> tensor<96x1024xf32>
    graph.return %c : tensor<96x1024xf32>
  }
}
