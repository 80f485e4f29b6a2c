// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @directions(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{expected 1 directions because so many inputs are scanned, got 0}}
  %y = flow.loop @body_0 sizes affine_map<() -> ()> carried () scanned (%x) captures () reverse_scanned [] reverse_collected [false]
      : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

func.func @results(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected 2 results because so many values are carried and collected, got 1}}
  %y = flow.loop @body_0 sizes affine_map<() -> ()> trips %n carried (%x, %x) scanned () captures () reverse_scanned [] reverse_collected [] counted
      : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
