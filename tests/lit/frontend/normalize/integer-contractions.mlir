// A contraction of dequantized operands is one of integers, rescaled; where it would not be exact or cheap, it stays.
// RUN: tilewright-opt %s --split-input-file --tilewright-normalize-graph | FileCheck %s

// Both zero points are absent: nothing but the product of the scales is left. Neither side is a constant, so signs stay.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[S:.*]] = graph.contract %arg0, %arg1 {{.*}} {lhs_unsigned} : tensor<8x64xi8>, tensor<64x32xi8> -> tensor<8x32xi32>
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[S]]
// CHECK: %[[SCALE:.*]] = arith.constant dense<1.250000e-01>
// CHECK: arith.mulf %[[F]], %[[SCALE]]
module {
  func.func @main(%x: tensor<8x64xi8>, %w: tensor<64x32xi8>) -> tensor<8x32xf32> {
    %x32 = arith.extui %x : tensor<8x64xi8> to tensor<8x64xi32>
    %xf = arith.sitofp %x32 : tensor<8x64xi32> to tensor<8x64xf32>
    %sx = arith.constant dense<0.5> : tensor<8x64xf32>
    %a = arith.mulf %xf, %sx : tensor<8x64xf32>
    %w32 = arith.extsi %w : tensor<64x32xi8> to tensor<64x32xi32>
    %wf = arith.sitofp %w32 : tensor<64x32xi32> to tensor<64x32xf32>
    %sw = arith.constant dense<0.25> : tensor<64x32xf32>
    %b = arith.mulf %wf, %sw : tensor<64x32xf32>
    %c = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x32xf32>
    return %c : tensor<8x32xf32>
  }
}

// -----

// A scale for each column follows its loop to the result.
// CHECK-LABEL: func.func @main
// CHECK: graph.contract %arg0, %arg1 {{.*}} -> tensor<8x32xi32>
// CHECK: %[[SW:.*]] = graph.broadcast %arg2 dims [1] : tensor<32xf32> -> tensor<8x32xf32>
// CHECK: arith.mulf {{.*}}%[[SW]]
module {
  func.func @main(%x: tensor<8x64xi8>, %w: tensor<32x64xi8>, %sw: tensor<32xf32>) -> tensor<8x32xf32> {
    %a = arith.sitofp %x : tensor<8x64xi8> to tensor<8x64xf32>
    %wf = arith.sitofp %w : tensor<32x64xi8> to tensor<32x64xf32>
    %sw0 = graph.broadcast %sw dims [0] : tensor<32xf32> -> tensor<32x64xf32>
    %b = arith.mulf %wf, %sw0 : tensor<32x64xf32>
    %c = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x64xf32>, tensor<32x64xf32> -> tensor<8x32xf32>
    return %c : tensor<8x32xf32>
  }
}

// -----

// Zero points that only running tells, of MatMulInteger: the sums of the other side are reduced beside the contraction.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[C:.*]] = graph.contract %arg0, %arg2 {{.*}} {lhs_unsigned} : tensor<8x64xi8>, tensor<64x32xi8> -> tensor<8x32xi32>
// CHECK-DAG: graph.reduce <sum> {{.*}} axes [0] : tensor<64x32xi32> -> tensor<32xi32>
// CHECK: arith.subi %[[C]]
module {
  func.func @main(%x: tensor<8x64xi8>, %zx: tensor<i32>, %w: tensor<64x32xi8>) -> tensor<8x32xi32> {
    %x32 = arith.extui %x : tensor<8x64xi8> to tensor<8x64xi32>
    %z = graph.broadcast %zx dims [] : tensor<i32> -> tensor<8x64xi32>
    %a = arith.subi %x32, %z : tensor<8x64xi32>
    %b = arith.extsi %w : tensor<64x32xi8> to tensor<64x32xi32>
    %c = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x64xi32>, tensor<64x32xi32> -> tensor<8x32xi32>
    return %c : tensor<8x32xi32>
  }
}

// -----

// In floats, that would be two passes more than a product of floats: it stays. So does one along a scale for each k.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.contract {{.*}}xi8>
// CHECK: graph.contract {{.*}} -> tensor<8x32xf32>
// CHECK-NOT: graph.contract {{.*}}xi8>
// CHECK: graph.contract {{.*}} -> tensor<8x32xf32>
// CHECK: return
module {
  func.func @main(%x: tensor<8x64xi8>, %w: tensor<64x32xi8>, %s: tensor<64xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
    %x32 = arith.extui %x : tensor<8x64xi8> to tensor<8x64xi32>
    %z = arith.constant dense<3> : tensor<8x64xi32>
    %xz = arith.subi %x32, %z : tensor<8x64xi32>
    %a = arith.sitofp %xz : tensor<8x64xi32> to tensor<8x64xf32>
    %b = arith.sitofp %w : tensor<64x32xi8> to tensor<64x32xf32>
    %c = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x32xf32>
    %xf = arith.uitofp %x : tensor<8x64xi8> to tensor<8x64xf32>
    %sk = graph.broadcast %s dims [0] : tensor<64xf32> -> tensor<64x32xf32>
    %bs = arith.mulf %b, %sk : tensor<64x32xf32>
    %d = graph.contract %xf, %bs maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x32xf32>
    return %c, %d : tensor<8x32xf32>, tensor<8x32xf32>
  }
}

// -----

// Padding of zeros is padding of zero points.
// CHECK-LABEL: func.func @main
// CHECK: graph.pad %arg0 low [0, 0] fill 0 : i8 : tensor<8x30xi8> -> tensor<8x32xi8>
// CHECK: graph.contract
module {
  func.func @main(%x: tensor<8x30xi8>, %w: tensor<32x32xi8>) -> tensor<8x32xf32> {
    %a = arith.uitofp %x : tensor<8x30xi8> to tensor<8x30xf32>
    %p = graph.pad %a low [0, 0] fill 0.0 : f32 : tensor<8x30xf32> -> tensor<8x32xf32>
    %b = arith.sitofp %w : tensor<32x32xi8> to tensor<32x32xf32>
    %c = graph.contract %p, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<8x32xf32>, tensor<32x32xf32> -> tensor<8x32xf32>
    return %c : tensor<8x32xf32>
  }
}
