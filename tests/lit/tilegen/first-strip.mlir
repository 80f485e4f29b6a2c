// Where blocks take one tile each, a first strip of its columns is computed by itself, so that it can be stored before the others end.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a})" | FileCheck %s

// Half of the columns.
// CHECK-LABEL: graph.kernel @half
// CHECK-SAME: tile = [64, 128], {{.*}}, groups = 1, order = 8, strip = 64>
graph.kernel @half(%x: tensor<1024x1024xf16>, %w: tensor<1024x1024xf16>) -> tensor<1024x1024xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1024x1024xf16>, tensor<1024x1024xf16> -> tensor<1024x1024xf32>
  graph.return %0 : tensor<1024x1024xf32>
}

// The narrower one of the strips that there are in any case.
// CHECK-LABEL: graph.kernel @narrow
// CHECK-SAME: tile = [64, 192], {{.*}}, groups = 1, order = 8, strip = 64>
graph.kernel @narrow(%x: tensor<512x768xf16>, %w: tensor<768x3072xf16>) -> tensor<512x3072xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<512x768xf16>, tensor<768x3072xf16> -> tensor<512x3072xf32>
  graph.return %0 : tensor<512x3072xf32>
}

// Not where blocks take several tiles, nor of tiles that are too narrow.
// CHECK-LABEL: graph.kernel @several
// CHECK-SAME: tile = [128, 256], {{.*}}, groups = 1, order = 16, streamed = true>
graph.kernel @several(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<4096x4096xf16>, tensor<4096x4096xf16> -> tensor<4096x4096xf32>
  graph.return %0 : tensor<4096x4096xf32>
}

// CHECK-LABEL: graph.kernel @few
// CHECK-SAME: tile = [64, 64], {{.*}}, groups = 1, order = 8>
graph.kernel @few(%x: tensor<512x512xf16>, %w: tensor<512x512xf16>) -> tensor<512x512xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<512x512xf16>, tensor<512x512xf16> -> tensor<512x512xf32>
  graph.return %0 : tensor<512x512xf32>
}

// Nor where columns of the result are stored one by one.
// CHECK-LABEL: graph.kernel @columns
// CHECK-SAME: tile = [64, 128], {{.*}}, groups = 1, order = 8>
graph.kernel @columns(%x: tensor<1024x1024xf16>, %w: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1024x1024xf16>, tensor<1024x1024xf16> -> tensor<1024x1024xf32>
  %1 = arith.truncf %0 : tensor<1024x1024xf32> to tensor<1024x1024xf16>
  %2 = graph.transpose %1 perm [1, 0] : tensor<1024x1024xf16> -> tensor<1024x1024xf16>
  graph.return %2 : tensor<1024x1024xf16>
}

// Nor where the left side passes through registers because its planes are of an odd size.
// CHECK-LABEL: graph.kernel @oddPlanes
// CHECK-SAME: tile = [64, 128], {{.*}}, groups = 1>
graph.kernel @oddPlanes(%x: tensor<32x2048x7x7xf16>, %w: tensor<2048x512xf16> {graph.constant}) -> tensor<32x7x7x512xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(b, y, x, n, k) -> (b, k, y, x)>, affine_map<(b, y, x, n, k) -> (k, n)>, affine_map<(b, y, x, n, k) -> (b, y, x, n)>] : tensor<32x2048x7x7xf16>, tensor<2048x512xf16> -> tensor<32x7x7x512xf32>
  graph.return %0 : tensor<32x7x7x512xf32>
}

// Nor where programs share sums, or singles are split into parts.
// CHECK-LABEL: graph.kernel @shared
// CHECK-SAME: tile = [64, 128], {{.*}}, parts = 2>
// CHECK-LABEL: graph.kernel @singles
// CHECK-SAME: tile = [128, 128], {{.*}}, groups = 1, order = 8>
graph.kernel @shared(%x: tensor<512x8192xf16>, %w: tensor<8192x1024xf16>) -> tensor<512x1024xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<512x8192xf16>, tensor<8192x1024xf16> -> tensor<512x1024xf32>
  graph.return %0 : tensor<512x1024xf32>
}
graph.kernel @singles(%x: tensor<1024x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<1024x2048xf32> attributes {root = #graph.root<matmul>} {
  %0 = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1024x2048xf32>, tensor<2048x2048xf32> -> tensor<1024x2048xf32>
  graph.return %0 : tensor<1024x2048xf32>
}
