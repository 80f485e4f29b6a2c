// Attentions as exporters write them, whose operands the copy engine can bring.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a},tilewright-place-tiles{target=sm_90a})" | FileCheck %s

module attributes {graph.nodes = ["a|Attention"]} {
  // Queries, keys and values are slices of one product's columns, heads side by side; so is the result.
  // CHECK-LABEL: tile.kernel @joined
  // CHECK-COUNT-3: tile.tensor_map %arg0 start () -> ({{0|768|1536}}) sizes () -> (64, 256, {{.*}}) strides () -> (1, 2304, {{.*}})
  // CHECK: tile.roles
  // CHECK-NOT: tile.shared_write
  // CHECK-COUNT-3: tile.bulk_copy
  graph.kernel @joined(%x: tensor<2x256x2304xf16>) -> tensor<2x256x768xf16> attributes {root = #graph.root<attention>} {
    %qs = graph.slice %x offsets affine_map<() -> (0, 0, 0)> strides [1, 1, 1] : tensor<2x256x2304xf16> -> tensor<2x256x768xf16>
    %q = graph.reshape %qs : tensor<2x256x768xf16> -> tensor<2x256x12x64xf16>
    %ks = graph.slice %x offsets affine_map<() -> (0, 0, 768)> strides [1, 1, 1] : tensor<2x256x2304xf16> -> tensor<2x256x768xf16>
    %k = graph.reshape %ks : tensor<2x256x768xf16> -> tensor<2x256x12x64xf16>
    %vs = graph.slice %x offsets affine_map<() -> (0, 0, 1536)> strides [1, 1, 1] : tensor<2x256x2304xf16> -> tensor<2x256x768xf16>
    %v = graph.reshape %vs : tensor<2x256x768xf16> -> tensor<2x256x12x64xf16>
    %s = graph.contract %q, %k maps [affine_map<(b, h, m, n, d) -> (b, m, h, d)>, affine_map<(b, h, m, n, d) -> (b, n, h, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<2x256x12x64xf16>, tensor<2x256x12x64xf16> -> tensor<2x12x256x256xf32>
    %m = graph.reduce <max> %s axes [3] : tensor<2x12x256x256xf32> -> tensor<2x12x256xf32>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<2x12x256xf32> -> tensor<2x12x256x256xf32>
    %d = arith.subf %s, %mb : tensor<2x12x256x256xf32>
    %e = math.exp %d : tensor<2x12x256x256xf32>
    %t = graph.reduce <sum> %e axes [3] : tensor<2x12x256x256xf32> -> tensor<2x12x256xf32>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<2x12x256xf32> -> tensor<2x12x256x256xf32>
    %p = arith.divf %e, %tb : tensor<2x12x256x256xf32>
    %h = arith.truncf %p : tensor<2x12x256x256xf32> to tensor<2x12x256x256xf16>
    %o = graph.contract %h, %v maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, n, h, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
        : tensor<2x12x256x256xf16>, tensor<2x256x12x64xf16> -> tensor<2x12x256x64xf32>
    %oh = arith.truncf %o : tensor<2x12x256x64xf32> to tensor<2x12x256x64xf16>
    %ot = graph.transpose %oh perm [0, 2, 1, 3] : tensor<2x12x256x64xf16> -> tensor<2x256x12x64xf16>
    %or = graph.reshape %ot : tensor<2x256x12x64xf16> -> tensor<2x256x768xf16>
    graph.return %or : tensor<2x256x768xf16>
  }

  // Four query heads on each head of keys and values, which come from caches.
  // CHECK-LABEL: tile.kernel @grouped
  // CHECK: tile.roles
  // CHECK-NOT: tile.shared_write
  // CHECK-COUNT-3: tile.bulk_copy
  graph.kernel @grouped(%q: tensor<8x4x256x128xf16>, %k: tensor<8x512x128xf16>, %v: tensor<8x512x128xf16>) -> tensor<8x4x256x128xf32> attributes {root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(h, g, m, n, d) -> (h, g, m, d)>, affine_map<(h, g, m, n, d) -> (h, n, d)>, affine_map<(h, g, m, n, d) -> (h, g, m, n)>]
        : tensor<8x4x256x128xf16>, tensor<8x512x128xf16> -> tensor<8x4x256x512xf32>
    %m = graph.reduce <max> %s axes [3] : tensor<8x4x256x512xf32> -> tensor<8x4x256xf32>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<8x4x256xf32> -> tensor<8x4x256x512xf32>
    %d = arith.subf %s, %mb : tensor<8x4x256x512xf32>
    %e = math.exp %d : tensor<8x4x256x512xf32>
    %t = graph.reduce <sum> %e axes [3] : tensor<8x4x256x512xf32> -> tensor<8x4x256xf32>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<8x4x256xf32> -> tensor<8x4x256x512xf32>
    %p = arith.divf %e, %tb : tensor<8x4x256x512xf32>
    %h = arith.truncf %p : tensor<8x4x256x512xf32> to tensor<8x4x256x512xf16>
    %o = graph.contract %h, %v maps [affine_map<(h, g, m, e, n) -> (h, g, m, n)>, affine_map<(h, g, m, e, n) -> (h, n, e)>, affine_map<(h, g, m, e, n) -> (h, g, m, e)>]
        : tensor<8x4x256x512xf16>, tensor<8x512x128xf16> -> tensor<8x4x256x128xf32>
    graph.return %o : tensor<8x4x256x128xf32>
  }

  // Keys that lie transposed in memory: their rows run across the head.
  // CHECK-LABEL: tile.kernel @transposed
  // CHECK: tile.shared_alloc {{.*}} : <tensor<1x64x128xf16>, fast = 2, slots = 3>
  // CHECK: tile.roles
  graph.kernel @transposed(%q: tensor<12x256x64xf16>, %k: tensor<12x64x512xf16>, %v: tensor<12x512x64xf16>) -> tensor<12x256x64xf32> attributes {root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(h, m, n, d) -> (h, m, d)>, affine_map<(h, m, n, d) -> (h, d, n)>, affine_map<(h, m, n, d) -> (h, m, n)>]
        : tensor<12x256x64xf16>, tensor<12x64x512xf16> -> tensor<12x256x512xf32>
    %m = graph.reduce <max> %s axes [2] : tensor<12x256x512xf32> -> tensor<12x256xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<12x256xf32> -> tensor<12x256x512xf32>
    %d = arith.subf %s, %mb : tensor<12x256x512xf32>
    %e = math.exp %d : tensor<12x256x512xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<12x256x512xf32> -> tensor<12x256xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<12x256xf32> -> tensor<12x256x512xf32>
    %p = arith.divf %e, %tb : tensor<12x256x512xf32>
    %h = arith.truncf %p : tensor<12x256x512xf32> to tensor<12x256x512xf16>
    %o = graph.contract %h, %v maps [affine_map<(h, m, e, n) -> (h, m, n)>, affine_map<(h, m, e, n) -> (h, n, e)>, affine_map<(h, m, e, n) -> (h, m, e)>]
        : tensor<12x256x512xf16>, tensor<12x512x64xf16> -> tensor<12x256x64xf32>
    graph.return %o : tensor<12x256x64xf32>
  }
}
