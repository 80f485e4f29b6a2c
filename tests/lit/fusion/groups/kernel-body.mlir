// The body of a kernel: splats inside, other constants as arguments, no rounding between its operations.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups=mode=all | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = graph.constant
// CHECK: graph.launch @{{.*}}(%arg0, %[[C]])
// CHECK: graph.kernel
// CHECK: arith.constant dense<2.000000e+00>
// CHECK: graph.return
module {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %c = graph.constant "00112233445566778899aabbccddeeff" : tensor<8xf32>
    %two = arith.constant dense<2.0> : tensor<8xf32>
    %0 = arith.mulf %x, %two : tensor<8xf32>
    %1 = arith.addf %0, %c : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

// A value that is rounded, transposed and widened again keeps its precision. The result is rounded once.
// CHECK: graph.kernel
// CHECK: math.exp
// CHECK-NOT: arith.truncf
// CHECK: graph.transpose {{.*}} : tensor<8x16xf32> -> tensor<16x8xf32>
// CHECK-NOT: arith.extf
// CHECK: arith.negf
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: graph.return
module {
  func.func @main(%x: tensor<8x16xf32>) -> tensor<16x8xf16> {
    %0 = math.exp %x : tensor<8x16xf32>
    %1 = arith.truncf %0 : tensor<8x16xf32> to tensor<8x16xf16>
    %2 = graph.transpose %1 perm [1, 0] : tensor<8x16xf16> -> tensor<16x8xf16>
    %3 = arith.extf %2 : tensor<16x8xf16> to tensor<16x8xf32>
    %4 = arith.negf %3 : tensor<16x8xf32>
    %5 = arith.truncf %4 : tensor<16x8xf32> to tensor<16x8xf16>
    return %5 : tensor<16x8xf16>
  }
}

// -----

// So does one that is selected, beside a number that is widened.
// CHECK: graph.kernel
// CHECK: %[[E:.*]] = math.exp
// CHECK-NOT: arith.truncf
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : tensor<8xf16> to tensor<8xf32>
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %[[E]], %[[W]] : tensor<8xi1>, tensor<8xf32>
// CHECK: arith.negf %[[S]]
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: graph.return
module {
  func.func @main(%x: tensor<8xf32>, %live: tensor<8xi1>, %other: tensor<8xf16>) -> tensor<8xf16> {
    %0 = math.exp %x : tensor<8xf32>
    %1 = arith.truncf %0 : tensor<8xf32> to tensor<8xf16>
    %2 = arith.select %live, %1, %other : tensor<8xi1>, tensor<8xf16>
    %3 = arith.extf %2 : tensor<8xf16> to tensor<8xf32>
    %4 = arith.negf %3 : tensor<8xf32>
    %5 = arith.truncf %4 : tensor<8xf32> to tensor<8xf16>
    return %5 : tensor<8xf16>
  }
}

// -----

// What is selected of values that are halves anyway stays a half.
// CHECK: graph.kernel
// CHECK: arith.select %{{.*}} : tensor<8xi1>, tensor<8xf16>
// CHECK: arith.extf
module {
  func.func @main(%x: tensor<8xf16>, %live: tensor<8xi1>, %other: tensor<8xf16>) -> tensor<8xf16> {
    %2 = arith.select %live, %x, %other : tensor<8xi1>, tensor<8xf16>
    %3 = arith.extf %2 : tensor<8xf16> to tensor<8xf32>
    %4 = math.exp %3 : tensor<8xf32>
    %5 = arith.truncf %4 : tensor<8xf32> to tensor<8xf16>
    return %5 : tensor<8xf16>
  }
}

// -----

// A value that is reached on many ways is made once.
// CHECK: graph.kernel
// CHECK-NOT: arith.truncf
// CHECK-COUNT-3: arith.select {{.*}} : tensor<8x8xi1>, tensor<8x8xf32>
// CHECK-NOT: arith.select
// CHECK: graph.return
module {
  func.func @main(%x: tensor<8x8xf32>, %live: tensor<8x8xi1>) -> tensor<8x8xf32> {
    %0 = math.exp %x : tensor<8x8xf32>
    %v0 = arith.truncf %0 : tensor<8x8xf32> to tensor<8x8xf16>
    %t0 = graph.transpose %v0 perm [1, 0] : tensor<8x8xf16> -> tensor<8x8xf16>
    %v1 = arith.select %live, %v0, %t0 : tensor<8x8xi1>, tensor<8x8xf16>
    %t1 = graph.transpose %v1 perm [1, 0] : tensor<8x8xf16> -> tensor<8x8xf16>
    %v2 = arith.select %live, %v1, %t1 : tensor<8x8xi1>, tensor<8x8xf16>
    %t2 = graph.transpose %v2 perm [1, 0] : tensor<8x8xf16> -> tensor<8x8xf16>
    %v3 = arith.select %live, %v2, %t2 : tensor<8x8xi1>, tensor<8x8xf16>
    %1 = arith.extf %v3 : tensor<8x8xf16> to tensor<8x8xf32>
    %2 = arith.negf %1 : tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}
