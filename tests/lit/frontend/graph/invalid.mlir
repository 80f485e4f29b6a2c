// One case a diagnostic.
// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<768xf32>) {
  // expected-error @+1 {{expected result dimension 1 = 768 because operand dimension 0 has it, got 767}}
  %0 = graph.broadcast %x dims [1] : tensor<768xf32> -> tensor<8x767xf32>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected increasing dims below the result's rank 2, got 0}}
  %0 = graph.broadcast %x dims [1, 0] : tensor<4x768xf32> -> tensor<768x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected 3072 elements because the operand has so many, got 3071}}
  %0 = graph.reshape %x : tensor<4x768xf32> -> tensor<3071xf32>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected 3072 elements because the operand has so many, got 3071}}
  %0 = graph.view %x : tensor<4x768xf32> -> tensor<3071xf32>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected element type 'f32' because an access renames elements, got 'f16'}}
  %0 = graph.view %x : tensor<4x768xf32> -> tensor<3072xf16>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected result dimension 0 = 4 because operand dimension 0 has it, got 8}}
  %0 = graph.repeat %x : tensor<4x768xf32> -> tensor<8x768xf32>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected rank 2 because of the operand, got 3}}
  %0 = graph.repeat %x : tensor<4x768xf32> -> tensor<1x4x768xf32>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected element type 'f32' because an access renames elements, got 'f16'}}
  %0 = graph.repeat %x : tensor<4x768xf32> -> tensor<4x768xf16>
  return
}

// -----

func.func @f(%x: tensor<?x768xf32, affine_map<()[s0] -> (s0, 768)>>) {
  // expected-error @+1 {{expected s0 * 768 elements because the operand has so many, got s1 * 768}}
  %0 = graph.reshape %x : tensor<?x768xf32, affine_map<()[s0] -> (s0, 768)>> -> tensor<?xf32, affine_map<()[s0, s1] -> (s1 * 768)>>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected element type 'f32' because an access renames elements, got 'f16'}}
  %0 = graph.reshape %x : tensor<4x768xf32> -> tensor<3072xf16>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected a permutation of 0 to 1, got 1 out of range or twice}}
  %0 = graph.transpose %x perm [1, 1] : tensor<4x768xf32> -> tensor<768x768xf32>
  return
}

// -----

func.func @f(%x: tensor<8x128xf32>) {
  // expected-error @+1 {{expected coordinates within dimension 1 of 128, got 64 to 128}}
  %0 = graph.slice %x offsets affine_map<() -> (0, 64)> strides [1, 2] : tensor<8x128xf32> -> tensor<8x33xf32>
  return
}

// -----

func.func @f(%x: tensor<8x30xf32>) {
  // expected-error @+1 {{expected a fill of type 'f32' because of the operand, got 'i64'}}
  %0 = graph.pad %x low [0, 1] fill 0 : i64 : tensor<8x30xf32> -> tensor<8x32xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{expected consecutive dims below the rank 4, got 3}}
  %0 = graph.window %x dims [1, 3] strides [1, 1] dilations [1, 1] low [0, 0] fill 0.0 : f32 : tensor<1x8x8x3xf32> -> tensor<1x6x6x3x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<100x64xf32>, %i: tensor<8xi64>) {
  // expected-error @+1 {{expected integer indices of the result's sizes, got 'tensor<8xi64>'}}
  %0 = graph.gather %x[%i : tensor<8xi64>] map affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<100x64xf32> -> tensor<8x64xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected a key of 32 lower-case hexadecimal digits because the pool is addressed by content, got 'weights'}}
  %0 = graph.constant "weights" : tensor<8xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected a dimension below the rank 2, got 2}}
  %0 = graph.iota dim 2 : tensor<8x8xi64>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expected room for 2 sizes, got 'tensor<3xi64>'}}
  %0 = graph.dims affine_map<() -> (1, 2)> : tensor<3xi64>
  return
}

// -----

func.func @f(%x: tensor<8x64xf32>, %y: tensor<9x64xf32>) {
  // expected-error @+1 {{expected dimension 0 = 8 as in the first operand, operand 1 has 9}}
  %0 = graph.concat axis 1 %x, %y : tensor<8x64xf32>, tensor<9x64xf32> -> tensor<8x128xf32>
  return
}

// -----

func.func @f(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{expected the result 'tensor<8xf32>' because of the operands, got 'tensor<8xf16>'}}
  %0 = graph.reduce <sum> %x axes [1] : tensor<8x64xf16> -> tensor<8xf16>
  return
}

// -----

func.func @f(%x: tensor<8x64xf32>) {
  // expected-error @+1 {{expected increasing axes below the rank 2, got 2}}
  %0 = graph.reduce <sum> %x axes [2] : tensor<8x64xf32> -> tensor<8x64xf32>
  return
}

// -----

func.func @f(%a: tensor<8x64xf32>, %b: tensor<65x4xf32>) {
  // expected-error @+1 {{expected loop 2 to have one size, got 64 and 65}}
  %0 = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x64xf32>, tensor<65x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected 2 operands because so many inputs are present, got 1}}
  %0 = graph.host_call "Resize"("", 13) present [true, true] attributes {} (%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected the kernel's result types ('tensor<8xf32>'), got ()}}
  graph.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected a kernel of the name 'missing', found none}}
  graph.launch @missing(%x) : (tensor<8xf32>) -> ()
  return
}

// -----

graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  graph.return %x : tensor<8xf32>
}
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected a kernel of the name 'k_to16', found none}}
  graph.launch @k(%x) {variants = [#graph.variant<@k_to16 for ()[s0] -> (s0) to 16>]} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  graph.return %x : tensor<8xf32>
}
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected variants for one size of symbols alone, got #graph.variant<@k for (d0) -> (d0) to 16>}}
  graph.launch @k(%x) {variants = [#graph.variant<@k for (d0) -> (d0) to 16>]} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  graph.return %x : tensor<8xf32>
}
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected variants of its kernel, got 16 : i64}}
  graph.launch @k(%x) {variants = [16]} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  graph.return %x : tensor<8xf32>
}
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected variants for one size in the order of their bounds, got}}
  graph.launch @k(%x) {variants = [#graph.variant<@k for ()[s0] -> (s0) to 16>,
                                   #graph.variant<@k for ()[s0] -> (s0) to 16>]} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  graph.return %x : tensor<8xf32>
}
func.func @f(%x: tensor<9xf32>) {
  // expected-error @+1 {{expected the types of the kernel 'k'}}
  %0 = graph.launch @k(%x) : (tensor<9xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @f(%x: tensor<3xi64>) {
  // expected-error @+1 {{expected a vector of as many elements as symbols, 2, got 'tensor<3xi64>'}}
  graph.read_sizes %x symbols [0, 1] : tensor<3xi64>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected 2 dims because of the operand's rank, got 1}}
  %0 = graph.broadcast %x dims [1] : tensor<4x768xf32> -> tensor<4x768xf32>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected 'tensor<768x4xf32>' because of the operand and perm, got 'tensor<768x5xf32>'}}
  %0 = graph.transpose %x perm [1, 0] : tensor<4x768xf32> -> tensor<768x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x768xf32>) {
  // expected-error @+1 {{expected 2 permuted dimensions because of the operand's rank, got 1}}
  %0 = graph.transpose %x perm [0] : tensor<4x768xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x128xf32>) {
  // expected-error @+1 {{expected 2 sizes, offsets and strides because of the operand's rank, got 2, 2 and 1}}
  %0 = graph.slice %x offsets affine_map<() -> (0, 64)> strides [1] : tensor<8x128xf32> -> tensor<8x32xf32>
  return
}

// -----

func.func @f(%x: tensor<8x30xf32>) {
  // expected-error @+1 {{expected 2 sizes and low paddings because of the operand's rank, got 2 and 1}}
  %0 = graph.pad %x low [0] fill 0.0 : f32 : tensor<8x30xf32> -> tensor<8x32xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{expected 2 strides, dilations and low paddings because of dims, got 1}}
  %0 = graph.window %x dims [1, 2] strides [1] dilations [1, 1] low [0, 0] fill 0.0 : f32 : tensor<1x8x8x3xf32> -> tensor<1x6x6x3x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{expected 2 (at least one) dimensions more than the operand's 4, got 5}}
  %0 = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [0, 0] fill 0.0 : f32 : tensor<1x8x8x3xf32> -> tensor<1x6x6x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{expected strides and dilations of at least 1}}
  %0 = graph.window %x dims [1, 2] strides [1, 0] dilations [1, 1] low [0, 0] fill 0.0 : f32 : tensor<1x8x8x3xf32> -> tensor<1x6x6x3x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{expected result dimension 5 = 3 because the window does not touch it, got 4}}
  %0 = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [0, 0] fill 0.0 : f32 : tensor<1x8x8x3xf32> -> tensor<1x6x6x3x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<100x64xf32>, %i: tensor<8x64xi64>) {
  // expected-error @+1 {{expected a map of 3 dimensions (the result's, then one an index operand) to 2 coordinates, got affine_map<(d0, d1) -> (d0, d1)>}}
  %0 = graph.gather %x[%i : tensor<8x64xi64>] map affine_map<(d0, d1) -> (d0, d1)> : tensor<100x64xf32> -> tensor<8x64xf32>
  return
}

// -----

// expected-error @+1 {{expected tensors as arguments and results because a launch passes buffers, got 'f32'}}
graph.kernel @k(%x: f32) -> tensor<8xf32> {
  %0 = arith.constant dense<0.0> : tensor<8xf32>
  graph.return %0 : tensor<8xf32>
}

// -----

func.func @f() {
  // expected-error @+1 {{expected expressions of symbols alone because sizes do not depend on coordinates, got affine_map<(d0) -> (d0)>}}
  %0 = graph.dims affine_map<(d0) -> (d0)> : tensor<1xi64>
  return
}

// -----

module attributes {graph.symbols = ["n"]} {
  func.func @f(%x: tensor<1xi64>) {
    // expected-error @+1 {{expected symbols that the module has, got 1}}
    graph.read_sizes %x symbols [1] : tensor<1xi64>
    return
  }
}

// -----

func.func @f() {
  // expected-error @+1 {{expected at least one operand, got none}}
  %0 = "graph.concat"() {axis = 0 : i64} : () -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected an axis below the rank 1, got 1}}
  %0 = graph.concat axis 1 %x, %x : tensor<8xf32>, tensor<8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %y: tensor<8xf16>) {
  // expected-error @+1 {{expected operands of one rank and element type, got operand 1 of another}}
  %0 = graph.concat axis 0 %x, %y : tensor<8xf32>, tensor<8xf16> -> tensor<16xf32>
  return
}

// -----

func.func @f(%a: tensor<8x64xf32>, %b: tensor<64x4xf32>) {
  // expected-error @+1 {{expected operands of i8 because one is said to be unsigned, got 'tensor<8x64xf32>'}}
  %0 = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned}
      : tensor<8x64xf32>, tensor<64x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%a: tensor<8x64xf32>, %b: tensor<64x4xf32>) {
  // expected-error @+1 {{expected three maps (lhs, rhs, result), got 2}}
  %0 = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>]
      : tensor<8x64xf32>, tensor<64x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%a: tensor<8x64xf32>, %b: tensor<64x4xf32>) {
  // expected-error @+1 {{expected projected permutations over one list of loops}}
  %0 = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m + 1, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x64xf32>, tensor<64x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%a: tensor<8x64xf32>, %b: tensor<64x4xf32>) {
  // expected-error @+1 {{expected a map with 2 results because of the operand's rank, got 1}}
  %0 = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x64xf32>, tensor<64x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%a: tensor<8x64xf32>, %b: tensor<64x4xf32>) {
  // expected-error @+1 {{expected every loop of the result in an operand, loop 3 is in none}}
  %0 = graph.contract %a, %b maps [affine_map<(m, n, k, l) -> (m, k)>, affine_map<(m, n, k, l) -> (k, n)>, affine_map<(m, n, k, l) -> (m, l)>]
      : tensor<8x64xf32>, tensor<64x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%a: tensor<8x64xf32>, %b: tensor<64x4xf16>) {
  // expected-error @+1 {{expected operands of one element type}}
  %0 = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x64xf32>, tensor<64x4xf16> -> tensor<8x4xf32>
  return
}

// -----

// expected-error @+1 {{expected graph.guards on a module, a list of [expression, expression, message, relation] each}}
module attributes {graph.guards = ["float32"]} {
}

// -----

// expected-error @+1 {{expected graph.definitions on a module, a list of [symbol, kind, expression, expression] each}}
module attributes {graph.symbols = ["n"], graph.definitions = [[0, "soup", affine_map<() -> (1)>, affine_map<() -> (2)>]]} {
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected graph.symbols on a module, a list of strings, the names of sizes}}
  %y = arith.negf %x {graph.symbols = ["n"]} : tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{expected graph.repeated on a module, without a value}}
module attributes {graph.repeated = 1 : i64} {
}

// -----

func.func @f(%x: tensor<8x30xf32>) {
  // expected-error @+1 {{expected the operand's type 'tensor<8x30xf32>', got 'tensor<8x32xf32>'}}
  %0 = graph.roll %x offsets affine_map<() -> (0, 3)> : tensor<8x30xf32> -> tensor<8x32xf32>
  return
}

// -----

func.func @f(%x: tensor<8x30xf32>) {
  // expected-error @+1 {{expected 2 offsets because of the operand's rank, got affine_map<() -> (3)>}}
  %0 = graph.roll %x offsets affine_map<() -> (3)> : tensor<8x30xf32> -> tensor<8x30xf32>
  return
}

// -----

func.func @f(%x: tensor<8x30xf32>) {
  // expected-error @+1 {{expected an offset within dimension 1, got 31}}
  %0 = graph.roll %x offsets affine_map<() -> (0, 31)> : tensor<8x30xf32> -> tensor<8x30xf32>
  return
}

// -----

// expected-error@+1 {{expected one number of steps, in symbols alone, got #graph.steps<count = (d0) -> (d0)}}
graph.kernel @step(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    attributes {steps = #graph.steps<count = (d0) -> (d0), carried = [0], forward = [1], backward = [], backward_results = []>} {
  %y = arith.addf %h, %x : tensor<2x64xf32>
  graph.return %y, %y : tensor<2x64xf32>, tensor<2x64xf32>
}

// -----

// expected-error@+1 {{expected arguments of the kernel in its steps, each once, got 0}}
graph.kernel @step(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    attributes {steps = #graph.steps<count = () -> (9), carried = [0], forward = [0], backward = [], backward_results = []>} {
  %y = arith.addf %h, %x : tensor<2x64xf32>
  graph.return %y, %y : tensor<2x64xf32>, tensor<2x64xf32>
}

// -----

// expected-error@+1 {{expected results behind the carried ones to be collected backward, got 0}}
graph.kernel @step(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    attributes {steps = #graph.steps<count = () -> (9), carried = [0], forward = [1], backward = [], backward_results = [0]>} {
  %y = arith.addf %h, %x : tensor<2x64xf32>
  graph.return %y, %y : tensor<2x64xf32>, tensor<2x64xf32>
}

// -----

// expected-error@+1 {{expected result 0 of the type of argument 0, which takes it in the next step}}
graph.kernel @step(%h: tensor<2x64xf32>) -> tensor<128xf32>
    attributes {steps = #graph.steps<count = () -> (9), carried = [0], forward = [], backward = [], backward_results = []>} {
  %y = graph.reshape %h : tensor<2x64xf32> -> tensor<128xf32>
  graph.return %y : tensor<128xf32>
}
