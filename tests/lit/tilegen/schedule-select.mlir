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

// Singles: warps that copy beside warps that multiply, where the left side's rows are rows of memory.
// HOST-LABEL: graph.kernel @singles
// GPU-LABEL: graph.kernel @singles
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [128, 128], reduce = [32], warps = 8, stages = 6, groups = 1, order = 8>
graph.kernel @singles(%x: tensor<4096x1024xf32>, %y: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
      : tensor<4096x1024xf32>, tensor<1024x4096xf32> -> tensor<4096x4096xf32>
  graph.return %a : tensor<4096x4096xf32>
}
// GPU-LABEL: graph.kernel @across
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [32], warps = 4, stages = 4>
graph.kernel @across(%x: tensor<1024x4096xf32>, %y: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
      : tensor<1024x4096xf32>, tensor<1024x4096xf32> -> tensor<4096x4096xf32>
  graph.return %a : tensor<4096x4096xf32>
}

// A schedule that is there stays.
// CHECK-LABEL: graph.kernel @decided
// CHECK-SAME: schedule = #tile.schedule<pointwise, tile = [24]
graph.kernel @decided(%x: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {schedule = #tile.schedule<pointwise, tile = [24]>} {
  %y = arith.addf %x, %x {graph.node = 0 : i64} : tensor<4x6xf32>
  graph.return %y : tensor<4x6xf32>
}
