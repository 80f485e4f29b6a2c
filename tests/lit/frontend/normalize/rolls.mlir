// Concatenations of slices of one tensor are the tensor, or a roll of it.
// RUN: tilewright-opt %s --split-input-file --tilewright-normalize-graph | FileCheck %s

// Tail and head change places, along two dimensions: Swin's shifted windows.
// CHECK: affine_map<() -> (0, 3, 4, 0)>
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = graph.roll %arg0 offsets {{.*}} : tensor<1x56x48x96xf16> -> tensor<1x56x48x96xf16>
// CHECK-NEXT: return %[[R]]
module {
  func.func @main(%x: tensor<1x56x48x96xf16>) -> tensor<1x56x48x96xf16> {
    %0 = graph.slice %x offsets affine_map<() -> (0, 3, 0, 0)> strides [1, 1, 1, 1] : tensor<1x56x48x96xf16> -> tensor<1x53x48x96xf16>
    %1 = graph.slice %x offsets affine_map<() -> (0, 0, 0, 0)> strides [1, 1, 1, 1] : tensor<1x56x48x96xf16> -> tensor<1x3x48x96xf16>
    %2 = graph.concat axis 1 %0, %1 : tensor<1x53x48x96xf16>, tensor<1x3x48x96xf16> -> tensor<1x56x48x96xf16>
    %3 = graph.slice %2 offsets affine_map<() -> (0, 0, 4, 0)> strides [1, 1, 1, 1] : tensor<1x56x48x96xf16> -> tensor<1x56x44x96xf16>
    %4 = graph.slice %2 offsets affine_map<() -> (0, 0, 0, 0)> strides [1, 1, 1, 1] : tensor<1x56x48x96xf16> -> tensor<1x56x4x96xf16>
    %5 = graph.concat axis 2 %3, %4 : tensor<1x56x44x96xf16>, tensor<1x56x4x96xf16> -> tensor<1x56x48x96xf16>
    return %5 : tensor<1x56x48x96xf16>
  }
}

// -----

// Rolls there and back are none.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
module {
  func.func @main(%x: tensor<56x96xf32>) -> tensor<56x96xf32> {
    %0 = graph.roll %x offsets affine_map<() -> (3, 0)> : tensor<56x96xf32> -> tensor<56x96xf32>
    %1 = graph.roll %0 offsets affine_map<() -> (53, 0)> : tensor<56x96xf32> -> tensor<56x96xf32>
    return %1 : tensor<56x96xf32>
  }
}

// -----

// Parts in their old order are the tensor, however many they are.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: return %arg0
module {
  func.func @main(%x: tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>>) -> tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>> {
    %0 = graph.slice %x offsets affine_map<() -> (0, 0)> strides [1, 1] : tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>> -> tensor<?x32xf32, affine_map<()[s0] -> (s0, 32)>>
    %1 = graph.slice %x offsets affine_map<() -> (0, 32)> strides [1, 1] : tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>> -> tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>
    %2 = graph.slice %x offsets affine_map<() -> (0, 33)> strides [1, 1] : tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>> -> tensor<?x63xf32, affine_map<()[s0] -> (s0, 63)>>
    %3 = graph.concat axis 1 %0, %1, %2 : tensor<?x32xf32, affine_map<()[s0] -> (s0, 32)>>, tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>, tensor<?x63xf32, affine_map<()[s0] -> (s0, 63)>> -> tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>>
    return %3 : tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>>
  }
}

// -----

// A number of rows that is not known, rolled by one.
// CHECK: affine_map<() -> (1, 0)>
// CHECK-LABEL: func.func @main
// CHECK-NEXT: graph.roll %arg0 offsets
module {
  func.func @main(%x: tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>>) -> tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>> {
    %0 = graph.slice %x offsets affine_map<() -> (1, 0)> strides [1, 1] : tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>> -> tensor<?x96xf32, affine_map<()[s0] -> (s0 - 1, 96)>>
    %1 = graph.slice %x offsets affine_map<() -> (0, 0)> strides [1, 1] : tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>> -> tensor<1x96xf32>
    %2 = graph.concat axis 0 %0, %1 : tensor<?x96xf32, affine_map<()[s0] -> (s0 - 1, 96)>>, tensor<1x96xf32> -> tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>>
    return %2 : tensor<?x96xf32, affine_map<()[s0] -> (s0, 96)>>
  }
}

// -----

// A transpose sinks through a roll.
// CHECK: affine_map<() -> (0, 3)>
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = graph.roll %arg0 offsets {{.*}} : tensor<8x56xf32> -> tensor<8x56xf32>
// CHECK-NEXT: graph.transpose %[[R]] perm [1, 0]
module {
  func.func @main(%x: tensor<8x56xf32>) -> tensor<56x8xf32> {
    %0 = graph.transpose %x perm [1, 0] : tensor<8x56xf32> -> tensor<56x8xf32>
    %1 = graph.roll %0 offsets affine_map<() -> (3, 0)> : tensor<56x8xf32> -> tensor<56x8xf32>
    return %1 : tensor<56x8xf32>
  }
}

// -----

// Near misses: the innermost dimension, parts that overlap, and parts of two tensors.
// CHECK-LABEL: func.func @main
// CHECK-NOT: graph.roll
// CHECK-COUNT-3: graph.concat
module {
  func.func @main(%x: tensor<8x96xf32>, %y: tensor<8x96xf32>) -> (tensor<8x96xf32>, tensor<8x96xf32>, tensor<8x96xf32>) {
    %0 = graph.slice %x offsets affine_map<() -> (0, 48)> strides [1, 1] : tensor<8x96xf32> -> tensor<8x48xf32>
    %1 = graph.slice %x offsets affine_map<() -> (0, 0)> strides [1, 1] : tensor<8x96xf32> -> tensor<8x48xf32>
    %2 = graph.concat axis 1 %0, %1 : tensor<8x48xf32>, tensor<8x48xf32> -> tensor<8x96xf32>
    %3 = graph.slice %x offsets affine_map<() -> (4, 0)> strides [1, 1] : tensor<8x96xf32> -> tensor<4x96xf32>
    %4 = graph.slice %x offsets affine_map<() -> (1, 0)> strides [1, 1] : tensor<8x96xf32> -> tensor<4x96xf32>
    %5 = graph.concat axis 0 %3, %4 : tensor<4x96xf32>, tensor<4x96xf32> -> tensor<8x96xf32>
    %6 = graph.slice %y offsets affine_map<() -> (0, 0)> strides [1, 1] : tensor<8x96xf32> -> tensor<4x96xf32>
    %7 = graph.concat axis 0 %3, %6 : tensor<4x96xf32>, tensor<4x96xf32> -> tensor<8x96xf32>
    return %2, %5, %7 : tensor<8x96xf32>, tensor<8x96xf32>, tensor<8x96xf32>
  }
}
