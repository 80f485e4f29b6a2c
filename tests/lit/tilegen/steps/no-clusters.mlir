// Steps whose blocks wait for each other are refused for a target that has no clusters.
// RUN: not tilewright-opt %s --tilewright-place-tiles=target=sm_80 2>&1 | FileCheck %s
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a | FileCheck %s --check-prefix=HOPPER

// CHECK: error: 'tile.step_end' op expected clusters of at most 0 blocks because the target has no larger ones, got 2; make the kernel for it again
// HOPPER: tile.step_end blocks 2
tile.kernel @powers(%x: !tile.buffer<f32, () -> (64)>, %n: index)
    attributes {grid = affine_map<()[s0] -> (2, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [64]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = tile.load %x[%c0] bounds () -> (64) map (d0) -> (d0) : !tile.buffer<f32, () -> (64)> -> tensor<64xf32>
    %w = arith.mulf %v, %v : tensor<64xf32>
    tile.store %w, %x[%c0] bounds () -> (64) map (d0) -> (d0) : tensor<64xf32> -> !tile.buffer<f32, () -> (64)>
    tile.step_end blocks 2
  }
  tile.return
}
