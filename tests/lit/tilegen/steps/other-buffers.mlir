// Buffers that are neither arguments, slices nor one of two buffers are refused.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a --tilewright-gpu-distribute=target=sm_90a --verify-diagnostics

tile.kernel @other(%x: !tile.buffer<f32, () -> (64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected an operation that the GPU distributor knows (tile, arith, math, scf.for)}}
  %y = builtin.unrealized_conversion_cast %x : !tile.buffer<f32, () -> (64)> to !tile.buffer<f32, () -> (64)>
  %v = tile.load %y[%c0] bounds () -> (64) map (d0) -> (d0) : !tile.buffer<f32, () -> (64)> -> tensor<64xf32>
  tile.store %v, %x[%c0] bounds () -> (64) map (d0) -> (d0) : tensor<64xf32> -> !tile.buffer<f32, () -> (64)>
  tile.return
}
