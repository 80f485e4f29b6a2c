// RUN: tilewright-opt %s --tilewright-math-make-integers-safe | FileCheck %s

// Of x / 0 the result is 0, of the smallest number over -1 itself: the divisor becomes 1, and the result is selected.
// CHECK-LABEL: func.func @divide
// CHECK-DAG: %[[ZERO:.*]] = arith.cmpi eq, %[[Y:.*]], %c0
// CHECK-DAG: %[[MINUS:.*]] = arith.cmpi eq, %[[Y]], %c-1
// CHECK: %[[EITHER:.*]] = arith.ori %[[ZERO]], %[[MINUS]]
// CHECK: %[[SAFE:.*]] = arith.select %[[EITHER]], %c1{{.*}}, %[[Y]]
// CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %[[SAFE]]
// CHECK: arith.select %[[MINUS]], %{{.*}}, %[[Q]]
// CHECK: %[[RESULT:.*]] = arith.select %[[ZERO]], %c0{{.*}}
// CHECK: return %[[RESULT]]
func.func @divide(%x: i32, %y: i32) -> i32 {
  %q = arith.divsi %x, %y : i32
  return %q : i32
}

// CHECK-LABEL: func.func @remainder
// CHECK: arith.remui %{{.*}}, %{{.*}} : i8
// CHECK: arith.select
func.func @remainder(%x: i8, %y: i8) -> i8 {
  %r = arith.remui %x, %y : i8
  return %r : i8
}

// Numbers past the limits become the limits, NaN becomes 0.
// CHECK-LABEL: func.func @cast
// CHECK: arith.fptosi
// CHECK-DAG: arith.cmpf oge, %{{.*}}, %cst
// CHECK-DAG: arith.cmpf ole
// CHECK-DAG: arith.cmpf uno
// CHECK-COUNT-3: arith.select
func.func @cast(%x: f32) -> i8 {
  %i = arith.fptosi %x : f32 to i8
  return %i : i8
}

// Tiles are not touched: their operations become scalar ones first.
// CHECK-LABEL: func.func @tile
// CHECK-NEXT: arith.divsi
func.func @tile(%x: tensor<4xi32>) -> tensor<4xi32> {
  %q = arith.divsi %x, %x : tensor<4xi32>
  return %q : tensor<4xi32>
}
