// Bytes become halves four at a time without an instruction that converts, and halves are subtracted and multiplied two at a time; a thread loads
// each byte once for its two steps of k.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a},tilewright-place-tiles{target=sm_90a})" -o %t.mlir
// RUN: tilewright-opt %t.mlir --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry half_rows(
// CHECK-NOT: cvt.rn.f{{16|32}}.{{[su]}}
// CHECK: prmt.b32
// CHECK-NOT: cvt.rn.f{{16|32}}.{{[su]}}
// CHECK: sub.f16x2
// CHECK: mul.f16x2
// CHECK-NOT: cvt.rn.f{{16|32}}.{{[su]}}
// CHECK: mma
module attributes {graph.nodes = []} {
  graph.kernel @half_rows(%x: tensor<9x64xf16>, %b: tensor<32x72xi8> {graph.constant}, %z: tensor<4x72xi8> {graph.constant}, %s: tensor<4x72xf16> {graph.constant}) -> tensor<9x72xf32> {
    %words = arith.extui %b : tensor<32x72xi8> to tensor<32x72xi32>
    %both = graph.broadcast %words dims [0, 2] : tensor<32x72xi32> -> tensor<32x2x72xi32>
    %at = graph.iota dim 1 : tensor<32x2x72xi32>
    %four = arith.constant dense<4> : tensor<32x2x72xi32>
    %by = arith.muli %at, %four : tensor<32x2x72xi32>
    %shifted = arith.shrui %both, %by : tensor<32x2x72xi32>
    %mask = arith.constant dense<15> : tensor<32x2x72xi32>
    %n = arith.andi %shifted, %mask : tensor<32x2x72xi32>
    %q = arith.sitofp %n : tensor<32x2x72xi32> to tensor<32x2x72xf32>
    %blocks = graph.reshape %q : tensor<32x2x72xf32> -> tensor<4x16x72xf32>
    %zf = arith.uitofp %z : tensor<4x72xi8> to tensor<4x72xf32>
    %zb = graph.broadcast %zf dims [0, 2] : tensor<4x72xf32> -> tensor<4x16x72xf32>
    %centered = arith.subf %blocks, %zb : tensor<4x16x72xf32>
    %wide = arith.extf %s : tensor<4x72xf16> to tensor<4x72xf32>
    %sb = graph.broadcast %wide dims [0, 2] : tensor<4x72xf32> -> tensor<4x16x72xf32>
    %scaled = arith.mulf %centered, %sb : tensor<4x16x72xf32>
    %w = graph.reshape %scaled : tensor<4x16x72xf32> -> tensor<64x72xf32>
    %h = arith.truncf %w : tensor<64x72xf32> to tensor<64x72xf16>
    %c = graph.contract %x, %h maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<9x64xf16>, tensor<64x72xf16> -> tensor<9x72xf32>
    graph.return %c : tensor<9x72xf32>
  }
}
