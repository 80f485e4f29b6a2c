// tilewright-opt reads the dialects that elementwise work is written in.
// RUN: tilewright-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @double
// CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<4xf32>
func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
