// A right side of which what is read leaves the second-level cache first: its copies have a cache policy, those of the left side none.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry engine(
// CHECK-NOT: cache_hint
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [
// CHECK: createpolicy.fractional.L2::evict_first.b64 [[POLICY:%rd[0-9]+]];
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint {{.*}}, [[POLICY]];
// CHECK-NOT: cp.async.bulk
tile.kernel @engine(%a: !tile.buffer<f16, () -> (640, 512)>, %b: !tile.buffer<f16, () -> (512, 256)> {tile.streamed},
                    %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1, streamed = true>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (640, 256)>
  tile.return
}

// Copies of threads, whole and, where k ends within a step, with the number of bytes that are there.
// CHECK-LABEL: .entry threads(
// CHECK: cp.async.cg.shared.global{{[^.]}}
// CHECK: cp.async.cg.shared.global.L2::cache_hint [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %rd{{[0-9]+}};
// CHECK: cp.async.cg.shared.global.L2::cache_hint [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %r{{[0-9]+}}, %rd{{[0-9]+}};
tile.kernel @threads(%a: !tile.buffer<f16, () -> (640, 520)>, %b: !tile.buffer<f16, () -> (520, 256)> {tile.streamed},
                     %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, streamed = true>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c520 = arith.constant 520 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c520 step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 520) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 520)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (520, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (520, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (640, 256)>
  tile.return
}

// Copies of pixels have no policy: with one they stop with an illegal instruction.
// CHECK-LABEL: .entry pixels(
// CHECK-NOT: cache_hint
// CHECK: cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [
// CHECK-NOT: cache_hint
tile.kernel @pixels(%x: !tile.buffer<f16, () -> (3, 9, 224)> {tile.streamed}, %f: !tile.buffer<f16, () -> (4, 64, 64)>,
                    %y: !tile.buffer<f32, () -> (198, 64)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [1, 64], warps = 4, stages = 3, groups = 1>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %sum = scf.for %ky = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<1x64x64xf32>) {
    %a = tile.load %x[%ky, %m, %c0] bounds () -> (4, 198, 64)
        map (d0, d1, d2) -> (d1 floordiv 66, d0 + (d1 floordiv 11) mod 6, d2 + (d1 mod 11) * 16)
        : !tile.buffer<f16, () -> (3, 9, 224)> -> tensor<1x64x64xf16>
    %b = tile.load %f[%ky, %c0, %c0] bounds () -> (4, 64, 64) map (d0, d1, d2) -> (d0, d1, d2)
        : !tile.buffer<f16, () -> (4, 64, 64)> -> tensor<1x64x64xf16>
    %d = tile.dot %a, %b, %acc : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %d : tensor<1x64x64xf32>
  }
  tile.store %sum, %y[%c0, %m, %c0] bounds () -> (1, 198, 64) map (d0, d1, d2) -> (d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (198, 64)>
  tile.return
}
