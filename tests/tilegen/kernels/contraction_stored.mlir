// Products with weights of four bits, two in a byte along k, less a zero point and times a scale for each 16 of them.
module attributes {graph.nodes = []} {
  graph.kernel @row(%x: tensor<1x64xf32>, %b: tensor<32x72xi8> {graph.constant}, %z: tensor<4x72xi8> {graph.constant}, %s: tensor<4x72xf32> {graph.constant}) -> tensor<1x72xf32> {
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
    %sb = graph.broadcast %s dims [0, 2] : tensor<4x72xf32> -> tensor<4x16x72xf32>
    %scaled = arith.mulf %centered, %sb : tensor<4x16x72xf32>
    %w = graph.reshape %scaled : tensor<4x16x72xf32> -> tensor<64x72xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x64xf32>, tensor<64x72xf32> -> tensor<1x72xf32>
    graph.return %c : tensor<1x72xf32>
  }
  graph.kernel @few_rows(%x: tensor<3x64xf32>, %b: tensor<32x72xi8> {graph.constant}, %z: tensor<4x72xi8> {graph.constant}, %s: tensor<4x72xf32> {graph.constant}) -> tensor<3x72xf32> {
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
    %sb = graph.broadcast %s dims [0, 2] : tensor<4x72xf32> -> tensor<4x16x72xf32>
    %scaled = arith.mulf %centered, %sb : tensor<4x16x72xf32>
    %w = graph.reshape %scaled : tensor<4x16x72xf32> -> tensor<64x72xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<3x64xf32>, tensor<64x72xf32> -> tensor<3x72xf32>
    graph.return %c : tensor<3x72xf32>
  }
  graph.kernel @many_rows(%x: tensor<40x64xf32>, %b: tensor<32x72xi8> {graph.constant}, %z: tensor<4x72xi8> {graph.constant}, %s: tensor<4x72xf32> {graph.constant}) -> tensor<40x72xf32> {
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
    %sb = graph.broadcast %s dims [0, 2] : tensor<4x72xf32> -> tensor<4x16x72xf32>
    %scaled = arith.mulf %centered, %sb : tensor<4x16x72xf32>
    %w = graph.reshape %scaled : tensor<4x16x72xf32> -> tensor<64x72xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<40x64xf32>, tensor<64x72xf32> -> tensor<40x72xf32>
    graph.return %c : tensor<40x72xf32>
  }
}
