// RUN: tilewright-opt %s --tilewright-math-expand-functions | FileCheck %s
// RUN: tilewright-opt %s --tilewright-math-expand-functions=native=exp2,rsqrt | FileCheck %s --check-prefix=NATIVE
// RUN: tilewright-opt %s --tilewright-math-expand-functions=native=whole_exp2 | FileCheck %s --check-prefix=WHOLE
// RUN: not tilewright-opt %s --tilewright-math-expand-functions=native=exp 2>&1 | FileCheck %s --check-prefix=WRONG

// Everything but fma, sqrt and the like becomes arithmetic; on half types, that of f32.
// CHECK-LABEL: func.func @tanh
// CHECK-NOT: math.tanh
// CHECK: arith.extf %{{.*}} : tensor<1x64xf16> to tensor<1x64xf32>
// CHECK: math.fma {{.*}} : tensor<1x64xf32>
// CHECK: arith.truncf
func.func @tanh(%x: tensor<1x64xf16>) -> tensor<1x64xf16> {
  %y = math.tanh %x : tensor<1x64xf16>
  return %y : tensor<1x64xf16>
}

// What the target computes stays, and exp is built on exp2; in f64 no target computes anything.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.exp
// CHECK-NOT: math.rsqrt
// NATIVE-LABEL: func.func @exp(
// NATIVE: math.exp2 %{{.*}} : f32
// NATIVE: math.rsqrt %{{.*}} : f32
// NATIVE-NOT: math.rsqrt
// WHOLE-LABEL: func.func @exp(
// WHOLE: %[[POWER:.*]] = math.exp2 %{{.*}} {whole} : f32
// WHOLE: arith.mulf %{{.*}}, %[[POWER]] : f32
// WRONG: expected native functions among exp2, whole_exp2, log2 and rsqrt, got 'exp'
func.func @exp(%x: f32, %d: f64) -> (f32, f32, f64) {
  %e = math.exp %x : f32
  %r = math.rsqrt %x : f32
  %w = math.rsqrt %d : f64
  return %e, %r, %w : f32, f32, f64
}

// An approximate exp is exp2 of a rounded product, and as exact as any other where there is no exp2.
// CHECK-LABEL: func.func @approximate
// CHECK: arith.constant -1.040000e+02
// NATIVE-LABEL: func.func @approximate(
// NATIVE-NEXT: %[[LOG2E:.*]] = arith.constant 1.442
// NATIVE-NEXT: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[LOG2E]] : f32
// NATIVE-NEXT: %[[EXP:.*]] = math.exp2 %[[PRODUCT]] : f32
// NATIVE-NEXT: return %[[EXP]]
func.func @approximate(%x: f32) -> f32 {
  %e = math.exp %x fastmath<afn> : f32
  return %e : f32
}

// 1 + erf(x) is erfc(-x): one polynomial, and 2 - e^q where x is positive. Others keep both polynomials of erf.
// NATIVE-LABEL: func.func @gelu(
// NATIVE: %[[NEGATIVE:.*]] = arith.negf
// NATIVE: math.absf %[[NEGATIVE]]
// NATIVE-COUNT-8: math.fma
// NATIVE-NOT: math.fma
// NATIVE: math.exp2
// NATIVE-NOT: math.copysign
// NATIVE: arith.select
// NATIVE-LABEL: func.func @plain_erf(
// NATIVE-COUNT-13: math.fma
// NATIVE: math.copysign
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = math.erf %x : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %s = arith.addf %one, %e : tensor<4xf32>
  return %s : tensor<4xf32>
}
func.func @plain_erf(%x: f32) -> (f32, f32) {
  %e = math.erf %x : f32
  %one = arith.constant 1.0 : f32
  %s = arith.addf %e, %one : f32
  return %e, %s : f32, f32
}

// 1 + tanh(x) is 2 / (1 + e^-2x) where the target has an exp2: no polynomial for small x, and no selection.
// NATIVE-LABEL: func.func @gelu_by_tanh(
// NATIVE: %[[MINUS:.*]] = arith.constant {{.*}}-2.885
// NATIVE: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[MINUS]]
// NATIVE: %[[POWER:.*]] = math.exp2 %[[PRODUCT]]
// NATIVE: %[[SUM:.*]] = arith.addf %[[POWER]]
// NATIVE: %[[RECIPROCAL:.*]] = arith.divf %{{.*}}, %[[SUM]] {tilewright.by_reciprocal}
// NATIVE-NEXT: %[[TWICE:.*]] = arith.addf %[[RECIPROCAL]], %[[RECIPROCAL]]
// NATIVE-NEXT: return %[[TWICE]]
func.func @gelu_by_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = math.tanh %x : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %s = arith.addf %t, %one : tensor<4xf32>
  return %s : tensor<4xf32>
}

// CHECK-LABEL: func.func @kept
// CHECK: math.floor
// CHECK: math.sqrt
func.func @kept(%x: f32) -> f32 {
  %f = math.floor %x : f32
  %s = math.sqrt %f : f32
  return %s : f32
}
