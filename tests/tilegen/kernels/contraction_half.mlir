// Products that are large enough for matrix instructions, where the target has those of the type.
module attributes {graph.nodes = ["a|A"]} {
  graph.kernel @product_f16(%x: tensor<40x64xf16>, %w: tensor<64x72xf16>) -> tensor<40x72xf32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<40x64xf16>, tensor<64x72xf16> -> tensor<40x72xf32>
    graph.return %c : tensor<40x72xf32>
  }
  graph.kernel @product_bf16(%x: tensor<40x64xbf16>, %w: tensor<64x72xbf16>) -> tensor<40x72xf32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<40x64xbf16>, tensor<64x72xbf16> -> tensor<40x72xf32>
    graph.return %c : tensor<40x72xf32>
  }
}
