// One case a diagnostic of the operations of programs with a loop of steps.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

tile.kernel @other_elements(%x: !tile.buffer<f32, () -> (2, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected a slice of the buffer's elements, 'f32', got 'f16'}}
  %s = tile.buffer_slice %x[%c0] : !tile.buffer<f32, () -> (2, 64)> -> !tile.buffer<f16, () -> (64)>
  tile.return
}

// -----

tile.kernel @in_no_loop() attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error @+1 {{expected to stand in a loop around the whole program because all threads must come here}}
  tile.step_end blocks 1
  tile.return
}

// -----

tile.kernel @two_clusters(%n: index) attributes {grid = affine_map<()[s0] -> (4, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{expected 4 blocks as elsewhere in the kernel because a block is in one cluster, got 2}}
    tile.step_end blocks 2
    tile.step_end blocks 4
  }
  tile.return
}

// -----

tile.kernel @part_of_a_cluster(%n: index) attributes {grid = affine_map<()[s0] -> (s0, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+1 {{expected a multiple of 2 blocks along x because clusters are whole, got affine_map<()[s0] -> (s0, 1, 1)>}}
    tile.step_end blocks 2
  }
  tile.return
}
