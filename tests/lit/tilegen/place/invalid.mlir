// What placing refuses, a case for each diagnostic.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_80 --split-input-file --verify-diagnostics

tile.kernel @odd(%x: !tile.buffer<f32, () -> (100)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected tile sizes that are powers of two because layouts are maps of bits, got 'tensor<100xf32>'}}
  %v = tile.load %x[%c0] bounds () -> (100) map (d0) -> (d0) : !tile.buffer<f32, () -> (100)> -> tensor<100xf32>
  tile.store %v, %x[%c0] bounds () -> (100) map (d0) -> (d0) : tensor<100xf32> -> !tile.buffer<f32, () -> (100)>
  tile.return
}

// -----

// expected-error @below {{expected a number of warps that is a power of two because layouts are maps of bits, got 3}}
tile.kernel @warps(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [128], warps = 3>} {
  tile.return
}

// -----

// expected-error @below {{expected at most 166912 bytes of shared memory because a block has that much, got 262144; use smaller tiles or fewer stages}}
tile.kernel @large(%a: !tile.buffer<f32, () -> (256, 128)>, %b: !tile.buffer<f32, () -> (128, 256)>, %y: !tile.buffer<f32, () -> (256, 256)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [256, 256], warps = 8>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %x = tile.load %a[%c0, %c0] bounds () -> (256, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (256, 128)> -> tensor<256x128xf32>
  %w = tile.load %b[%c0, %c0] bounds () -> (128, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (128, 256)> -> tensor<128x256xf32>
  %d = tile.dot %x, %w, %zero : tensor<256x128xf32>, tensor<128x256xf32>, tensor<256x256xf32>
  tile.store %d, %y[%c0, %c0] bounds () -> (256, 256) map (d0, d1) -> (d0, d1) : tensor<256x256xf32> -> !tile.buffer<f32, () -> (256, 256)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (16, 16)> -> tensor<16x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%carried = %v, %acc = %zero) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    // expected-error @+1 {{expected operands that are loaded and computed where they are used because they go through shared memory, got one carried by a loop}}
    %d = tile.dot %carried, %carried, %acc : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    scf.yield %d, %d : tensor<16x16xf32>, tensor<16x16xf32>
  }
  tile.store %r#1, %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<2x16x16xf32>
  %v = tile.load %x[%c0, %c0, %c0] bounds () -> (2, 16, 16) map (d0, d1, d2) -> (d1, d2) : !tile.buffer<f32, () -> (16, 16)> -> tensor<2x16x16xf32>
  // expected-error @+1 {{expected accumulators with batch sizes of 1, got 'tensor<2x16x16xf32>'}}
  %d = tile.dot %v, %v, %zero : tensor<2x16x16xf32>, tensor<2x16x16xf32>, tensor<2x16x16xf32>
  tile.store %d, %x[%c0, %c0, %c0] bounds () -> (1, 16, 16) map (d0, d1, d2) -> (d1, d2) : tensor<2x16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f64, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f64, () -> (16, 16)> -> tensor<16x16xf64>
  %zero = arith.constant dense<0.0> : tensor<16x16xf64>
  %w = tile.load %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f64, () -> (16, 16)> -> tensor<16x32xf64>
  %wide = arith.constant dense<0.0> : tensor<16x32xf64>
  // expected-error @+1 {{expected a matrix instruction of the target for strips of a tile's columns, got 'tensor<16x16xf64>'}}
  %d = tile.dot %v, %v, %zero : tensor<16x16xf64>, tensor<16x16xf64>, tensor<16x16xf64>
  %e = tile.dot %v, %w, %wide : tensor<16x16xf64>, tensor<16x32xf64>, tensor<16x32xf64>
  tile.store %d, %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x16xf64> -> !tile.buffer<f64, () -> (16, 16)>
  tile.store %e, %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x32xf64> -> !tile.buffer<f64, () -> (16, 16)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (16, 16)> -> tensor<16x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %w = tile.load %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (16, 16)> -> tensor<16x32xf32>
  // expected-error @+1 {{expected no tile around it that is larger than its accumulator, got sizes 16, 32}}
  %d = tile.dot %v, %v, %zero : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  tile.store %w, %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x32xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.store %d, %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (16, 16)> -> tensor<16x16xf32>
  // expected-error @+1 {{expected tiles of rank 2 as elsewhere in the kernel, got 'tensor<16xf32>'}}
  %w = tile.load %x[%c0] bounds () -> (16) map (d0) -> (0, d0) : !tile.buffer<f32, () -> (16, 16)> -> tensor<16xf32>
  tile.store %v, %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.store %w, %x[%c0] bounds () -> (16) map (d0) -> (0, d0) : tensor<16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %v = tile.load %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (16, 16)> -> tensor<16x16xf32>
  // expected-error @+1 {{expected a matrix instruction of the target whose results are laid out as its left side for products of 'tensor<16x16xf32>' whose results are multiplied again}}
  %d = tile.dot %v, %v, %zero : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  %e = tile.dot %d, %v, %zero : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  tile.store %e, %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x16xf32> -> !tile.buffer<f32, () -> (16, 16)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (32, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<attention, tile = [16, 16], warps = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %v = tile.load %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (32, 16)> -> tensor<16x16xf16>
  %w = tile.load %x[%c0, %c0] bounds () -> (32, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (32, 16)> -> tensor<32x16xf16>
  // expected-error @+1 {{expected tiles of its rows around it, got 'tensor<32x16xf16>'}}
  %d = tile.dot %v, %v, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %h = arith.truncf %d : tensor<16x16xf32> to tensor<16x16xf16>
  %e = tile.dot %h, %v, %zero : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
  %f = arith.truncf %e : tensor<16x16xf32> to tensor<16x16xf16>
  tile.store %f, %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : tensor<16x16xf16> -> !tile.buffer<f16, () -> (32, 16)>
  tile.store %w, %x[%c0, %c0] bounds () -> (32, 16) map (d0, d1) -> (d0, d1) : tensor<32x16xf16> -> !tile.buffer<f16, () -> (32, 16)>
  tile.return
}
