// Weights of four bits are computed in registers, eight steps of k together: each byte is widened once for the two steps that share it, a scale is
// read once for all, and what the model rounds to half is multiplied as it was computed.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4},tilewright-tile-emit{target=x86-64-v4})" -o %t.mlir
// RUN: tilewright-opt %t.mlir --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s

// CHECK-LABEL: half_rows:
// CHECK-NOT: vcvtps2ph
// CHECK: vpsrld $4
// CHECK-NOT: vcvtps2ph
// CHECK: vfmadd
// CHECK-NOT: vcvtps2ph
// CHECK-NOT: vgather
// CHECK-NOT: vdiv
// CHECK: retq
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
