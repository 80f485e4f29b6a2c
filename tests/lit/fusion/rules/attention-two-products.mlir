// Scores of positions are a product of their own, whose batches are queries, so its result is transposed (SpeechT5). The sum of both
// belongs to the product of queries and keys, whichever is computed first: with softmax it becomes attention.
// RUN: tilewright-opt %s --tilewright-group-form-groups=mode=all | FileCheck %s
// CHECK: graph.kernel @matmul_transpose(
// CHECK-SAME: root = #graph.root<matmul>
// CHECK: graph.kernel @matmul_add_softmax(
// CHECK-SAME: root = #graph.root<attention>
// CHECK-NOT: graph.kernel
#qd = affine_map<(b, m, n, d) -> (b, m, d)>
#kd = affine_map<(b, m, n, d) -> (b, n, d)>
#mn = affine_map<(b, m, n, d) -> (b, m, n)>
#ne = affine_map<(b, m, e, n) -> (b, n, e)>
#sh = affine_map<(b, m, e, n) -> (b, m, n)>
#me = affine_map<(b, m, e, n) -> (b, m, e)>
module attributes {graph.nodes = ["positions|MatMul", "turn|Transpose", "qk|MatMul", "sum|Add", "softmax|Softmax", "pv|MatMul"]} {
  func.func @main(%p: tensor<64x4x32xf32>, %w: tensor<64x64x32xf32>, %q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>, %v: tensor<4x64x32xf32>)
      -> tensor<4x64x32xf32> {
    %0 = graph.contract %p, %w maps [#qd, #kd, #mn] {graph.node = 0 : i64} : tensor<64x4x32xf32>, tensor<64x64x32xf32> -> tensor<64x4x64xf32>
    %1 = graph.transpose %0 perm [1, 0, 2] {graph.node = 1 : i64} : tensor<64x4x64xf32> -> tensor<4x64x64xf32>
    %2 = graph.contract %q, %k maps [#qd, #kd, #mn] {graph.node = 2 : i64} : tensor<4x64x32xf32>, tensor<4x64x32xf32> -> tensor<4x64x64xf32>
    %3 = arith.addf %1, %2 {graph.node = 3 : i64} : tensor<4x64x64xf32>
    %4 = graph.reduce <max> %3 axes [2] {graph.node = 4 : i64} : tensor<4x64x64xf32> -> tensor<4x64xf32>
    %5 = graph.broadcast %4 dims [0, 1] {graph.node = 4 : i64} : tensor<4x64xf32> -> tensor<4x64x64xf32>
    %6 = arith.subf %3, %5 {graph.node = 4 : i64} : tensor<4x64x64xf32>
    %7 = math.exp %6 {graph.node = 4 : i64} : tensor<4x64x64xf32>
    %8 = graph.reduce <sum> %7 axes [2] {graph.node = 4 : i64} : tensor<4x64x64xf32> -> tensor<4x64xf32>
    %9 = graph.broadcast %8 dims [0, 1] {graph.node = 4 : i64} : tensor<4x64xf32> -> tensor<4x64x64xf32>
    %10 = arith.divf %7, %9 {graph.node = 4 : i64} : tensor<4x64x64xf32>
    %11 = graph.contract %10, %v maps [#sh, #ne, #me] {graph.node = 5 : i64} : tensor<4x64x64xf32>, tensor<4x64x32xf32> -> tensor<4x64x32xf32>
    return %11 : tensor<4x64x32xf32>
  }
}
