// Where the instruction reads shared memory by itself, the loop waits for the products of the step before, and copies run a step less ahead:
// the slot that is copied to was read two steps ago. With three slots there is none to spare, and every step waits for its own products.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a | FileCheck %s
// RUN: sed 's/stages = 4/stages = 3/' %s | tilewright-opt --tilewright-place-tiles=target=sm_90a | FileCheck %s --check-prefix=THREE
// Placing twice changes nothing.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a > %t.once
// RUN: tilewright-opt %t.once --tilewright-place-tiles=target=sm_90a > %t.twice
// RUN: diff %t.once %t.twice

// CHECK: tile.kernel @matmul({{.*}}shared_bytes = 131072 : i64, threads = 256 : i64
// CHECK-COUNT-2: tile.copy_commit
// CHECK-NOT: tile.copy_commit
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %{{.*}})
// CHECK-NEXT: tile.copy_wait 1
// CHECK-NEXT: tile.barrier
// CHECK: %[[BACK:.*]] = arith.subi %[[SLOT]], %c2
// CHECK: tile.shared_copy
// CHECK: tile.copy_commit
// CHECK: tile.dot {{.*}} {instruction = "wgmma.m64n64k16x4"}
// CHECK-NEXT: tile.dot_wait 1{{$}}
// CHECK-NOT: tile.barrier
// CHECK: scf.yield
// CHECK: tile.dot_wait 0 of %[[LOOP]]#0

// THREE: scf.for
// THREE-NEXT: tile.copy_wait 1
// THREE: %[[DOT:.*]] = tile.dot
// THREE-NEXT: %[[DONE:.*]] = tile.dot_wait 0 of %[[DOT]]
// THREE: scf.yield %[[DONE]]
// THREE-NOT: tile.dot_wait

tile.kernel @matmul(%a: !tile.buffer<f16, () -> (4096, 4096)>, %b: !tile.buffer<f16, () -> (4096, 4096)>, %bias: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f16, () -> (4096, 4096)>)
    attributes {grid = affine_map<() -> (1024, 1, 1)>, schedule = #tile.schedule<matmul, tile = [128, 128], reduce = [64], warps = 8, stages = 4>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> ((d0 floordiv 32) * 128)(%p)
  %n = tile.size (d0) -> ((d0 mod 32) * 128)(%p)
  %c0 = arith.constant 0 : index
  %ck = arith.constant 4096 : index
  %step = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> (tensor<128x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (4096, 4096)> -> tensor<128x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (4096, 4096)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %c : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %bv = tile.load %bias[%c0, %n] bounds () -> (1, 4096) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> (4096)> -> tensor<1x128xf32>
  %bb = tile.broadcast %bv : tensor<1x128xf32> -> tensor<128x128xf32>
  %s = arith.addf %acc, %bb : tensor<128x128xf32>
  %h = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (4096, 4096) map (d0, d1) -> (d0, d1) : tensor<128x128xf16> -> !tile.buffer<f16, () -> (4096, 4096)>
  tile.return
}
