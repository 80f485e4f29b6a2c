// One case a diagnostic.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

module {
  func.func @directions(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
    // expected-error @+1 {{expected 1 directions because so many inputs are scanned, got 0}}
    %y = flow.loop @body_0 sizes affine_map<() -> ()> carried () scanned (%x) captures () reverse_scanned [] reverse_collected [false]
        : (tensor<3x4xf32>) -> tensor<3x4xf32>
    return %y : tensor<3x4xf32>
  }
  module @body_0 {}
}

// -----

module {
  func.func @results(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{expected 2 results because so many values are carried and collected, got 1}}
    %y = flow.loop @body_0 sizes affine_map<() -> ()> trips %n carried (%x, %x) scanned () captures () reverse_scanned [] reverse_collected [] counted
        : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  module @body_0 {}
}

// -----

func.func @no_body(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a body, a module of the name 'no_body', found none}}
  %y = flow.loop @no_body sizes affine_map<() -> ()> trips %n carried (%x) scanned () captures () reverse_scanned [] reverse_collected [] counted
      : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

module {
  func.func @no_else(%c: tensor<i1>) {
    // expected-error @+1 {{expected a body, a module of the name 'body_1', found none}}
    flow.if %c then @body_0 sizes affine_map<() -> ()> () else @body_1 sizes affine_map<() -> ()> () : (tensor<i1>) -> ()
    return
  }
  module @body_0 {}
}

// -----

module {
  func.func @sizes(%c: tensor<i1>) {
    // expected-error @+1 {{expected sizes that are expressions of symbols alone, got affine_map<(d0) -> (d0)>}}
    flow.if %c then @body_0 sizes affine_map<() -> ()> () else @body_0 sizes affine_map<(d0) -> (d0)> () : (tensor<i1>) -> ()
    return
  }
  module @body_0 {}
}

// -----

module {
  func.func @condition(%c: tensor<i64>) {
    // expected-error @+1 {{expected a boolean as condition, got 'tensor<i64>'}}
    flow.if %c then @body_0 sizes affine_map<() -> ()> () else @body_0 sizes affine_map<() -> ()> () : (tensor<i64>) -> ()
    return
  }
  module @body_0 {}
}

// -----

module {
  func.func @trips(%n: tensor<f32>) {
    // expected-error @+1 {{expected a trip count of type i64, got 'tensor<f32>'}}
    flow.loop @body_0 sizes affine_map<() -> ()> trips %n carried () scanned () captures () reverse_scanned [] reverse_collected [] counted
        : (tensor<f32>) -> ()
    return
  }
  module @body_0 {}
}
