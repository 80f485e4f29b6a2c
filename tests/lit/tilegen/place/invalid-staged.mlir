// A placed kernel, perhaps edited, is refused where a staged store is in no role, or its rows are none of the buffer.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a --split-input-file --verify-diagnostics

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @no_role(%y: !tile.buffer<f16, () -> (64, 63)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 9216 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  // expected-error @below {{expected a staged store in a role, got it elsewhere}}
  tile.store %one, %y[%c0, %c0] bounds () -> (64, 63) map (d0, d1) -> (d0, d1) staged 1 scratch 0
      : tensor<64x64xf16, #acc> -> !tile.buffer<f16, () -> (64, 63)>
  tile.return
}

// -----

// Columns are every other element.
#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @no_rows(%y: !tile.buffer<f16, () -> (64, 128)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 9216 : i64} {
  tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: false>} {
    %c0 = arith.constant 0 : index
    %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
    // expected-error @below {{expected rows of the buffer along dimension 1, of which a warp stores 64 elements at a time, got affine_map<(d0, d1) -> (d0, d1 * 2)>}}
    tile.store %one, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1 * 2) staged 1 scratch 0
        : tensor<64x64xf16, #acc> -> !tile.buffer<f16, () -> (64, 128)>
  }
  tile.return
}
