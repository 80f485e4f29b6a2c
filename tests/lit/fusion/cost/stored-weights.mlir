// Weights that are stored in few bytes are computed where they are multiplied: always on a CPU, for few rows or an unknown number on a GPU.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all cpu explain=text' -o /dev/null | FileCheck %s --check-prefixes=CHECK,CPU

// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["weights|DequantizeLinear", "product|MatMul"], graph.symbols = ["rows"]} {
  func.func @main(%x: tensor<128x4096xf16>) -> tensor<128x64xf32> {
    %b = graph.constant "00000000000000000000000000000001" : tensor<4096x64xi8>
    %s = graph.constant "00000000000000000000000000000002" : tensor<64xf32>
    %q = arith.sitofp %b {graph.node = 0 : i64} : tensor<4096x64xi8> to tensor<4096x64xf32>
    %sb = graph.broadcast %s dims [1] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<4096x64xf32>
    %w = arith.mulf %q, %sb {graph.node = 0 : i64} : tensor<4096x64xf32>
    %h = arith.truncf %w {graph.node = 0 : i64} : tensor<4096x64xf32> to tensor<4096x64xf16>
    %c = graph.contract %x, %h maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64} : tensor<128x4096xf16>, tensor<4096x64xf16> -> tensor<128x64xf32>
    return %c : tensor<128x64xf32>
  }
}

// -----

// GPU: fusion all: 2 launches
// GPU: weights is not fused with product because work would be repeated for every use of its result
// CPU: fusion all: 1 launches
module attributes {graph.nodes = ["weights|DequantizeLinear", "product|MatMul"], graph.symbols = ["rows"]} {
  func.func @main(%x: tensor<129x4096xf16>) -> tensor<129x64xf32> {
    %b = graph.constant "00000000000000000000000000000001" : tensor<4096x64xi8>
    %s = graph.constant "00000000000000000000000000000002" : tensor<64xf32>
    %q = arith.sitofp %b {graph.node = 0 : i64} : tensor<4096x64xi8> to tensor<4096x64xf32>
    %sb = graph.broadcast %s dims [1] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<4096x64xf32>
    %w = arith.mulf %q, %sb {graph.node = 0 : i64} : tensor<4096x64xf32>
    %h = arith.truncf %w {graph.node = 0 : i64} : tensor<4096x64xf32> to tensor<4096x64xf16>
    %c = graph.contract %x, %h maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64} : tensor<129x4096xf16>, tensor<4096x64xf16> -> tensor<129x64xf32>
    return %c : tensor<129x64xf32>
  }
}

// -----

// GPU: fusion all: 2 launches
// CPU: fusion all: 1 launches
module attributes {graph.nodes = ["weights|DequantizeLinear", "product|MatMul"], graph.symbols = ["rows"]} {
  func.func @main(%x: tensor<65x4096xf32>) -> tensor<65x64xf32> {
    %b = graph.constant "00000000000000000000000000000001" : tensor<4096x64xi8>
    %s = graph.constant "00000000000000000000000000000002" : tensor<64xf32>
    %q = arith.sitofp %b {graph.node = 0 : i64} : tensor<4096x64xi8> to tensor<4096x64xf32>
    %sb = graph.broadcast %s dims [1] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<4096x64xf32>
    %w = arith.mulf %q, %sb {graph.node = 0 : i64} : tensor<4096x64xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64} : tensor<65x4096xf32>, tensor<4096x64xf32> -> tensor<65x64xf32>
    return %c : tensor<65x64xf32>
  }
}

// -----

// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["weights|DequantizeLinear", "product|MatMul"], graph.symbols = ["rows"]} {
  func.func @main(%x: tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>) -> tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>> {
    %b = graph.constant "00000000000000000000000000000001" : tensor<4096x64xi8>
    %s = graph.constant "00000000000000000000000000000002" : tensor<64xf32>
    %q = arith.sitofp %b {graph.node = 0 : i64} : tensor<4096x64xi8> to tensor<4096x64xf32>
    %sb = graph.broadcast %s dims [1] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<4096x64xf32>
    %w = arith.mulf %q, %sb {graph.node = 0 : i64} : tensor<4096x64xf32>
    %h = arith.truncf %w {graph.node = 0 : i64} : tensor<4096x64xf32> to tensor<4096x64xf16>
    %c = graph.contract %x, %h maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64} : tensor<?x4096xf16, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x64xf16> -> tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
    return %c : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
  }
}

// -----

// Weights that take as many bytes as they are multiplied in gain nothing.
// CHECK: fusion all: 2 launches
// CHECK: scale is not fused with product because work would be repeated for every use of its result
module attributes {graph.nodes = ["scale|Mul", "product|MatMul"]} {
  func.func @main(%x: tensor<1x4096xf32>) -> tensor<1x64xf32> {
    %b = graph.constant "00000000000000000000000000000001" : tensor<4096x64xf32>
    %s = graph.constant "00000000000000000000000000000002" : tensor<64xf32>
    %sb = graph.broadcast %s dims [1] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<4096x64xf32>
    %w = arith.mulf %b, %sb {graph.node = 0 : i64} : tensor<4096x64xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64} : tensor<1x4096xf32>, tensor<4096x64xf32> -> tensor<1x64xf32>
    return %c : tensor<1x64xf32>
  }
}

// -----

// How far bytes are shifted is the same for two products: each computes it, rather than that both weights are computed together.
// CHECK: fusion all: 2 launches
// CHECK-NOT: pointwise
module attributes {graph.nodes = ["first|MatMulNBits", "second|MatMulNBits"]} {
  func.func @main(%x: tensor<1x4096xf32>, %z: tensor<1x4096xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
    %b = graph.constant "00000000000000000000000000000001" : tensor<2048x64xi8>
    %d = graph.constant "00000000000000000000000000000002" : tensor<2048x64xi8>
    %at = graph.iota dim 1 {graph.node = 0 : i64} : tensor<2048x2x64xi32>
    %four = arith.constant dense<4> : tensor<2048x2x64xi32>
    %mask = arith.constant dense<15> : tensor<2048x2x64xi32>
    %by = arith.muli %at, %four {graph.node = 0 : i64} : tensor<2048x2x64xi32>
    %bw = arith.extui %b {graph.node = 0 : i64} : tensor<2048x64xi8> to tensor<2048x64xi32>
    %bb = graph.broadcast %bw dims [0, 2] {graph.node = 0 : i64} : tensor<2048x64xi32> -> tensor<2048x2x64xi32>
    %bs = arith.shrui %bb, %by {graph.node = 0 : i64} : tensor<2048x2x64xi32>
    %bn = arith.andi %bs, %mask {graph.node = 0 : i64} : tensor<2048x2x64xi32>
    %bf = arith.sitofp %bn {graph.node = 0 : i64} : tensor<2048x2x64xi32> to tensor<2048x2x64xf32>
    %w = graph.reshape %bf {graph.node = 0 : i64} : tensor<2048x2x64xf32> -> tensor<4096x64xf32>
    %y = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64} : tensor<1x4096xf32>, tensor<4096x64xf32> -> tensor<1x64xf32>
    %dw = arith.extui %d {graph.node = 1 : i64} : tensor<2048x64xi8> to tensor<2048x64xi32>
    %db = graph.broadcast %dw dims [0, 2] {graph.node = 1 : i64} : tensor<2048x64xi32> -> tensor<2048x2x64xi32>
    %ds = arith.shrui %db, %by {graph.node = 1 : i64} : tensor<2048x2x64xi32>
    %dn = arith.andi %ds, %mask {graph.node = 1 : i64} : tensor<2048x2x64xi32>
    %df = arith.sitofp %dn {graph.node = 1 : i64} : tensor<2048x2x64xi32> to tensor<2048x2x64xf32>
    %v = graph.reshape %df {graph.node = 1 : i64} : tensor<2048x2x64xf32> -> tensor<4096x64xf32>
    %u = graph.contract %z, %v maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64} : tensor<1x4096xf32>, tensor<4096x64xf32> -> tensor<1x64xf32>
    return %y, %u : tensor<1x64xf32>, tensor<1x64xf32>
  }
}
