// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" | FileCheck %s --check-prefix=VECTOR
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a})" | FileCheck %s --check-prefix=BLOCK

// Leading dimensions that every access treats as one are one loop; what varies along columns alone is loaded once.
// VECTOR-LABEL: tile.kernel @bias_relu
// VECTOR-SAME: schedule = #tile.schedule<pointwise, tile = [21, 768]
// VECTOR: tile.load %arg0{{.*}} map (d0, d1) -> (d0, d1) {{.*}} -> tensor<21x768xf32>
// VECTOR: %[[BIAS:.*]] = tile.load %arg1{{.*}} -> tensor<1x768xf32>
// VECTOR: tile.broadcast %[[BIAS]]
// VECTOR: arith.maximumf
// VECTOR: tile.store

// The reshape that splits heads leaves no division.
// VECTOR-LABEL: tile.kernel @transpose
// VECTOR: tile.load {{.*}} map (d0, d1, d2, d3)[s0] -> (d0, d2, d1 * 64 + d3)

// A row that fits is loaded once; one that is no multiple of the tile is masked.
// VECTOR-LABEL: tile.kernel @softmax
// VECTOR: tile.load
// VECTOR-NOT: tile.load
// VECTOR: tile.reduce <max>
// VECTOR-NOT: arith.select
// VECTOR: tile.reduce <sum>
// VECTOR: tile.store
// BLOCK-LABEL: tile.kernel @softmax
// BLOCK: tile.load {{.*}} fill 0xFF800000
// BLOCK-NOT: tile.load
// BLOCK: tile.reduce <max>
// BLOCK: arith.select
// BLOCK: tile.reduce <sum>

// A constant right side is stored in panels of the register tile's columns on vector machines.
// VECTOR-LABEL: tile.kernel @matmul
// VECTOR-SAME: tile.packed_from = affine_map<(d0, d1, d2) -> (d1, d0 * 64 + d2)>, tile.source = tensor<770x300xf32>
// VECTOR: tile.load %arg1{{.*}} map (d0, d1) -> (d1 floordiv 64, d0, d1 mod 64) fill 0.000000e+00
// VECTOR: tile.dot
// BLOCK-LABEL: tile.kernel @matmul
// BLOCK: scf.for
// BLOCK: tile.dot
// BLOCK: scf.yield
// BLOCK: tile.store

// A vector times a small matrix: no tile.dot, the reduced loop is a dimension and here a single step, 32 bytes of a row of
// the matrix a block.
// BLOCK-LABEL: tile.kernel @vector_matrix
// BLOCK-SAME: schedule = #tile.schedule<gemv, tile = [1, 16], reduce = [1024]
// BLOCK: tile.load %arg1{{.*}} -> tensor<1x16x1024xf16>
// BLOCK-NOT: tile.dot
// BLOCK: tile.reduce <sum> {{.*}} dim 2
// BLOCK: tile.store

// A constant that is read as far as a symbol says is not packed: panels are made when compiling.
// VECTOR-LABEL: tile.kernel @some_columns
// VECTOR-NOT: tile.packed_from
// VECTOR: tile.dot
module attributes {graph.symbols = ["batch"], graph.nodes = ["a|Add"]} {
  graph.kernel @bias_relu(%x: tensor<8x128x768xf32>, %b: tensor<768xf32>) -> tensor<8x128x768xf32> {
    %0 = graph.broadcast %b dims [2] {graph.node = 0 : i64} : tensor<768xf32> -> tensor<8x128x768xf32>
    %1 = arith.addf %x, %0 {graph.node = 0 : i64} : tensor<8x128x768xf32>
    %c = arith.constant dense<0.0> : tensor<8x128x768xf32>
    %2 = arith.maximumf %1, %c {graph.node = 0 : i64} : tensor<8x128x768xf32>
    graph.return %2 : tensor<8x128x768xf32>
  }
  graph.kernel @transpose(%x: tensor<?x128x768xf32, affine_map<()[s0] -> (s0, 128, 768)>>) -> tensor<?x12x128x64xf32, affine_map<()[s0] -> (s0, 12, 128, 64)>> {
    %0 = graph.reshape %x {graph.node = 0 : i64} : tensor<?x128x768xf32, affine_map<()[s0] -> (s0, 128, 768)>> -> tensor<?x128x12x64xf32, affine_map<()[s0] -> (s0, 128, 12, 64)>>
    %1 = graph.transpose %0 perm [0, 2, 1, 3] {graph.node = 0 : i64} : tensor<?x128x12x64xf32, affine_map<()[s0] -> (s0, 128, 12, 64)>> -> tensor<?x12x128x64xf32, affine_map<()[s0] -> (s0, 12, 128, 64)>>
    graph.return %1 : tensor<?x12x128x64xf32, affine_map<()[s0] -> (s0, 12, 128, 64)>>
  }
  graph.kernel @softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<64x1000xf32> -> tensor<64xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<64x1000xf32>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<64x1000xf32>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<64x1000xf32>
    %s = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<64x1000xf32> -> tensor<64xf32>
    %sb = graph.broadcast %s dims [0] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<64x1000xf32>
    %r = arith.divf %e, %sb {graph.node = 0 : i64} : tensor<64x1000xf32>
    graph.return %r : tensor<64x1000xf32>
  }
  graph.kernel @matmul(%x: tensor<1000x770xf32>, %w: tensor<770x300xf32> {graph.constant}, %b: tensor<300xf32> {graph.constant}) -> tensor<1000x300xf32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<1000x770xf32>, tensor<770x300xf32> -> tensor<1000x300xf32>
    %0 = graph.broadcast %b dims [1] {graph.node = 0 : i64} : tensor<300xf32> -> tensor<1000x300xf32>
    %1 = arith.addf %c, %0 {graph.node = 0 : i64} : tensor<1000x300xf32>
    graph.return %1 : tensor<1000x300xf32>
  }
  graph.kernel @vector_matrix(%x: tensor<1x768xf16>, %w: tensor<768x1000xf16>) -> tensor<1x1000xf32> {
    %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<1x768xf16>, tensor<768x1000xf16> -> tensor<1x1000xf32>
    graph.return %0 : tensor<1x1000xf32>
  }
  graph.kernel @some_columns(%x: tensor<8x770xf32>, %w: tensor<770x300xf32> {graph.constant}) -> tensor<8x?xf32, affine_map<()[s0] -> (8, s0)>> {
    %s = graph.slice %w offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 0 : i64} : tensor<770x300xf32> -> tensor<770x?xf32, affine_map<()[s0] -> (770, s0)>>
    %c = graph.contract %x, %s maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<8x770xf32>, tensor<770x?xf32, affine_map<()[s0] -> (770, s0)>> -> tensor<8x?xf32, affine_map<()[s0] -> (8, s0)>>
    graph.return %c : tensor<8x?xf32, affine_map<()[s0] -> (8, s0)>>
  }
}
