// Accumulators of matrix instructions hold two neighbours of a row. Before they are stored, lanes of a quad trade
// elements, so that one store of 16 bytes takes the place of four.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-place-tiles{target=sm_80},tilewright-gpu-distribute{target=sm_80})" | FileCheck %s

// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.bfly.i32"
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
// CHECK-NOT: vector<2xf16>, !llvm.ptr<1>
tile.kernel @product(%a: !tile.buffer<f16, () -> (32, 16)>, %b: !tile.buffer<f16, () -> (16, 64)>,
                     %y: !tile.buffer<f16, () -> (32, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul, tile = [32, 64], warps = 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %x = tile.load %a[%c0, %c0] bounds () -> (32, 16) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f16, () -> (32, 16)> -> tensor<32x16xf16>
  %w = tile.load %b[%c0, %c0] bounds () -> (16, 64) map (d0, d1) -> (d0, d1)
      : !tile.buffer<f16, () -> (16, 64)> -> tensor<16x64xf16>
  %d = tile.dot %x, %w, %zero : tensor<32x16xf16>, tensor<16x64xf16>, tensor<32x64xf32>
  %h = arith.truncf %d : tensor<32x64xf32> to tensor<32x64xf16>
  tile.store %h, %y[%c0, %c0] bounds () -> (32, 64) map (d0, d1) -> (d0, d1)
      : tensor<32x64xf16> -> !tile.buffer<f16, () -> (32, 64)>
  tile.return
}
