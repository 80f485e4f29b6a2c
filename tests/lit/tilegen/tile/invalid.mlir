// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected buffers first, then symbols of type index, got 'f32' as argument 1}}
tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>, %s: f32) attributes {grid = affine_map<() -> (1, 1, 1)>} { tile.return }

// -----

// expected-error@+1 {{expected a grid of three expressions (x, y, z) of the kernel's symbols, got affine_map<() -> (1, 1)>}}
tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1)>} { tile.return }

// -----

// expected-error@+1 {{expected constant sizes of argument 0 because its panels are packed when the model is compiled, got '!tile.buffer<f32, ()[s0] -> (s0, 8, 16)>'}}
tile.kernel @k(%x: !tile.buffer<f32, ()[s0] -> (s0, 8, 16)> {tile.packed_from = affine_map<(d0, d1, d2) -> (d0 * 16 + d2, d1)>}, %s0: index)
    attributes {grid = affine_map<() -> (1, 1, 1)>} { tile.return }

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{expected a positive step because the loop would not end, got 0}}
  scf.for %k = %c0 to %c8 step %c0 {
  }
  tile.return
}

// -----

// expected-error@+1 {{expected at most 0 symbols in a buffer's sizes because the kernel has that many, got 1}}
tile.kernel @k(%x: !tile.buffer<f32, ()[s0] -> (s0)>) attributes {grid = affine_map<() -> (1, 1, 1)>} { tile.return }

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected 1 offsets because the tile has that rank, got 2}}
  %v = tile.load %x[%c0, %c0] bounds () -> (8) map (d0) -> (d0) : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected bounds with no dimensions and 1 results, got 0 and 2}}
  %v = tile.load %x[%c0] bounds () -> (8, 8) map (d0) -> (d0) : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a map of 1 dimensions (the tile's and one per index), got 2}}
  %v = tile.load %x[%c0] bounds () -> (8) map (d0, d1) -> (d0) : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a map to 1 coordinates because the buffer has that rank, got 2}}
  %v = tile.load %x[%c0] bounds () -> (8) map (d0) -> (d0, d0) : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected tile elements of type 'f32' as in the buffer (i1 for bool in i8), got 'f16'}}
  %v = tile.load %x[%c0] bounds () -> (8) map (d0) -> (d0) : !tile.buffer<f32, () -> (8)> -> tensor<8xf16>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected guarded dimensions from 0 to 0, got 1}}
  %v = tile.load %x[%c0] bounds () -> (8) map (d0) -> (d0) guard [1] : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a fill of type 'f32', got 'i32'}}
  %v = tile.load %x[%c0] bounds () -> (8) map (d0) -> (d0) fill 0 : i32 : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x4xf32>
  // expected-error@+1 {{expected m x k, k x n and m x n, got 'tensor<8x4xf32>'}}
  %d = tile.dot %a, %a, %a : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x8xf32>
  // expected-error@+1 {{expected a live depth and live columns within the right side, got 9 and 8 of 'tensor<8x8xf32>'}}
  %d = tile.dot %a, %a, %a {live_depth = 9 : i64} : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x8xf16>
  // expected-error@+1 {{expected operands of one type, or singles and halves, and an accumulator of 'f32'}}
  %d = tile.dot %a, %a, %a : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x8xf32>
  // expected-error@+1 {{expected an instruction of the table in tilegen/tile/Layout.cpp, got 'mma.m1n1k1'}}
  %d = tile.dot %a, %a, %a {instruction = "mma.m1n1k1"} : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{expected tile.dot_wait before its sums are used because wgmma.m64n64k16x4 goes on by itself, got a use by arith.addf}}
  %d = tile.dot %a, %a, %c {instruction = "wgmma.m64n64k16x4"} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %e = arith.addf %d, %d : tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x4xf32>
  // expected-error@+1 {{expected a result like 'tensor<8x4xf32>' with size 1 in dimension 1, got 'tensor<1x4xf32>'}}
  %d = tile.reduce <sum> %a dim 1 : tensor<8x4xf32> -> tensor<1x4xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x4xf32>
  // expected-error@+1 {{expected size 1 or 16 in dimension 0, got 8}}
  %d = tile.broadcast %a : tensor<8x4xf32> -> tensor<16x4xf32>
  tile.return
}

// -----

// expected-error@+1 {{duplicate or unknown struct parameter name: threads}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, threads = 4>} { tile.return }

// -----

// expected-error@+2 {{expected one of [pointwise, row_reduction, matmul, window, gemv, attention] for what a kernel is built around, got: conv}}
// expected-error@+1 {{failed to parse ScheduleAttr parameter 'root'}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<conv, tile = [8]>} { tile.return }

// -----

// expected-error@+1 {{expected no in_place because only a matmul has a left side, got a root of window}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<window, tile = [8], in_place = true>} { tile.return }

// -----

// expected-error@+1 {{expected matrix of a matmul with packed columns alone, whose register tiles are no wider than a panel}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [32, 64], registers = [32, 64], pack = 32, matrix = true>} { tile.return }

// -----

// expected-error@+1 {{expected no unrolled but of a window that a block computes, got a root of matmul and 0 sizes of registers}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [32, 64], unrolled = true>} { tile.return }

// -----

// expected-error@+1 {{expected at most 256 elements of an unrolled step, got more}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<window, tile = [8, 32], reduce = [17, 16], unrolled = true>} { tile.return }

// -----

// expected-error@+1 {{expected positive tile sizes, got 0}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [0]>} { tile.return }


// -----

// expected-error@+1 {{expected registers to be rows, columns and at most a depth, got 4 numbers}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [8, 8], registers = [6, 64, 12, 2]>} { tile.return }

// -----

// expected-error@+1 {{expected positive warps and stages and a pack that is not negative, got 0, 1 and 0}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [8, 8], warps = 0>} { tile.return }

// -----

// expected-error@+1 {{expected no results: outputs are buffers that the program stores to}}
tile.kernel @k() -> f32 attributes {grid = affine_map<() -> (1, 1, 1)>} { tile.return }

// -----

// expected-error@+1 {{expected threads and shared_bytes, both of a placed kernel, or neither}}
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64} { tile.return }

// -----

// expected-error@+1 {{expected an expression in the module's symbols for each of 1 arguments}}
tile.kernel @k(%s0: index) attributes {grid = affine_map<() -> (1, 1, 1)>, symbols = affine_map<()[s0, s1] -> (s0, s1)>} { tile.return }

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected one expression, got 2}}
  %s = tile.size () -> (1, 2)
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected 1 operands because the expression has that many dimensions, got 2}}
  %s = tile.size (d0) -> (d0)(%c0, %c0)
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected at most 0 symbols in its expression because the kernel has that many, got 1}}
  %s = tile.size ()[s0] -> (s0)
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %i = arith.constant dense<0> : tensor<4xi64>
  // expected-error@+1 {{expected integer index tiles of the result's shape, got 'tensor<4xi64>'}}
  %v = tile.load %x[%c0] at (%i : tensor<4xi64>) bounds () -> (8) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<i7, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'tile.load' op result #0 must be tile of f16, bf16, f32, f64, i1, i8, i16, i32 or i64, but got 'tensor<8xi7>'}}
  %v = tile.load %x[%c0] bounds () -> (8) map (d0) -> (d0) : !tile.buffer<i7, () -> (8)> -> tensor<8xi7>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %i = arith.constant dense<0> : tensor<8xi64>
  // expected-error@+1 {{expected 1 offsets because the tile has that rank, got 0}}
  %s = tile.check %i[] bounds () -> (8) below () -> (8) site 0 : tensor<8xi64>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a dimension from 0 to 0, got 1}}
  %i = tile.coordinate %c0 dim 1 : tensor<8xi64>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8xf32>
  // expected-error@+1 {{expected three tiles of one rank of at least 2, got 1, 1 and 1}}
  %d = tile.dot %a, %a, %a : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x8xf32>
  // expected-error@+1 {{expected operands of i8 because one is said to be unsigned, got 'tensor<8x8xf32>'}}
  %d = tile.dot %a, %a, %a {rhs_unsigned} : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<1x8x8xf32>
  %b = arith.constant dense<0.0> : tensor<2x8x8xf32>
  // expected-error@+1 {{expected equal batch sizes in dimension 0, got 'tensor<1x8x8xf32>'}}
  %d = tile.dot %a, %b, %b : tensor<1x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error@+1 {{expected operands of f16 or bf16 because mma.m16n8k16 multiplies them, got 'f32'}}
  %d = tile.dot %a, %a, %a {instruction = "mma.m16n8k16"} : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x8xf16>
  %c = arith.constant dense<0.0> : tensor<8x8xf32>
  // expected-error@+1 {{expected m, n and k of at least 16, 8 and 16 because mma.m16n8k16 has them, got 8, 8 and 8}}
  %d = tile.dot %a, %a, %c {instruction = "mma.m16n8k16"} : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x4xf32>
  // expected-error@+1 {{expected a dimension from 0 to 1, got 2}}
  %d = tile.reduce <sum> %a dim 2 : tensor<8x4xf32> -> tensor<8x1xf32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<8x4xf32>
  // expected-error@+1 {{expected equal ranks and element types, got 'tensor<8x4xf32>' and 'tensor<8xf32>'}}
  %d = tile.broadcast %a : tensor<8x4xf32> -> tensor<8xf32>
  tile.return
}

// -----

// expected-error@+1 {{expected no pack because only a contraction reads panels, got 4}}
tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8], pack = 4>} { tile.return }

// -----

// expected-error@+1 {{struct is missing required parameter: tile}}
tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, warps = 4>} { tile.return }

// -----

// expected-error@+1 {{expected tile.matmul_precision on a module, ieee, tf32x3 or tf32, got "tf23"}}
module attributes {tile.matmul_precision = "tf23"} {}

// -----

// expected-error@+1 {{expected tile.matmul_precision on a module, ieee, tf32x3 or tf32, got "tf32"}}
tile.kernel @k(%x: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>, tile.matmul_precision = "tf32"} { tile.return }
