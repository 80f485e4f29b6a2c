// A product whose packed panel is longer than the second-level cache of a core: its sums wait in memory between steps along k.
module attributes {graph.nodes = ["a|MatMul"]} {
  graph.kernel @long_panel(%x: tensor<13x4100xf32>, %w: tensor<4100x64xf32> {graph.constant}, %b: tensor<64xf32>) -> tensor<13x64xf32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<13x4100xf32>, tensor<4100x64xf32> -> tensor<13x64xf32>
    %0 = graph.broadcast %b dims [1] {graph.node = 0 : i64} : tensor<64xf32> -> tensor<13x64xf32>
    %1 = arith.addf %c, %0 {graph.node = 0 : i64} : tensor<13x64xf32>
    graph.return %1 : tensor<13x64xf32>
  }
}
