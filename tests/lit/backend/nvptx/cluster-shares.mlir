// Blocks of a cluster give each other shares of a tile: all threads arrive when they start, the threads that multiply
// wait for that, write to the other blocks' shared memory, and wait once more before they read their own.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry shares(
// CHECK: barrier.cluster.arrive.relaxed.aligned
// CHECK: wgmma.mma_async
// CHECK: barrier.cluster.wait.aligned
// CHECK-COUNT-4: mapa.shared::cluster
// CHECK: st.shared::cluster.v4
// CHECK: barrier.cluster.arrive.aligned
// CHECK-NEXT: barrier.cluster.wait.aligned
// CHECK-NOT: st.shared::cluster
// CHECK: ld.shared.v4
// CHECK: st.global
// CHECK: ret;
tile.kernel @shares(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 64)>,
                    %y: !tile.buffer<f16, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 3, groups = 1, parts = 4, clustered = true>} {
  %c0 = arith.constant 0 : index
  %end = arith.constant 512 : index
  %step = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf16> -> !tile.buffer<f16, () -> (64, 64)>
  tile.return
}
