// A schedule that was edited to what the matrix unit cannot do is refused with a sentence, never computed otherwise.
// RUN: sed -e 's/REGISTERS/40, 32/' %s > %t.rows.mlir
// RUN: not tilewright-opt %t.rows.mlir --tilewright-code-print=target=x86-64-v4-amx -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: sed -e 's/REGISTERS/32, 32/' %s > %t.target.mlir
// RUN: not tilewright-opt %t.target.mlir --tilewright-code-print=target=x86-64-v4-vnni -o /dev/null 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: tilewright-opt %t.target.mlir --tilewright-code-print=target=x86-64-v4-amx -o /dev/null | FileCheck %s

// ROWS: expected 'matrix' with at most four tiles of 16 rows and 16 columns, at most two of them below each other, got registers of 40 rows and 32 columns
// TARGET: its schedule wants the matrix unit, which this target has not: take out 'matrix'
// CHECK: tdpbssd
tile.kernel @product(%x: !tile.buffer<i8, () -> (64, 64)>, %w: !tile.buffer<i8, () -> (2, 16, 32, 4)>
      {graph.constant, tile.packed_from = affine_map<(d0, d1, d2, d3) -> (d1 * 4 + d3, d0 * 32 + d2)>, tile.source = tensor<64x64xi8>},
    %y: !tile.buffer<i32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], registers = [REGISTERS], pack = 32, matrix = true>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %a = tile.load %x[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<i8, () -> (64, 64)> -> tensor<64x64xi8>
  %b = tile.load %w[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d1 floordiv 32, d0 floordiv 4, d1 mod 32, d0 mod 4) fill 0 : i8
      : !tile.buffer<i8, () -> (2, 16, 32, 4)> -> tensor<64x64xi8>
  %c = tile.dot %a, %b, %zero : tensor<64x64xi8>, tensor<64x64xi8>, tensor<64x64xi32>
  tile.store %c, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xi32> -> !tile.buffer<i32, () -> (64, 64)>
  tile.return
}
