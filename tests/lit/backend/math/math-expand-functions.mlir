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
// WHOLE: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[POWER]] {scales} : f32
// WHOLE: arith.select %{{.*}}, %{{.*}}, %[[SCALED]] : f32
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
// NATIVE-LABEL: func.func @one_plus_erf(
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
func.func @one_plus_erf(%x: tensor<4xf32>) -> tensor<4xf32> {
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

// x (1 + erf(c x)) / 2 is max(x, 0) - |x| 2^p: no product with c or 1/2 is left, wherever they stand.
// NATIVE-LABEL: func.func @gelu(
// NATIVE-NOT: arith.mulf
// NATIVE: %[[ABS:.*]] = math.absf %arg0
// NATIVE: %[[CUT:.*]] = arith.minnumf %[[ABS]]
// NATIVE-COUNT-8: math.fma %{{.*}}, %[[CUT]]
// NATIVE: %[[HALF:.*]] = math.exp2
// NATIVE: %[[LINEAR:.*]] = arith.maximumf %arg0
// NATIVE: %[[MINUS:.*]] = arith.negf %[[CUT]]
// NATIVE: %[[GELU:.*]] = math.fma %[[MINUS]], %[[HALF]], %[[LINEAR]]
// NATIVE-NEXT: return %[[GELU]]
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<0.7071> : tensor<4xf32>
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %z = arith.mulf %c, %x : tensor<4xf32>
  %e = math.erf %z : tensor<4xf32>
  %s = arith.addf %e, %one : tensor<4xf32>
  %p = arith.mulf %x, %s : tensor<4xf32>
  %g = arith.mulf %p, %half : tensor<4xf32>
  return %g : tensor<4xf32>
}

// A division by 1 / c is as good.
// NATIVE-LABEL: func.func @gelu_by_division(
// NATIVE-NOT: arith.divf
// NATIVE: arith.maximumf
func.func @gelu_by_division(%x: f32) -> f32 {
  %root = arith.constant 1.4142 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %z = arith.divf %x, %root : f32
  %e = math.erf %z : f32
  %s = arith.addf %e, %one : f32
  %h = arith.mulf %x, %half : f32
  %g = arith.mulf %h, %s : f32
  return %g : f32
}

// Not of another value, by another factor, to the other side, or where a power of c is out of range.
// NATIVE-LABEL: func.func @no_gelus(
// NATIVE-NOT: arith.maximumf
// NATIVE: return
func.func @no_gelus(%x: f32, %y: f32) -> (f32, f32, f32, f32, f32) {
  %c = arith.constant 0.7071 : f32
  %steep = arith.constant 1.0e6 : f32
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.7071 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %z = arith.mulf %x, %c : f32
  %e = math.erf %z : f32
  %s = arith.addf %e, %one : f32
  %p = arith.mulf %y, %s : f32
  %g = arith.mulf %p, %half : f32
  %e1 = math.erf %z : f32
  %s1 = arith.addf %e1, %one : f32
  %g1 = arith.mulf %x, %s1 : f32
  %z2 = arith.mulf %x, %minus : f32
  %e2 = math.erf %z2 : f32
  %s2 = arith.addf %e2, %one : f32
  %p2 = arith.mulf %x, %s2 : f32
  %g2 = arith.mulf %p2, %half : f32
  %z3 = arith.mulf %x, %steep : f32
  %e3 = math.erf %z3 : f32
  %s3 = arith.addf %e3, %one : f32
  %p3 = arith.mulf %x, %s3 : f32
  %g3 = arith.mulf %p3, %half : f32
  %z4 = arith.divf %x, %zero : f32
  %e4 = math.erf %z4 : f32
  %s4 = arith.addf %e4, %one : f32
  %p4 = arith.mulf %x, %s4 : f32
  %g4 = arith.mulf %p4, %half : f32
  return %g, %g1, %g2, %g3, %g4 : f32, f32, f32, f32, f32
}

// 1 + tanh(x) is 2 / (1 + e^-2x) where the target has an exp2: no polynomial for small x, and no selection.
// NATIVE-LABEL: func.func @one_plus_tanh(
// NATIVE: %[[MINUS:.*]] = arith.constant {{.*}}-2.885
// NATIVE: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[MINUS]]
// NATIVE: %[[POWER:.*]] = math.exp2 %[[PRODUCT]]
// NATIVE: %[[SUM:.*]] = arith.addf %[[POWER]]
// NATIVE: %[[RECIPROCAL:.*]] = arith.divf %{{.*}}, %[[SUM]] {tilewright.by_reciprocal, tilewright.may_pair}
// NATIVE-NEXT: %[[TWICE:.*]] = arith.addf %[[RECIPROCAL]], %[[RECIPROCAL]]
// NATIVE-NEXT: return %[[TWICE]]
func.func @one_plus_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = math.tanh %x : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %s = arith.addf %t, %one : tensor<4xf32>
  return %s : tensor<4xf32>
}

// Of a GELU's products with constants none is left but the one within the polynomial.
// NATIVE-LABEL: func.func @gelu_by_tanh(
// NATIVE: %[[SQUARE:.*]] = arith.mulf %arg0, %arg0
// NATIVE: %[[INNER:.*]] = arith.constant -0.1029
// NATIVE: %[[SCALED:.*]] = arith.mulf %[[SQUARE]], %[[INNER]]
// NATIVE: %[[OUTER:.*]] = arith.constant -2.302
// NATIVE: %[[SUM:.*]] = arith.addf %[[SCALED]], %[[OUTER]]
// NATIVE: %[[ARGUMENT:.*]] = arith.mulf %[[SUM]], %arg0
// NATIVE: math.exp2 %[[ARGUMENT]]
// NATIVE: %[[RECIPROCAL:.*]] = arith.divf
// NATIVE-NEXT: %[[GELU:.*]] = arith.mulf %arg0, %[[RECIPROCAL]]
// NATIVE-NEXT: return %[[GELU]]
func.func @gelu_by_tanh(%x: f32) -> f32 {
  %cube = arith.constant 0.044715 : f32
  %root = arith.constant 0.79788456 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %s = arith.mulf %x, %x : f32
  %t = arith.mulf %s, %x : f32
  %u = arith.mulf %t, %cube : f32
  %v = arith.addf %u, %x : f32
  %w = arith.mulf %v, %root : f32
  %h = math.tanh %w : f32
  %o = arith.addf %h, %one : f32
  %p = arith.mulf %x, %half : f32
  %q = arith.mulf %o, %p : f32
  return %q : f32
}

// Products that are used elsewhere stay, and so do constants that would leave the range of f32, and doubles.
// NATIVE-LABEL: func.func @unfolded(
// NATIVE: %[[USED:.*]] = arith.mulf %arg0, %{{.*}} : f32
// NATIVE: %[[AGAIN:.*]] = arith.mulf %[[USED]], %{{.*}} : f32
// NATIVE: %[[SMALL:.*]] = arith.mulf %arg0, %{{.*}} : f32
// NATIVE: %[[LARGE:.*]] = arith.mulf %[[SMALL]], %{{.*}} : f32
// NATIVE: %[[DOUBLE:.*]] = arith.mulf %arg1, %{{.*}} : f64
// NATIVE: %[[DOUBLES:.*]] = arith.mulf %[[DOUBLE]], %{{.*}} : f64
// NATIVE: return %[[USED]], %[[AGAIN]], %[[LARGE]], %[[DOUBLES]]
func.func @unfolded(%x: f32, %d: f64) -> (f32, f32, f32, f64) {
  %a = arith.constant 3.0 : f32
  %least = arith.constant 1.0e-30 : f32
  %most = arith.constant 1.0e30 : f32
  %b = arith.constant 3.0 : f64
  %used = arith.mulf %x, %a : f32
  %again = arith.mulf %used, %a : f32
  %small = arith.mulf %x, %least : f32
  %large = arith.mulf %small, %most : f32
  %double = arith.mulf %d, %b : f64
  %doubles = arith.mulf %double, %b : f64
  return %used, %again, %large, %doubles : f32, f32, f32, f64
}

// CHECK-LABEL: func.func @kept
// CHECK: math.floor
// CHECK: math.sqrt
func.func @kept(%x: f32) -> f32 {
  %f = math.floor %x : f32
  %s = math.sqrt %f : f32
  return %s : f32
}
