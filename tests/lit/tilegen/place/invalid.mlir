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
