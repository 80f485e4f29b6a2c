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

// On a GPU 192 columns are sums of 128 and of 64, with one left side; the program's columns begin at multiples of 192.
// CHECK-LABEL: tile.kernel @columns(
// CHECK: %[[AT:.*]] = tile.size (d0) -> ((d0 mod 4) * 192)
// CHECK: %[[LAST:.*]] = tile.size (d0) -> (d0 + 128)(%[[AT]])
// CHECK: %[[SUMS:.*]]:2 = scf.for
// CHECK: %[[LHS:.*]] = tile.load %arg0
// CHECK: tile.load %arg1[%{{.*}}, %[[AT]]] bounds () -> (512, 768) {{.*}} -> tensor<64x128xf16>
// CHECK: tile.dot %[[LHS]], {{.*}}, tensor<64x128xf32>
// CHECK-NOT: tile.load %arg0
// CHECK: tile.load %arg1[%{{.*}}, %[[LAST]]] bounds () -> (512, 768) {{.*}} -> tensor<64x64xf16>
// CHECK: tile.dot %[[LHS]], {{.*}}, tensor<64x64xf32>
// CHECK: math.exp %[[SUMS]]#0
// CHECK: tile.store %{{.*}}, %arg2[%{{.*}}, %[[AT]]] bounds () -> (128, 768) {{.*}} : tensor<64x128xf32>
// CHECK: math.exp %[[SUMS]]#1
// CHECK: tile.store %{{.*}}, %arg2[%{{.*}}, %[[LAST]]] bounds () -> (128, 768) {{.*}} : tensor<64x64xf32>
graph.kernel @columns(%x: tensor<128x512xf16>, %y: tensor<512x768xf16>) -> tensor<128x768xf32>
    attributes {schedule = #tile.schedule<matmul, tile = [64, 192], reduce = [64], warps = 4, stages = 4, groups = 1>} {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
      : tensor<128x512xf16>, tensor<512x768xf16> -> tensor<128x768xf32>
  %e = math.exp %a : tensor<128x768xf32>
  graph.return %e : tensor<128x768xf32>
}

// A row's elements are summed in the order in which the transposed result needs them, so each is read once.
// CHECK-LABEL: tile.kernel @turned_rows(
// CHECK: %[[V:.*]] = tile.load %arg0[%{{.*}}] bounds () -> (40, 8, 32) map (d0, d1, d2) -> (d0, d2, d1)
// CHECK-NOT: tile.load
// CHECK: %[[S:.*]] = tile.broadcast %{{.*}} : tensor<1x1x1xf32> -> tensor<1x8x32xf32>
// CHECK: %[[D:.*]] = arith.divf %[[V]], %[[S]]
// CHECK: tile.store %[[D]], %arg1[%{{.*}}] bounds () -> (40, 8, 32) map (d0, d1, d2) -> (d0, d1, d2)
graph.kernel @turned_rows(%x: tensor<40x32x2x4xf32>) -> tensor<40x2x4x32xf32>
    attributes {schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8, 32], warps = 1>} {
  %s = graph.reduce <sum> %x axes [1, 2, 3] : tensor<40x32x2x4xf32> -> tensor<40xf32>
  %b = graph.broadcast %s dims [0] : tensor<40xf32> -> tensor<40x32x2x4xf32>
  %d = arith.divf %x, %b : tensor<40x32x2x4xf32>
  %t = graph.transpose %d perm [0, 2, 3, 1] : tensor<40x32x2x4xf32> -> tensor<40x2x4x32xf32>
  graph.return %t : tensor<40x2x4x32xf32>
}

// The indices of a gather are checked where it is read: behind it, in the second input of the concat, they are 0.
// CHECK-LABEL: tile.kernel @gather_concat(
// CHECK: %[[LIVE:.*]] = arith.cmpi slt
// CHECK: %[[INDEX:.*]] = arith.select %[[LIVE]], %{{.*}}, %{{.*}} : tensor<16xi1>, tensor<16xi64>
// CHECK: tile.check %[[INDEX]][%{{.*}}] bounds () -> (11) below () -> (8)
graph.kernel @gather_concat(%x: tensor<8xf32>, %y: tensor<5xf32>) -> tensor<11xf32>
    attributes {schedule = #tile.schedule<pointwise, tile = [16]>} {
  %i = graph.iota dim 0 {graph.node = 0 : i64} : tensor<6xi64>
  %two = arith.constant dense<2> : tensor<6xi64>
  %at = arith.addi %i, %two : tensor<6xi64>
  %g = graph.gather %x[%at : tensor<6xi64>] map affine_map<(d0, d1) -> (d1)> {graph.node = 0 : i64} : tensor<8xf32> -> tensor<6xf32>
  %c = graph.concat axis 0 %g, %y {graph.node = 0 : i64} : tensor<6xf32>, tensor<5xf32> -> tensor<11xf32>
  graph.return %c : tensor<11xf32>
}

// An index that is loaded is 0 outside of its buffer as it is.
// CHECK-LABEL: tile.kernel @loaded_concat(
// CHECK: %[[IDS:.*]] = tile.load %arg1
// CHECK-NEXT: tile.check %[[IDS]]
graph.kernel @loaded_concat(%x: tensor<8xf32>, %ids: tensor<6xi64>, %y: tensor<5xf32>) -> tensor<11xf32>
    attributes {schedule = #tile.schedule<pointwise, tile = [16]>} {
  %g = graph.gather %x[%ids : tensor<6xi64>] map affine_map<(d0, d1) -> (d1)> {graph.node = 0 : i64} : tensor<8xf32> -> tensor<6xf32>
  %c = graph.concat axis 0 %g, %y {graph.node = 0 : i64} : tensor<6xf32>, tensor<5xf32> -> tensor<11xf32>
  graph.return %c : tensor<11xf32>
}

// Between two accesses a size may be a symbol where all loops and buffers have known ones; masks of it have 64 bits.
// CHECK-LABEL: tile.kernel @between(
// CHECK: arith.cmpi slt, %{{.*}} : tensor<4xi64>
#some = affine_map<()[s0] -> (s0)>
#more = affine_map<()[s0] -> (s0 + 1)>
graph.kernel @between(%x: tensor<3xf32>, %at: tensor<4xi64>) -> tensor<4xf32>
    attributes {schedule = #tile.schedule<pointwise, tile = [4]>} {
  %i = graph.iota dim 0 {graph.node = 0 : i64} : tensor<?xi64, #some>
  %g = graph.gather %x[%i : tensor<?xi64, #some>] map affine_map<(d0, d1) -> (d1)> {graph.node = 0 : i64} : tensor<3xf32> -> tensor<?xf32, #some>
  %p = graph.pad %g low [0] fill 0.000000e+00 : f32 {graph.node = 0 : i64} : tensor<?xf32, #some> -> tensor<?xf32, #more>
  %r = graph.gather %p[%at : tensor<4xi64>] map affine_map<(d0, d1) -> (d1)> {graph.node = 0 : i64} : tensor<?xf32, #more> -> tensor<4xf32>
  graph.return %r : tensor<4xf32>
}

// One tensor of indices is checked against each dimension that it selects from.
// CHECK-LABEL: tile.kernel @diagonal(
// CHECK: %[[ROWS:.*]] = tile.check %[[AT:.*]][{{.*}} below () -> (5)
// CHECK: %[[COLUMNS:.*]] = tile.check %[[AT]][{{.*}} below () -> (3)
// CHECK: tile.load %arg0[%{{.*}}] at(%[[ROWS]], %[[COLUMNS]]
graph.kernel @diagonal(%x: tensor<5x3xf32>, %at: tensor<4xi64>) -> tensor<4xf32>
    attributes {schedule = #tile.schedule<pointwise, tile = [4]>} {
  %r = graph.gather %x[%at, %at : tensor<4xi64>, tensor<4xi64>] map affine_map<(d0, d1, d2) -> (d1, d2)> {graph.node = 0 : i64} : tensor<5x3xf32> -> tensor<4xf32>
  graph.return %r : tensor<4xf32>
}
