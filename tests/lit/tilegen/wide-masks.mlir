// Every size is below 2^30, but the linear index between the two shapes is not below 2^31: its mask takes 64 bits. A
// smaller one takes 32.
// RUN: tilewright-opt %s --split-input-file --tilewright-schedule-select=target=sm_80 --tilewright-tile-emit=target=sm_80 | FileCheck %s

// CHECK-LABEL: tile.kernel @wide
// CHECK: arith.cmpi slt, {{.*}}xi64>
graph.kernel @wide(%x: tensor<60000x70000xf32>, %b: tensor<60000xf32>) -> tensor<70001x60000xf32> attributes {root = #graph.root<pointwise>} {
  %e = math.absf %x : tensor<60000x70000xf32>
  %0 = graph.pad %e low [0, 0] fill 1.0 : f32 : tensor<60000x70000xf32> -> tensor<60000x70001xf32>
  %1 = graph.reshape %0 : tensor<60000x70001xf32> -> tensor<70001x60000xf32>
  %2 = graph.broadcast %b dims [1] : tensor<60000xf32> -> tensor<70001x60000xf32>
  %3 = arith.addf %1, %2 : tensor<70001x60000xf32>
  graph.return %3 : tensor<70001x60000xf32>
}

// -----

// CHECK-LABEL: tile.kernel @narrow
// CHECK: arith.cmpi slt, {{.*}}xi32>
graph.kernel @narrow(%x: tensor<600x700xf32>, %b: tensor<600xf32>) -> tensor<701x600xf32> attributes {root = #graph.root<pointwise>} {
  %e = math.absf %x : tensor<600x700xf32>
  %0 = graph.pad %e low [0, 0] fill 1.0 : f32 : tensor<600x700xf32> -> tensor<600x701xf32>
  %1 = graph.reshape %0 : tensor<600x701xf32> -> tensor<701x600xf32>
  %2 = graph.broadcast %b dims [1] : tensor<600xf32> -> tensor<701x600xf32>
  %3 = arith.addf %1, %2 : tensor<701x600xf32>
  graph.return %3 : tensor<701x600xf32>
}
