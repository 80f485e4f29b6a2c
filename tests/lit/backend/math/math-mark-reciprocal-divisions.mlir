// RUN: tilewright-opt %s --tilewright-math-mark-reciprocal-divisions | FileCheck %s

// The divisor is at least 1, the dividend at most 1.
// CHECK-LABEL: func.func @sigmoid
// CHECK: arith.divf {{.*}} {tilewright.by_reciprocal}
func.func @sigmoid(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %e = math.exp %x : f32
  %s = arith.addf %e, %one : f32
  %q = arith.divf %one, %s : f32
  return %q : f32
}

// A half's magnitude is bounded, so the divisor is.
// CHECK-LABEL: func.func @softsign
// CHECK: arith.divf {{.*}} {tilewright.by_reciprocal}
func.func @softsign(%h: f16) -> f32 {
  %one = arith.constant 1.0 : f32
  %x = arith.extf %h : f16 to f32
  %a = math.absf %x : f32
  %s = arith.addf %a, %one : f32
  %q = arith.divf %x, %s : f32
  return %q : f32
}

// The divisor may pass 2^126 where the dividend is large too.
// CHECK-LABEL: func.func @swish
// CHECK-NOT: by_reciprocal
func.func @swish(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %e = math.exp %x : f32
  %s = arith.addf %e, %one : f32
  %q = arith.divf %x, %s : f32
  return %q : f32
}

// Nothing is known of the divisor; and only f32 has such an instruction.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: by_reciprocal
func.func @unknown(%x: f32, %d: f64) -> (f32, f64) {
  %one = arith.constant 1.0 : f32
  %wide = arith.constant 1.0 : f64
  %q = arith.divf %one, %x : f32
  %e = math.exp %d : f64
  %s = arith.addf %e, %wide : f64
  %p = arith.divf %wide, %s : f64
  return %q, %p : f32, f64
}
