// A window of few elements is read in place, with guards, by programs of one row of the image: the schedule says so, and the host obeys.
// So is one of many channels that lie together. Windows of more elements without that, and rows that cannot leave their buffer, have nothing to say.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4})" | FileCheck %s

// CHECK-LABEL: graph.kernel @few_taps
// CHECK-SAME: <matmul, tile = [32, {{[0-9]+}}], reduce = [27], {{.*}}, in_place = true>
// CHECK-LABEL: graph.kernel @many_channels
// CHECK-SAME: <matmul, {{.*}}reduce = [1, 144], {{.*}}, in_place = true>
// CHECK-LABEL: graph.kernel @planes
// CHECK-SAME: <matmul,
// CHECK-NOT: in_place
// CHECK-LABEL: graph.kernel @halves
// CHECK-SAME: <matmul,
// CHECK-NOT: in_place
// CHECK-LABEL: graph.kernel @no_window
// CHECK-SAME: <matmul,
// CHECK-NOT: in_place
module attributes {graph.nodes = ["a|Conv"]} {
  graph.kernel @few_taps(%x: tensor<1x32x32x3xf32>, %w: tensor<3x3x3x64xf32> {graph.constant}) -> tensor<1x32x32x64xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x32x32x3xf32> -> tensor<1x32x32x3x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x32x32x3x3x3xf32>, tensor<3x3x3x64xf32> -> tensor<1x32x32x64xf32>
    graph.return %c : tensor<1x32x32x64xf32>
  }
  graph.kernel @many_channels(%x: tensor<1x32x32x48xf32>, %w: tensor<3x3x48x64xf32> {graph.constant}) -> tensor<1x32x32x64xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x32x32x48xf32> -> tensor<1x32x32x3x3x48xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x32x32x3x3x48xf32>, tensor<3x3x48x64xf32> -> tensor<1x32x32x64xf32>
    graph.return %c : tensor<1x32x32x64xf32>
  }
  graph.kernel @planes(%x: tensor<1x48x32x32xf32>, %w: tensor<3x3x48x64xf32> {graph.constant}) -> tensor<1x32x32x64xf32> {
    %v = graph.window %x dims [2, 3] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x48x32x32xf32> -> tensor<1x48x32x32x3x3xf32>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, c, y, x, ky, kx)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x48x32x32x3x3xf32>, tensor<3x3x48x64xf32> -> tensor<1x32x32x64xf32>
    graph.return %c : tensor<1x32x32x64xf32>
  }
  graph.kernel @halves(%x: tensor<1x32x32x48xf16>, %w: tensor<3x3x48x64xf16> {graph.constant}) -> tensor<1x32x32x64xf32> {
    %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<1x32x32x48xf16> -> tensor<1x32x32x3x3x48xf16>
    %c = graph.contract %v, %w maps [affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, ky, kx, c, o) -> (ky, kx, c, o)>, affine_map<(n, y, x, ky, kx, c, o) -> (n, y, x, o)>] {graph.node = 0 : i64}
        : tensor<1x32x32x3x3x48xf16>, tensor<3x3x48x64xf16> -> tensor<1x32x32x64xf32>
    graph.return %c : tensor<1x32x32x64xf32>
  }
  graph.kernel @no_window(%x: tensor<1024x27xf32>, %w: tensor<27x64xf32> {graph.constant}) -> tensor<1024x64xf32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<1024x27xf32>, tensor<27x64xf32> -> tensor<1024x64xf32>
    graph.return %c : tensor<1024x64xf32>
  }
}
