// A product whose copies have warps of their own, in a kernel that may start before the ones before it end.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s

// Descriptions of tensors are fetched while barriers are made. Those who multiply wait before anything else. The thread
// that copies, which the hardware elects, fills the first slots with weights, which no kernel writes, and then waits too.
// ptxas is told that the number of a warp is uniform. A step along k is one addition to a descriptor.
// CHECK-LABEL: .entry product(
// CHECK: shfl.sync.idx.b32
// CHECK-DAG: prefetch.tensormap
// CHECK-DAG: prefetch.tensormap
// CHECK-DAG: mbarrier.init.shared.b64
// CHECK: bar.sync {{[ \t]*}}0
// CHECK-NOT: {{global|cp.async}}
// CHECK: griddepcontrol.wait; griddepcontrol.launch_dependents;
// CHECK: mov.b64 [[A:%rd[0-9]+]], {{{%r[0-9]+, 1073741888}}};
// CHECK: mov.b64 [[B:%rd[0-9]+]], {{{%r[0-9]+, 1073741888}}};
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16{{.*}} [[A]], [[B]],
// CHECK-DAG: add.s64 [[A1:%rd[0-9]+]], [[A]], 2;
// CHECK-DAG: add.s64 [[B1:%rd[0-9]+]], [[B]], 128;
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16{{.*}} [[A1]], [[B1]],
// CHECK-NOT: cp.async.bulk
// CHECK: elect.sync
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64
// CHECK-COUNT-2: cp.async.bulk.tensor.2d{{.*}}[%[[WEIGHTS:rd[0-9]+]],
// CHECK-NOT: {{global|cp.async}}
// CHECK: griddepcontrol.wait; griddepcontrol.launch_dependents;
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64
// CHECK: cp.async.bulk.tensor.2d{{.*}}[%[[LEFT:rd[0-9]+]],
// CHECK-COUNT-2: cp.async.bulk.tensor.2d{{.*}}[%[[WEIGHTS]],
// CHECK-NOT: expect_tx
// CHECK: cp.async.bulk.tensor.2d{{.*}}[%[[LEFT]],
// CHECK-NOT: cp.async.bulk
tile.kernel @product(%a: !tile.buffer<f16, () -> (640, 512)>, %b: !tile.buffer<f16, () -> (512, 256)> {graph.constant},
                 %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
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
