// Accesses that rename nothing vanish; a splat stays a splat.
// RUN: tilewright-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: tensor<8x1xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>) {
  %a = graph.broadcast %x dims [0, 1] : tensor<8x1xf32> -> tensor<8x1xf32>
  %b = graph.reshape %x : tensor<8x1xf32> -> tensor<8x1xf32>
  %c = graph.transpose %x perm [0, 1] : tensor<8x1xf32> -> tensor<8x1xf32>
  %d = graph.slice %x offsets affine_map<() -> (0, 0)> strides [1, 1] : tensor<8x1xf32> -> tensor<8x1xf32>
  %e = graph.concat axis 0 %x : tensor<8x1xf32> -> tensor<8x1xf32>
  %f = graph.pad %x low [0, 0] fill 0.0 : f32 : tensor<8x1xf32> -> tensor<8x1xf32>
  %g = graph.roll %x offsets affine_map<() -> (0, 0)> : tensor<8x1xf32> -> tensor<8x1xf32>
  return %a, %b, %c, %d, %e, %f, %g : tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>
}

// CHECK-LABEL: @splats
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<2.000000e+00> : tensor<64x8xf32>
// CHECK-NEXT: return %[[C]]
func.func @splats() -> tensor<64x8xf32> {
  %c = arith.constant dense<2.0> : tensor<f32>
  %b = graph.broadcast %c dims [] : tensor<f32> -> tensor<8x64xf32>
  %t = graph.transpose %b perm [1, 0] : tensor<8x64xf32> -> tensor<64x8xf32>
  return %t : tensor<64x8xf32>
}

// What crops at one end and pads as much at the other has the same type, and stays.
// CHECK-LABEL: @shifted
// CHECK-NEXT: graph.pad %arg0 low [1, 0]
func.func @shifted(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %p = graph.pad %x low [1, 0] fill 0.0 : f32 : tensor<8x4xf32> -> tensor<8x4xf32>
  return %p : tensor<8x4xf32>
}
