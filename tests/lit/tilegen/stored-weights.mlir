// Products with weights of four bits, two in a byte along k, and a scale for each 32 of them.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4})" -o %t.mlir
// RUN: FileCheck %s --check-prefix=HOST --input-file=%t.mlir
// RUN: tilewright-opt %t.mlir --tilewright-tile-emit=target=x86-64-v4 | FileCheck %s --check-prefix=TILE
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a})" | FileCheck %s --check-prefix=GPU

// The host packs the bytes and the scales alike. Columns of many rows are few, so that what is computed of them stays in the second-level cache.
// HOST-LABEL: graph.kernel @row
// HOST-SAME: tile = [1, 128], reduce = [4096], registers = [1, 64], pack = 64>
// HOST-LABEL: graph.kernel @many
// HOST-SAME: tile = [{{.*}}, 128], reduce = [4096], registers = [{{.*}}], pack = 64>
// Where rows are not known, a single one has a kernel, few have one that computes the weights in registers, and both read the same panels.
// HOST-LABEL: graph.kernel @unknown
// HOST-SAME: tile = [96, 128], reduce = [4096], registers = [6, 64], pack = 64>
// HOST-LABEL: graph.kernel @unknown_to24
// HOST-SAME: tile = [24, 128], reduce = [4096], registers = [6, 64], pack = 64>
// HOST-LABEL: graph.kernel @unknown_to1
// HOST-SAME: tile = [1, 128], reduce = [4096], registers = [1, 64], pack = 64>

// A cast alone is what products of halves do anyway: nothing is computed.
// HOST-LABEL: graph.kernel @cast
// HOST-NOT: pack =

// A byte is there once, though two neighbours along k read it, and a scale once for 32.
// TILE-LABEL: tile.kernel @row
// TILE-SAME: !tile.buffer<i8, () -> (64, 2048, 64)> {graph.constant, tile.packed_from = affine_map<(d0, d1, d2) -> (d1, d0 * 64 + d2)>, tile.source = tensor<2048x4096xi8>}
// TILE-SAME: !tile.buffer<f32, () -> (64, 128, 64)> {graph.constant, tile.packed_from = affine_map<(d0, d1, d2) -> (d1, d0 * 64 + d2)>, tile.source = tensor<128x4096xf32>}
// TILE: map (d0, d1) -> (d1 floordiv 64, d0 floordiv 2, d1 mod 64)
// TILE: map (d0, d1) -> (d1 floordiv 64, d0 floordiv 32, d1 mod 64)

// A GPU's blocks share sums, until there are enough of them to hide what each waits for.
// GPU-LABEL: graph.kernel @row
// GPU-SAME: tile = [16, 64], reduce = [64], warps = 2, stages = 4, parts = 8>
// GPU-LABEL: graph.kernel @half_row
// GPU-SAME: tile = [16, 128], reduce = [128], warps = 8, stages = 4, parts = 8>
// GPU-LABEL: graph.kernel @half_rows
// GPU-SAME: tile = [128, 64], reduce = [64], warps = 4, stages = 4, parts = 4>
// GPU-LABEL: graph.kernel @unknown
// GPU-LABEL: graph.kernel @unknown_to64
// GPU-SAME: tile = [64, 64], reduce = [64], warps = 8, stages = 4, parts = 4, most_tiles = 64>
// GPU-LABEL: graph.kernel @unknown_to16
// GPU-SAME: tile = [16, 64], reduce = [64], warps = 2, stages = 4, parts = 8, most_tiles = 64>
module attributes {graph.nodes = [], graph.symbols = ["rows"]} {
  func.func @main(%x: tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>) -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>> {
    %b = graph.constant "00000000000000000000000000000001" : tensor<2048x4096xi8>
    %s = graph.constant "00000000000000000000000000000002" : tensor<128x4096xf32>
    %y = graph.launch @unknown(%x, %b, %s) {graph.bytes = affine_map<() -> (0)>, graph.flops = affine_map<() -> (0)>, graph.nodes_of = array<i64>} : (tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>, tensor<2048x4096xi8>, tensor<128x4096xf32>) -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
    return %y : tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
  }
  graph.kernel @row(%x: tensor<1x4096xf32>, %b: tensor<2048x4096xi8> {graph.constant}, %s: tensor<128x4096xf32> {graph.constant}) -> tensor<1x4096xf32> attributes {root = #graph.root<matmul>} {
    %words = arith.extui %b : tensor<2048x4096xi8> to tensor<2048x4096xi32>
    %both = graph.broadcast %words dims [0, 2] : tensor<2048x4096xi32> -> tensor<2048x2x4096xi32>
    %at = graph.iota dim 1 : tensor<2048x2x4096xi32>
    %four = arith.constant dense<4> : tensor<2048x2x4096xi32>
    %by = arith.muli %at, %four : tensor<2048x2x4096xi32>
    %shifted = arith.shrui %both, %by : tensor<2048x2x4096xi32>
    %mask = arith.constant dense<15> : tensor<2048x2x4096xi32>
    %n = arith.andi %shifted, %mask : tensor<2048x2x4096xi32>
    %q = arith.sitofp %n : tensor<2048x2x4096xi32> to tensor<2048x2x4096xf32>
    %blocks = graph.reshape %q : tensor<2048x2x4096xf32> -> tensor<128x32x4096xf32>
    %sb = graph.broadcast %s dims [0, 2] : tensor<128x4096xf32> -> tensor<128x32x4096xf32>
    %scaled = arith.mulf %blocks, %sb : tensor<128x32x4096xf32>
    %w = graph.reshape %scaled : tensor<128x32x4096xf32> -> tensor<4096x4096xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x4096xf32>, tensor<4096x4096xf32> -> tensor<1x4096xf32>
    graph.return %c : tensor<1x4096xf32>
  }
  graph.kernel @many(%x: tensor<200x4096xf32>, %b: tensor<2048x4096xi8> {graph.constant}, %s: tensor<128x4096xf32> {graph.constant}) -> tensor<200x4096xf32> attributes {root = #graph.root<matmul>} {
    %words = arith.extui %b : tensor<2048x4096xi8> to tensor<2048x4096xi32>
    %both = graph.broadcast %words dims [0, 2] : tensor<2048x4096xi32> -> tensor<2048x2x4096xi32>
    %at = graph.iota dim 1 : tensor<2048x2x4096xi32>
    %four = arith.constant dense<4> : tensor<2048x2x4096xi32>
    %by = arith.muli %at, %four : tensor<2048x2x4096xi32>
    %shifted = arith.shrui %both, %by : tensor<2048x2x4096xi32>
    %mask = arith.constant dense<15> : tensor<2048x2x4096xi32>
    %n = arith.andi %shifted, %mask : tensor<2048x2x4096xi32>
    %q = arith.sitofp %n : tensor<2048x2x4096xi32> to tensor<2048x2x4096xf32>
    %blocks = graph.reshape %q : tensor<2048x2x4096xf32> -> tensor<128x32x4096xf32>
    %sb = graph.broadcast %s dims [0, 2] : tensor<128x4096xf32> -> tensor<128x32x4096xf32>
    %scaled = arith.mulf %blocks, %sb : tensor<128x32x4096xf32>
    %w = graph.reshape %scaled : tensor<128x32x4096xf32> -> tensor<4096x4096xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<200x4096xf32>, tensor<4096x4096xf32> -> tensor<200x4096xf32>
    graph.return %c : tensor<200x4096xf32>
  }
  graph.kernel @half_row(%x: tensor<1x4096xf16>, %b: tensor<2048x4096xi8> {graph.constant}, %s: tensor<128x4096xf16> {graph.constant}) -> tensor<1x4096xf16> attributes {root = #graph.root<matmul>} {
    %words = arith.extui %b : tensor<2048x4096xi8> to tensor<2048x4096xi32>
    %both = graph.broadcast %words dims [0, 2] : tensor<2048x4096xi32> -> tensor<2048x2x4096xi32>
    %at = graph.iota dim 1 : tensor<2048x2x4096xi32>
    %four = arith.constant dense<4> : tensor<2048x2x4096xi32>
    %by = arith.muli %at, %four : tensor<2048x2x4096xi32>
    %shifted = arith.shrui %both, %by : tensor<2048x2x4096xi32>
    %mask = arith.constant dense<15> : tensor<2048x2x4096xi32>
    %n = arith.andi %shifted, %mask : tensor<2048x2x4096xi32>
    %q = arith.sitofp %n : tensor<2048x2x4096xi32> to tensor<2048x2x4096xf32>
    %blocks = graph.reshape %q : tensor<2048x2x4096xf32> -> tensor<128x32x4096xf32>
    %wide = arith.extf %s : tensor<128x4096xf16> to tensor<128x4096xf32>
    %sb = graph.broadcast %wide dims [0, 2] : tensor<128x4096xf32> -> tensor<128x32x4096xf32>
    %scaled = arith.mulf %blocks, %sb : tensor<128x32x4096xf32>
    %w = graph.reshape %scaled : tensor<128x32x4096xf32> -> tensor<4096x4096xf32>
    %h = arith.truncf %w : tensor<4096x4096xf32> to tensor<4096x4096xf16>
    %c = graph.contract %x, %h maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x4096xf16>, tensor<4096x4096xf16> -> tensor<1x4096xf32>
    %r = arith.truncf %c : tensor<1x4096xf32> to tensor<1x4096xf16>
    graph.return %r : tensor<1x4096xf16>
  }
  graph.kernel @half_rows(%x: tensor<128x4096xf16>, %b: tensor<2048x4096xi8> {graph.constant}, %s: tensor<128x4096xf16> {graph.constant}) -> tensor<128x4096xf16> attributes {root = #graph.root<matmul>} {
    %words = arith.extui %b : tensor<2048x4096xi8> to tensor<2048x4096xi32>
    %both = graph.broadcast %words dims [0, 2] : tensor<2048x4096xi32> -> tensor<2048x2x4096xi32>
    %at = graph.iota dim 1 : tensor<2048x2x4096xi32>
    %four = arith.constant dense<4> : tensor<2048x2x4096xi32>
    %by = arith.muli %at, %four : tensor<2048x2x4096xi32>
    %shifted = arith.shrui %both, %by : tensor<2048x2x4096xi32>
    %mask = arith.constant dense<15> : tensor<2048x2x4096xi32>
    %n = arith.andi %shifted, %mask : tensor<2048x2x4096xi32>
    %q = arith.sitofp %n : tensor<2048x2x4096xi32> to tensor<2048x2x4096xf32>
    %blocks = graph.reshape %q : tensor<2048x2x4096xf32> -> tensor<128x32x4096xf32>
    %wide = arith.extf %s : tensor<128x4096xf16> to tensor<128x4096xf32>
    %sb = graph.broadcast %wide dims [0, 2] : tensor<128x4096xf32> -> tensor<128x32x4096xf32>
    %scaled = arith.mulf %blocks, %sb : tensor<128x32x4096xf32>
    %w = graph.reshape %scaled : tensor<128x32x4096xf32> -> tensor<4096x4096xf32>
    %h = arith.truncf %w : tensor<4096x4096xf32> to tensor<4096x4096xf16>
    %c = graph.contract %x, %h maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<128x4096xf16>, tensor<4096x4096xf16> -> tensor<128x4096xf32>
    %r = arith.truncf %c : tensor<128x4096xf32> to tensor<128x4096xf16>
    graph.return %r : tensor<128x4096xf16>
  }
  graph.kernel @unknown(%x: tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>, %b: tensor<2048x4096xi8> {graph.constant}, %s: tensor<128x4096xf32> {graph.constant}) -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>> attributes {root = #graph.root<matmul>} {
    %words = arith.extui %b : tensor<2048x4096xi8> to tensor<2048x4096xi32>
    %both = graph.broadcast %words dims [0, 2] : tensor<2048x4096xi32> -> tensor<2048x2x4096xi32>
    %at = graph.iota dim 1 : tensor<2048x2x4096xi32>
    %four = arith.constant dense<4> : tensor<2048x2x4096xi32>
    %by = arith.muli %at, %four : tensor<2048x2x4096xi32>
    %shifted = arith.shrui %both, %by : tensor<2048x2x4096xi32>
    %mask = arith.constant dense<15> : tensor<2048x2x4096xi32>
    %n = arith.andi %shifted, %mask : tensor<2048x2x4096xi32>
    %q = arith.sitofp %n : tensor<2048x2x4096xi32> to tensor<2048x2x4096xf32>
    %blocks = graph.reshape %q : tensor<2048x2x4096xf32> -> tensor<128x32x4096xf32>
    %sb = graph.broadcast %s dims [0, 2] : tensor<128x4096xf32> -> tensor<128x32x4096xf32>
    %scaled = arith.mulf %blocks, %sb : tensor<128x32x4096xf32>
    %w = graph.reshape %scaled : tensor<128x32x4096xf32> -> tensor<4096x4096xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>, tensor<4096x4096xf32> -> tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
    graph.return %c : tensor<?x4096xf32, affine_map<()[s0] -> (s0, 4096)>>
  }
  graph.kernel @cast(%x: tensor<1x4096xf32>, %b: tensor<4096x4096xf16> {graph.constant}) -> tensor<1x4096xf32> attributes {root = #graph.root<matmul>} {
    %w = arith.extf %b : tensor<4096x4096xf16> to tensor<4096x4096xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x4096xf32>, tensor<4096x4096xf32> -> tensor<1x4096xf32>
    graph.return %c : tensor<1x4096xf32>
  }
}
