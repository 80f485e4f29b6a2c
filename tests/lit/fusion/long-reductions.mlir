// A reduction with few results is cut into parts, which many programs or short chains of additions compute.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all' | FileCheck %s --check-prefix=GPU
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=none cpu=true' | FileCheck %s --check-prefix=CPU

// Columns: parts of 4,000, which on a GPU the threads of a program share, and on a CPU are chains of additions.
// GPU-LABEL: module
// GPU: graph.reduce <sum> {{.*}} axes [2, 3] : tensor<1x160x5x800x16xf32> -> tensor<1x160x16xf32>
// GPU: graph.reduce <sum> {{.*}} axes [1] : tensor<1x160x16xf32> -> tensor<1x16xf32>
// CPU-LABEL: module
// CPU: graph.reduce <sum> {{.*}} axes [2, 3] : tensor<1x160x5x800x16xf32> -> tensor<1x160x16xf32>
// CPU: graph.reduce <sum> {{.*}} axes [1] : tensor<1x160x16xf32> -> tensor<1x16xf32>
// CPU-NOT: graph.reduce
module {
  func.func @main(%x: tensor<1x800x800x16xf32>) -> tensor<1x16xf32> {
    %s = graph.reduce <sum> %x axes [1, 2] : tensor<1x800x800x16xf32> -> tensor<1x16xf32>
    return %s : tensor<1x16xf32>
  }
}

// -----

// Rows: a GPU has work for 128 programs instead of one; a core adds 16 lanes side by side.
// GPU-LABEL: module
// GPU: graph.reduce <max> {{.*}} axes [2] : tensor<1x8x8192xf32> -> tensor<1x8xf32>
// GPU: graph.reduce <max> {{.*}} axes [1] : tensor<1x8xf32> -> tensor<1xf32>
// CPU-LABEL: module
// CPU: graph.reduce <max> {{.*}} axes [1] : tensor<1x65536xf32> -> tensor<1xf32>
module {
  func.func @main(%x: tensor<1x65536xf32>) -> tensor<1xf32> {
    %s = graph.reduce <max> %x axes [1] : tensor<1x65536xf32> -> tensor<1xf32>
    return %s : tensor<1xf32>
  }
}

// -----

// Enough results, a length that only running tells, and one that has no divisor: whole.
// GPU-LABEL: module
// GPU: axes [0] : tensor<1024x65536xf32> -> tensor<65536xf32>
// GPU: axes [0] : tensor<?x16xf32, {{.*}}> -> tensor<16xf32>
// GPU: axes [0] : tensor<1031x16xf32> -> tensor<16xf32>
// CPU-LABEL: module
// CPU: axes [0] : tensor<1024x65536xf32> -> tensor<65536xf32>
// CPU: axes [0] : tensor<?x16xf32, {{.*}}> -> tensor<16xf32>
// CPU: axes [0] : tensor<1031x16xf32> -> tensor<16xf32>
#n = affine_map<()[s0] -> (s0, 16)>
module attributes {graph.symbols = ["n"]} {
  func.func @main(%wide: tensor<1024x65536xf32>, %open: tensor<?x16xf32, #n>, %prime: tensor<1031x16xf32>)
      -> (tensor<65536xf32>, tensor<16xf32>, tensor<16xf32>) {
    %a = graph.reduce <sum> %wide axes [0] : tensor<1024x65536xf32> -> tensor<65536xf32>
    %b = graph.reduce <sum> %open axes [0] : tensor<?x16xf32, #n> -> tensor<16xf32>
    %c = graph.reduce <sum> %prime axes [0] : tensor<1031x16xf32> -> tensor<16xf32>
    return %a, %b, %c : tensor<65536xf32>, tensor<16xf32>, tensor<16xf32>
  }
}

// -----

// A softmax over the keys of an attention stays whole: it may become one kernel with the contractions.
// GPU-LABEL: module
// GPU: graph.reduce <max> {{.*}} axes [1] : tensor<1x65536xf32> -> tensor<1xf32>
// CPU-LABEL: module
// CPU: graph.reduce <max> {{.*}} axes [1] : tensor<1x65536xf32> -> tensor<1xf32>
module {
  func.func @main(%q: tensor<1x64xf32>, %k: tensor<65536x64xf32>) -> tensor<1xf32> {
    %s = graph.contract %q, %k maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<1x64xf32>, tensor<65536x64xf32> -> tensor<1x65536xf32>
    %m = graph.reduce <max> %s axes [1] : tensor<1x65536xf32> -> tensor<1xf32>
    return %m : tensor<1xf32>
  }
}

// -----

// The mean of a convolution's or product's result is no softmax: it is split.
// GPU-LABEL: module
// GPU: graph.reduce <sum> {{.*}} axes [2] : tensor<2x8x8192xf32> -> tensor<2x8xf32>
// GPU: graph.reduce <sum> {{.*}} axes [1] : tensor<2x8xf32> -> tensor<2xf32>
// CPU-LABEL: module
// CPU: graph.reduce <sum> {{.*}} axes [1] : tensor<2x65536xf32> -> tensor<2xf32>
module {
  func.func @main(%x: tensor<1024x64xf32>, %w: tensor<64x128xf32>) -> tensor<2xf32> {
    %s = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<1024x64xf32>, tensor<64x128xf32> -> tensor<1024x128xf32>
    %r = graph.reshape %s : tensor<1024x128xf32> -> tensor<2x65536xf32>
    %m = graph.reduce <sum> %r axes [1] : tensor<2x65536xf32> -> tensor<2xf32>
    return %m : tensor<2xf32>
  }
}

// -----

// A norm whose sums are split: the kernels that sum the squares and that divide subtract the mean themselves. Of rows that one
// kernel sums, no operation is repeated.
// GPU-LABEL: module
// GPU: graph.launch @instancenormalization(
// GPU-NEXT: graph.launch @[[MEAN:[a-z_0-9]+]](
// GPU-NEXT: graph.launch @[[SQUARES:[a-z_0-9]+]](%arg0,
// GPU-NEXT: graph.launch @[[VARIANCE:[a-z_0-9]+]](
// GPU-NEXT: graph.launch @[[LAST:[a-z_0-9]+]](
// GPU: graph.kernel @[[SQUARES]](
// GPU: arith.subf
// GPU-NEXT: arith.mulf
// GPU: graph.kernel @[[LAST]](
// GPU: arith.subf
// GPU-LABEL: module
// GPU: graph.launch @instancenormalization(
// GPU-NOT: graph.launch
// GPU: arith.subf
// GPU-NOT: arith.subf
// CPU-LABEL: module
module attributes {graph.nodes = ["norm|InstanceNormalization"]} {
  func.func @main(%x: tensor<4x65536xf16>) -> tensor<4x65536xf32> {
    %f = arith.extf %x {graph.node = 0 : i64} : tensor<4x65536xf16> to tensor<4x65536xf32>
    %s = graph.reduce <sum> %f axes [1] {graph.node = 0 : i64} : tensor<4x65536xf32> -> tensor<4xf32>
    %n = arith.constant dense<1.52587891e-05> : tensor<4xf32>
    %m = arith.mulf %s, %n {graph.node = 0 : i64} : tensor<4xf32>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x65536xf32>
    %c = arith.subf %f, %mb {graph.node = 0 : i64} : tensor<4x65536xf32>
    %q = arith.mulf %c, %c {graph.node = 0 : i64} : tensor<4x65536xf32>
    %v = graph.reduce <sum> %q axes [1] {graph.node = 0 : i64} : tensor<4x65536xf32> -> tensor<4xf32>
    %d = arith.mulf %v, %n {graph.node = 0 : i64} : tensor<4xf32>
    %vb = graph.broadcast %d dims [0] {graph.node = 0 : i64} : tensor<4xf32> -> tensor<4x65536xf32>
    %y = arith.divf %c, %vb {graph.node = 0 : i64} : tensor<4x65536xf32>
    return %y : tensor<4x65536xf32>
  }
}

// -----

module attributes {graph.nodes = ["norm|InstanceNormalization"]} {
  func.func @main(%x: tensor<512x1024xf16>) -> tensor<512x1024xf32> {
    %f = arith.extf %x {graph.node = 0 : i64} : tensor<512x1024xf16> to tensor<512x1024xf32>
    %s = graph.reduce <sum> %f axes [1] {graph.node = 0 : i64} : tensor<512x1024xf32> -> tensor<512xf32>
    %mb = graph.broadcast %s dims [0] {graph.node = 0 : i64} : tensor<512xf32> -> tensor<512x1024xf32>
    %c = arith.subf %f, %mb {graph.node = 0 : i64} : tensor<512x1024xf32>
    %q = arith.mulf %c, %c {graph.node = 0 : i64} : tensor<512x1024xf32>
    %v = graph.reduce <sum> %q axes [1] {graph.node = 0 : i64} : tensor<512x1024xf32> -> tensor<512xf32>
    %vb = graph.broadcast %v dims [0] {graph.node = 0 : i64} : tensor<512xf32> -> tensor<512x1024xf32>
    %y = arith.divf %c, %vb {graph.node = 0 : i64} : tensor<512x1024xf32>
    return %y : tensor<512x1024xf32>
  }
}

// -----

// Rows whose innermost dimensions are short fill a program's threads together, as those of a filter [channels, 3, 3] do; so do no 3x3 elements alone.
// GPU-LABEL: module
// GPU: graph.reduce <sum> {{.*}} axes [1, 2, 3] : tensor<2048x512x3x3xf32> -> tensor<2048xf32>
// GPU: axes [2, 4, 5] : tensor<32x4x512x4x3x3xf32> -> tensor<32x4x4xf32>
module {
  func.func @main(%x: tensor<2048x512x3x3xf32>, %y: tensor<32x2048x4x3x3xf32>) -> (tensor<2048xf32>, tensor<32x4xf32>) {
    %s = graph.reduce <sum> %x axes [1, 2, 3] : tensor<2048x512x3x3xf32> -> tensor<2048xf32>
    %t = graph.reduce <sum> %y axes [1, 3, 4] : tensor<32x2048x4x3x3xf32> -> tensor<32x4xf32>
    return %s, %t : tensor<2048xf32>, tensor<32x4xf32>
  }
}

// -----

// 64 long rows are split where they are summed, but not where they may be of a softmax. More rows, and a
// shorter one, stay whole.
// GPU-LABEL: module
// GPU: graph.reduce <sum> {{.*}} axes [2] : tensor<64x16x8192xf32> -> tensor<64x16xf32>
// GPU: graph.reduce <sum> {{.*}} axes [1] : tensor<64x16xf32> -> tensor<64xf32>
// GPU: graph.reduce <max> {{.*}} axes [1] : tensor<64x131072xf32> -> tensor<64xf32>
// GPU: graph.reduce <sum> {{.*}} axes [1] : tensor<64x131072xf32> -> tensor<64xf32>
// GPU: graph.reduce <sum> {{.*}} axes [1] : tensor<65x131072xf32> -> tensor<65xf32>
// GPU: graph.reduce <sum> {{.*}} axes [1] : tensor<1x32768xf32> -> tensor<1xf32>
module {
  func.func @main(%x: tensor<64x131072xf32>, %y: tensor<65x131072xf32>, %z: tensor<1x32768xf32>)
      -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<65xf32>, tensor<1xf32>) {
    %a = graph.reduce <sum> %x axes [1] : tensor<64x131072xf32> -> tensor<64xf32>
    %b = graph.reduce <max> %x axes [1] : tensor<64x131072xf32> -> tensor<64xf32>
    %e = math.exp %x : tensor<64x131072xf32>
    %c = graph.reduce <sum> %e axes [1] : tensor<64x131072xf32> -> tensor<64xf32>
    %d = graph.reduce <sum> %y axes [1] : tensor<65x131072xf32> -> tensor<65xf32>
    %s = graph.reduce <sum> %z axes [1] : tensor<1x32768xf32> -> tensor<1xf32>
    return %a, %b, %c, %d, %s : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<65xf32>, tensor<1xf32>
  }
}
