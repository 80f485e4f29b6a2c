// Steps of placing refuse kernels that lack what the steps before would have made, and targets that are not there.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile.kernel(tilewright-place-pipeline-loops{target=sm_80}))"

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected tiles with layouts, which tilewright-place-assign-layouts gives them, got 'tensor<8xf32>'}}
  %a = arith.constant dense<0.0> : tensor<8xf32>
  tile.return
}
