// Contractions of bytes into 32 bits: either sign on either side, columns by fours along k and not, windows that fill with a zero point.
module attributes {graph.nodes = ["a|MatMulInteger"]} {
  graph.kernel @unsigned_by_signed(%x: tensor<13x64xi8>, %w: tensor<64x70xi8> {graph.constant}) -> tensor<13x70xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<13x64xi8>, tensor<64x70xi8> -> tensor<13x70xi32>
    graph.return %c : tensor<13x70xi32>
  }
  graph.kernel @ragged_depth(%x: tensor<9x27xi8>, %w: tensor<27x33xi8> {graph.constant}) -> tensor<9x33xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<9x27xi8>, tensor<27x33xi8> -> tensor<9x33xi32>
    graph.return %c : tensor<9x33xi32>
  }
  graph.kernel @transposed_weights(%x: tensor<17x20xi8>, %w: tensor<24x20xi8> {graph.constant}) -> tensor<17x24xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<17x20xi8>, tensor<24x20xi8> -> tensor<17x24xi32>
    graph.return %c : tensor<17x24xi32>
  }
  graph.kernel @signed_by_signed(%x: tensor<7x16xi8>, %w: tensor<16x40xi8> {graph.constant}) -> tensor<7x40xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<7x16xi8>, tensor<16x40xi8> -> tensor<7x40xi32>
    graph.return %c : tensor<7x40xi32>
  }
  graph.kernel @unsigned_by_unsigned(%x: tensor<7x12xi8>, %w: tensor<12x16xi8> {graph.constant}) -> tensor<7x16xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, rhs_unsigned, graph.node = 0 : i64}
        : tensor<7x12xi8>, tensor<12x16xi8> -> tensor<7x16xi32>
    graph.return %c : tensor<7x16xi32>
  }
  graph.kernel @signed_by_unsigned(%x: tensor<5x10xi8>, %w: tensor<10x3xi8> {graph.constant}) -> tensor<5x3xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {rhs_unsigned, graph.node = 0 : i64}
        : tensor<5x10xi8>, tensor<10x3xi8> -> tensor<5x3xi32>
    graph.return %c : tensor<5x3xi32>
  }
  graph.kernel @one_column(%x: tensor<6x32xi8>, %w: tensor<32x1xi8> {graph.constant}) -> tensor<6x1xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<6x32xi8>, tensor<32x1xi8> -> tensor<6x1xi32>
    graph.return %c : tensor<6x1xi32>
  }
  graph.kernel @two_inputs(%x: tensor<8x19xi8>, %w: tensor<19x21xi8>) -> tensor<8x21xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<8x19xi8>, tensor<19x21xi8> -> tensor<8x21xi32>
    graph.return %c : tensor<8x21xi32>
  }
  graph.kernel @conv(%x: tensor<1x6x5x16xi8>, %w: tensor<11x16x3x3xi8> {graph.constant}) -> tensor<1x6x5x11xi32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 77 : i8 {graph.node = 0 : i64} : tensor<1x6x5x16xi8> -> tensor<1x6x5x3x3x16xi8>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (o, c, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<1x6x5x3x3x16xi8>, tensor<11x16x3x3xi8> -> tensor<1x6x5x11xi32>
    graph.return %c : tensor<1x6x5x11xi32>
  }
  graph.kernel @conv_of_few(%x: tensor<1x6x5x3xi8>, %w: tensor<11x3x3x3xi8> {graph.constant}) -> tensor<1x6x5x11xi32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 77 : i8 {graph.node = 0 : i64} : tensor<1x6x5x3xi8> -> tensor<1x6x5x3x3x3xi8>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (o, c, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<1x6x5x3x3x3xi8>, tensor<11x3x3x3xi8> -> tensor<1x6x5x11xi32>
    graph.return %c : tensor<1x6x5x11xi32>
  }
  graph.kernel @conv_odd_depth(%x: tensor<1x6x5x18xi8>, %w: tensor<11x18x2x2xi8> {graph.constant}) -> tensor<1x6x5x11xi32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 77 : i8 {graph.node = 0 : i64} : tensor<1x6x5x18xi8> -> tensor<1x6x5x2x2x18xi8>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (o, c, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<1x6x5x2x2x18xi8>, tensor<11x18x2x2xi8> -> tensor<1x6x5x11xi32>
    graph.return %c : tensor<1x6x5x11xi32>
  }
}
