// The arithmetic and the bytes of a launch.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s

// A reduction reads each element once: 64 x 32 additions, and as many multiplications before it.
// CHECK-DAG: #[[FLOPS:.*]] = affine_map<() -> (4096)>
// CHECK-DAG: #[[BYTES:.*]] = affine_map<() -> (8448)>
// CHECK: graph.launch @{{.*}}graph.bytes = #[[BYTES]], graph.flops = #[[FLOPS]]
module {
  func.func @main(%x: tensor<64x32xf32>) -> tensor<64xf32> {
    %0 = arith.mulf %x, %x : tensor<64x32xf32>
    %1 = graph.reduce <sum> %0 axes [1] : tensor<64x32xf32> -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
}

// -----

// A gather of 50 of 1,000 elements reads 50 of them, and 50 indices; a slice reads what it keeps.
// CHECK-DAG: #[[BYTES:.*]] = affine_map<() -> (1000)>
// CHECK: graph.launch @{{.*}}graph.bytes = #[[BYTES]]
module {
  func.func @main(%x: tensor<1000xf32>, %i: tensor<50xi64>, %y: tensor<1000xf32>) -> tensor<50xf32> {
    %0 = graph.gather %x[%i : tensor<50xi64>] map affine_map<(d0, d1) -> (d1)> : tensor<1000xf32> -> tensor<50xf32>
    %1 = graph.slice %y offsets affine_map<() -> (7)> strides [1] : tensor<1000xf32> -> tensor<50xf32>
    %2 = arith.addf %0, %1 : tensor<50xf32>
    return %2 : tensor<50xf32>
  }
}

// -----

// A contraction of batch x m x n x k is two operations for each step.
// CHECK: #[[SIZES:.*]] = affine_map<() -> (2, 16, 8, 32)>
// CHECK: graph.launch @{{.*}}graph.products = {{\[\[}}#[[SIZES]], f32]]
#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
module {
  func.func @main(%x: tensor<2x16x32xf32>, %y: tensor<2x32x8xf32>) -> tensor<2x16x8xf32> {
    %0 = graph.contract %x, %y maps [#bmk, #bkn, #bmn] : tensor<2x16x32xf32>, tensor<2x32x8xf32> -> tensor<2x16x8xf32>
    return %0 : tensor<2x16x8xf32>
  }
}
