// Contractions of bytes that a matrix unit takes: whole steps of 64 along k, either sign on either side, fewer rows than a tile has, rows that no
// tile divides, columns that none divides, rows of unknown number, and left sides that lie in no even rows.
module attributes {graph.nodes = ["a|MatMulInteger"], graph.symbols = ["batch", "seq"]} {
  graph.kernel @few_rows(%x: tensor<7x128xi8>, %w: tensor<128x100xi8> {graph.constant}) -> tensor<7x100xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<7x128xi8>, tensor<128x100xi8> -> tensor<7x100xi32>
    graph.return %c : tensor<7x100xi32>
  }
  graph.kernel @one_tile_of_rows(%x: tensor<16x64xi8>, %w: tensor<64x64xi8> {graph.constant}) -> tensor<16x64xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<16x64xi8>, tensor<64x64xi8> -> tensor<16x64xi32>
    graph.return %c : tensor<16x64xi32>
  }
  graph.kernel @seventeen_rows(%x: tensor<17x64xi8>, %w: tensor<64x48xi8> {graph.constant}) -> tensor<17x48xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {rhs_unsigned, graph.node = 0 : i64}
        : tensor<17x64xi8>, tensor<64x48xi8> -> tensor<17x48xi32>
    graph.return %c : tensor<17x48xi32>
  }
  graph.kernel @many_rows(%x: tensor<131x64xi8>, %w: tensor<64x72xi8> {graph.constant}) -> tensor<131x72xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, rhs_unsigned, graph.node = 0 : i64}
        : tensor<131x64xi8>, tensor<64x72xi8> -> tensor<131x72xi32>
    graph.return %c : tensor<131x72xi32>
  }
  graph.kernel @narrow(%x: tensor<40x64xi8>, %w: tensor<64x16xi8> {graph.constant}) -> tensor<40x16xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<40x64xi8>, tensor<64x16xi8> -> tensor<40x16xi32>
    graph.return %c : tensor<40x16xi32>
  }
  graph.kernel @any_rows(%x: tensor<?x128xi8, affine_map<()[s0, s1] -> (s0 * s1 * 5, 128)>>, %w: tensor<128x72xi8> {graph.constant}, %b: tensor<72xf32> {graph.constant}) -> tensor<?x72xf32, affine_map<()[s0, s1] -> (s0 * s1 * 5, 72)>> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<?x128xi8, affine_map<()[s0, s1] -> (s0 * s1 * 5, 128)>>, tensor<128x72xi8> -> tensor<?x72xi32, affine_map<()[s0, s1] -> (s0 * s1 * 5, 72)>>
    %f = arith.sitofp %c : tensor<?x72xi32, affine_map<()[s0, s1] -> (s0 * s1 * 5, 72)>> to tensor<?x72xf32, affine_map<()[s0, s1] -> (s0 * s1 * 5, 72)>>
    %bb = graph.broadcast %b dims [1] : tensor<72xf32> -> tensor<?x72xf32, affine_map<()[s0, s1] -> (s0 * s1 * 5, 72)>>
    %s = arith.addf %f, %bb : tensor<?x72xf32, affine_map<()[s0, s1] -> (s0 * s1 * 5, 72)>>
    graph.return %s : tensor<?x72xf32, affine_map<()[s0, s1] -> (s0 * s1 * 5, 72)>>
  }
  graph.kernel @every_second(%x: tensor<2x8x6x64xi8>, %w: tensor<64x40xi8> {graph.constant}) -> tensor<2x4x3x40xi32> {
    %v = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [0, 0] fill 77 : i8 {graph.node = 0 : i64} : tensor<2x8x6x64xi8> -> tensor<2x4x3x1x1x64xi8>
    %r = graph.reshape %v {graph.node = 0 : i64} : tensor<2x4x3x1x1x64xi8> -> tensor<2x4x3x64xi8>
    %c = graph.contract %r, %w maps [affine_map<(n, y, x, o, c) -> (n, y, x, c)>, affine_map<(n, y, x, o, c) -> (c, o)>, affine_map<(n, y, x, o, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<2x4x3x64xi8>, tensor<64x40xi8> -> tensor<2x4x3x40xi32>
    graph.return %c : tensor<2x4x3x40xi32>
  }
}
