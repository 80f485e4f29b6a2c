// RUN: tilewright-opt %s --tilewright-math-pair-reciprocals | FileCheck %s

// What the second divisor follows from is moved in front of the first division.
// CHECK-LABEL: func.func @pair(
// CHECK-DAG: %[[A:.*]] = arith.addf %arg0
// CHECK-DAG: %[[B:.*]] = arith.addf %arg1
// CHECK-DAG: %[[CUT_A:.*]] = arith.minnumf %[[A]], %[[LIMIT:.*]] : f32
// CHECK-DAG: %[[CUT_B:.*]] = arith.minnumf %[[B]], %[[LIMIT]] : f32
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[CUT_A]], %[[CUT_B]]
// CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[PRODUCT]] {tilewright.by_reciprocal}
// CHECK-NOT: arith.divf
// CHECK: %[[SHARE_A:.*]] = arith.mulf %[[CUT_B]], %[[R]]
// CHECK: %[[INVERSE_A:.*]] = arith.minimumf %[[SHARE_A]], %[[A]]
// CHECK: %[[FIRST:.*]] = arith.mulf %{{.*}}, %[[INVERSE_A]]
// CHECK: %[[SHARE_B:.*]] = arith.mulf %[[CUT_A]], %[[R]]
// CHECK: %[[INVERSE_B:.*]] = arith.minimumf %[[SHARE_B]], %[[B]]
// CHECK: %[[SECOND:.*]] = arith.mulf %{{.*}}, %[[INVERSE_B]]
// CHECK: %[[USE:.*]] = arith.truncf %[[FIRST]]
// CHECK: return %[[USE]], %[[SECOND]]
func.func @pair(%x: f32, %y: f32) -> (f16, f32) {
  %one = arith.constant 1.0 : f32
  %a = arith.addf %x, %one : f32
  %p = arith.divf %one, %a {tilewright.by_reciprocal, tilewright.may_pair} : f32
  %use = arith.truncf %p : f32 to f16
  %b = arith.addf %y, %one : f32
  %q = arith.divf %one, %b {tilewright.by_reciprocal, tilewright.may_pair} : f32
  return %use, %q : f16, f32
}

// The third one is alone.
// CHECK-LABEL: func.func @three(
// CHECK-COUNT-2: arith.divf
// CHECK-NOT: arith.divf
func.func @three(%a: f32, %b: f32, %c: f32) -> (f32, f32, f32) {
  %one = arith.constant 1.0 : f32
  %p = arith.divf %one, %a {tilewright.by_reciprocal, tilewright.may_pair} : f32
  %q = arith.divf %one, %b {tilewright.by_reciprocal, tilewright.may_pair} : f32
  %r = arith.divf %one, %c {tilewright.by_reciprocal, tilewright.may_pair} : f32
  return %p, %q, %r : f32, f32, f32
}

// Not where the second divisor follows from the first quotient, or is read behind it, or where nothing says that it
// may be less exact.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-2: arith.divf
// CHECK-LABEL: func.func @read(
// CHECK-COUNT-2: arith.divf
// CHECK-LABEL: func.func @exact(
// CHECK-COUNT-2: arith.divf
func.func @apart(%a: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %p = arith.divf %one, %a {tilewright.by_reciprocal, tilewright.may_pair} : f32
  %b = arith.addf %p, %one : f32
  %q = arith.divf %one, %b {tilewright.by_reciprocal, tilewright.may_pair} : f32
  return %q : f32
}
func.func @read(%a: f32, %from: !llvm.ptr, %to: !llvm.ptr) -> f32 {
  %one = arith.constant 1.0 : f32
  %p = arith.divf %one, %a {tilewright.by_reciprocal, tilewright.may_pair} : f32
  llvm.store %p, %to : f32, !llvm.ptr
  %b = llvm.load %from : !llvm.ptr -> f32
  %q = arith.divf %one, %b {tilewright.by_reciprocal, tilewright.may_pair} : f32
  return %q : f32
}
func.func @exact(%a: f32, %b: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %p = arith.divf %one, %a {tilewright.by_reciprocal} : f32
  %q = arith.divf %one, %b {tilewright.by_reciprocal} : f32
  return %p, %q : f32, f32
}
