// One token after 512 others, without roles: 32 programs of one warp each, whose steps take as long as the warp computes. So
// three programs have a part of the keys each, though the keys of all are only 4 MB.
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_90a | FileCheck %s
// CHECK: schedule = #tile.schedule<attention, tile = [1, 16, 64], reduce = [64, 64], stages = 3, parts = 3>
graph.kernel @one(%q: tensor<32x1x64xf16>, %k: tensor<32x513x64xf16>, %v: tensor<32x513x64xf16>) -> tensor<32x1x64xf16> attributes {root = #graph.root<attention>} {
  %s = graph.contract %q, %k maps [affine_map<(h, m, n, d) -> (h, m, d)>, affine_map<(h, m, n, d) -> (h, n, d)>, affine_map<(h, m, n, d) -> (h, m, n)>]
      : tensor<32x1x64xf16>, tensor<32x513x64xf16> -> tensor<32x1x513xf32>
  %m = graph.reduce <max> %s axes [2] : tensor<32x1x513xf32> -> tensor<32x1xf32>
  %mb = graph.broadcast %m dims [0, 1] : tensor<32x1xf32> -> tensor<32x1x513xf32>
  %d = arith.subf %s, %mb : tensor<32x1x513xf32>
  %e = math.exp %d : tensor<32x1x513xf32>
  %t = graph.reduce <sum> %e axes [2] : tensor<32x1x513xf32> -> tensor<32x1xf32>
  %tb = graph.broadcast %t dims [0, 1] : tensor<32x1xf32> -> tensor<32x1x513xf32>
  %p = arith.divf %e, %tb : tensor<32x1x513xf32>
  %w = arith.truncf %p : tensor<32x1x513xf32> to tensor<32x1x513xf16>
  %y = graph.contract %w, %v maps [affine_map<(h, m, d, n) -> (h, m, n)>, affine_map<(h, m, d, n) -> (h, n, d)>, affine_map<(h, m, d, n) -> (h, m, d)>]
      : tensor<32x1x513xf16>, tensor<32x513x64xf16> -> tensor<32x1x64xf32>
  %h = arith.truncf %y : tensor<32x1x64xf32> to tensor<32x1x64xf16>
  graph.return %h : tensor<32x1x64xf16>
}
