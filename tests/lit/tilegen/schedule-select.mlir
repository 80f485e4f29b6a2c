// RUN: tilewright-opt %s --tilewright-schedule-select=target=host | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_90a | FileCheck %s --check-prefixes=CHECK,GPU

// HOST-LABEL: graph.kernel @product
// HOST-SAME: schedule = #tile.schedule<matmul, {{.*}}registers = [
// GPU-LABEL: graph.kernel @product
// GPU-SAME: schedule = #tile.schedule<matmul, {{.*}}stages = {{[2-9]}}{{.*}}>
graph.kernel @product(%x: tensor<1024x1024xf16>, %y: tensor<1024x1024xf16>) -> tensor<1024x1024xf32> {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
      : tensor<1024x1024xf16>, tensor<1024x1024xf16> -> tensor<1024x1024xf32>
  graph.return %a : tensor<1024x1024xf32>
}

// A schedule that is there stays.
// CHECK-LABEL: graph.kernel @decided
// CHECK-SAME: schedule = #tile.schedule<pointwise, tile = [24]
graph.kernel @decided(%x: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {schedule = #tile.schedule<pointwise, tile = [24]>} {
  %y = arith.addf %x, %x {graph.node = 0 : i64} : tensor<4x6xf32>
  graph.return %y : tensor<4x6xf32>
}
