// RUN: tilewright-opt %s --tilewright-tile-emit=target=host | FileCheck %s

// A transpose is a map of a load, not an operation; rows past the end are masked by bounds.
// CHECK-LABEL: tile.kernel @sum(
// CHECK-SAME: %[[X:.*]]: !tile.buffer<f32, () -> (30, 20)>, %[[Y:.*]]: !tile.buffer<f32, () -> (20, 30)>, %[[Z:.*]]: !tile.buffer<f32, () -> (20, 30)>
// CHECK-SAME: schedule = #tile.schedule<pointwise, tile = [8, 32]
// CHECK: tile.load %[[X]][%{{.*}}] bounds () -> (20, 30) map (d0, d1) -> (d1, d0)
// CHECK: tile.load %[[Y]][%{{.*}}] bounds () -> (20, 30) map (d0, d1) -> (d0, d1)
// CHECK: arith.addf {{.*}} : tensor<8x32xf32>
// CHECK: tile.store %{{.*}}, %[[Z]]
// CHECK-NOT: graph.
graph.kernel @sum(%x: tensor<30x20xf32>, %y: tensor<20x30xf32>) -> tensor<20x30xf32>
    attributes {schedule = #tile.schedule<pointwise, tile = [8, 32]>} {
  %t = graph.transpose %x perm [1, 0] {graph.node = 0 : i64} : tensor<30x20xf32> -> tensor<20x30xf32>
  %s = arith.addf %t, %y {graph.node = 0 : i64} : tensor<20x30xf32>
  graph.return %s : tensor<20x30xf32>
}
