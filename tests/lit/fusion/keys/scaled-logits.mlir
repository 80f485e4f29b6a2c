// A scale moves behind the mask that follows it, which is divided by it instead. Sizes are known only when running, so
// both numbers are broadcast: a constant of unknown sizes would be printed, but could not be read again.
// RUN: tilewright-opt %s --tilewright-group-form-groups='mode=all attention=all' | tilewright-opt | FileCheck %s

// CHECK-LABEL: graph.kernel
// CHECK: %[[S:.*]] = graph.contract %arg0, %arg1
// CHECK: arith.constant dense<8.000000e+00> : tensor<f32>
// CHECK: %[[INVERSE:.*]] = graph.broadcast
// CHECK: %[[MASK:.*]] = arith.mulf %{{.*}}, %[[INVERSE]]
// CHECK: %[[X:.*]] = arith.addf %[[S]], %[[MASK]]
// CHECK: arith.constant dense<1.250000e-01> : tensor<f32>
// CHECK: %[[SCALE:.*]] = graph.broadcast
// CHECK: arith.mulf %[[X]], %[[SCALE]]
#in = affine_map<()[s0] -> (s0, 64)>
#scores = affine_map<()[s0] -> (s0, s0)>
#row = affine_map<()[s0] -> (s0)>
module attributes {graph.nodes = ["a|Attention"], graph.symbols = ["seq"]} {
  func.func @main(%q: tensor<?x64xf16, #in>, %k: tensor<?x64xf16, #in>, %v: tensor<?x64xf16, #in>, %mask: tensor<?x?xf16, #scores>) -> tensor<?x64xf32, #in> {
    %s = graph.contract %q, %k maps [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<?x64xf16, #in>, tensor<?x64xf16, #in> -> tensor<?x?xf32, #scores>
    %c = arith.constant dense<0.125> : tensor<f32>
    %cb = graph.broadcast %c dims [] {graph.node = 0 : i64} : tensor<f32> -> tensor<?x?xf32, #scores>
    %scaled = arith.mulf %s, %cb {graph.node = 0 : i64} : tensor<?x?xf32, #scores>
    %wide = arith.extf %mask {graph.node = 0 : i64} : tensor<?x?xf16, #scores> to tensor<?x?xf32, #scores>
    %x = arith.addf %scaled, %wide {graph.node = 0 : i64} : tensor<?x?xf32, #scores>
    %m = graph.reduce <max> %x axes [1] {graph.node = 0 : i64} : tensor<?x?xf32, #scores> -> tensor<?xf32, #row>
    %mb = graph.broadcast %m dims [0] {graph.node = 0 : i64} : tensor<?xf32, #row> -> tensor<?x?xf32, #scores>
    %d = arith.subf %x, %mb {graph.node = 0 : i64} : tensor<?x?xf32, #scores>
    %e = math.exp %d {graph.node = 0 : i64} : tensor<?x?xf32, #scores>
    %t = graph.reduce <sum> %e axes [1] {graph.node = 0 : i64} : tensor<?x?xf32, #scores> -> tensor<?xf32, #row>
    %tb = graph.broadcast %t dims [0] {graph.node = 0 : i64} : tensor<?xf32, #row> -> tensor<?x?xf32, #scores>
    %p = arith.divf %e, %tb {graph.node = 0 : i64} : tensor<?x?xf32, #scores>
    %h = arith.truncf %p {graph.node = 0 : i64} : tensor<?x?xf32, #scores> to tensor<?x?xf16, #scores>
    %o = graph.contract %h, %v maps [affine_map<(m, e, n) -> (m, n)>, affine_map<(m, e, n) -> (n, e)>, affine_map<(m, e, n) -> (m, e)>] {graph.node = 0 : i64}
        : tensor<?x?xf16, #scores>, tensor<?x64xf16, #in> -> tensor<?x64xf32, #in>
    return %o : tensor<?x64xf32, #in>
  }
}
