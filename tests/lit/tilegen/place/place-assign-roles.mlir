// Copies by warps of their own, persistent blocks, and two groups in turn.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a}))" | FileCheck %s
// Nothing of it where the target has no copy engine.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_80},tilewright-place-assign-roles{target=sm_80}))" | FileCheck %s --check-prefix=SM80

// One group: rows of A run along k, those of B across it, in two panels. The last block's column is ragged.
// CHECK-LABEL: tile.kernel @one
// CHECK-SAME: grid = #[[GRID:.*]],
// CHECK-DAG: %[[A:.*]] = tile.shared_alloc offset 0 : <tensor<64x64xf16>, fast = 1, slots = 3>
// CHECK-DAG: %[[B:.*]] = tile.shared_alloc offset 0 : <tensor<64x128xf16>, fast = 1, slots = 3>
// CHECK-DAG: tile.tensor_map %{{.*}} start () -> (0) sizes () -> (512, 640) strides () -> (1, 512) : {{.*}} -> <f16, [64, 64]>
// CHECK-DAG: tile.tensor_map %{{.*}} start () -> (0) sizes () -> (200, 512) strides () -> (1, 200) : {{.*}} -> <f16, [64, 64]>
// CHECK: %[[RING:.*]] = tile.ring_alloc offset 0 : <slots = 3, releases = 4>
// CHECK: tile.roles attributes {elected = array<i1: false, true>, registers = array<i64: 0, 0>, warps = array<i64: 4, 4>} {
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %c20{{.*}} step %c20{{.*}} iter_args(%[[STEP:.*]] = %{{.*}}) -> (index) {
// CHECK: tile.size (d0) -> ((d0 mod 2) * 128)(%[[P]])
// CHECK: scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[S:.*]] = %[[STEP]])
// CHECK: %[[SLOT:.*]] = tile.ring_wait %[[RING]][%[[S]]]
// CHECK: tile.shared_read %[[A]][%[[SLOT]]]
// CHECK: tile.shared_read %[[B]][%[[SLOT]]]
// CHECK: tile.dot {{.*}}, %[[ACC]]
// CHECK: tile.dot_wait 1
// CHECK: scf.if
// CHECK: tile.ring_release %[[RING]]
// CHECK: tile.dot_wait 0 of
// CHECK: tile.ring_release %[[RING]]
// CHECK: tile.store
// CHECK: }, {
// CHECK: scf.for
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (index)
// CHECK: %[[SLOT:.*]] = tile.ring_acquire %[[RING]][%[[S]]] bytes 24576
// CHECK: tile.bulk_copy %{{.*}}[%[[K]], %{{.*}}] into %[[A]][%[[SLOT]]] signals %[[RING]]
// CHECK: tile.bulk_copy %{{.*}}[%{{.*}}, %[[K]]] into %[[B]][%[[SLOT]]] signals %[[RING]]
// SM80-NOT: tile.roles
tile.kernel @one(%a: !tile.buffer<f16, () -> (640, 512)>, %b: !tile.buffer<f16, () -> (512, 200)>,
                 %y: !tile.buffer<f32, () -> (640, 200)>)
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
    %w = tile.load %b[%k, %n] bounds () -> (512, 200) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 200)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  tile.store %sum, %y[%m, %n] bounds () -> (640, 200) map (d0, d1) -> (d0, d1) : tensor<64x128xf32> -> !tile.buffer<f32, () -> (640, 200)>
  tile.return
}

// -----

// Two groups, a batch of heads in one row of memory, and rows that only running tells: more dimensions, and coordinates
// that are the same in a whole tile.
// CHECK-LABEL: tile.kernel @two
// CHECK: tile.tensor_map %{{.*}} start ()[s0] -> (0) sizes ()[s0] -> (64, s0, 2, 4) strides ()[s0] -> (1, 256, s0 * 256, 64)
// CHECK: tile.ring_alloc offset 0 : <slots = 4, releases = 4>
// CHECK: %[[TURNS:.*]] = tile.ring_alloc offset 0 : <slots = 2, releases = 4>
// CHECK: tile.roles attributes {elected = array<i1: false, false, true>, registers = array<i64: 240, 240, 24>, warps = array<i64: 4, 4, 4>} {
// CHECK: scf.for %{{.*}} step %c264{{.*}} iter_args(%{{.*}}, %[[TURN:.*]] = %{{.*}}) -> (index, index)
// CHECK: tile.ring_drain %[[TURNS]]
// CHECK: tile.ring_release %[[TURNS]][%[[TURN]]]
// CHECK: }, {
// CHECK: tile.ring_drain %[[TURNS]]
// CHECK: tile.bulk_copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] into
tile.kernel @two(%a: !tile.buffer<f16, ()[s0] -> (2, s0, 256)>, %b: !tile.buffer<f16, () -> (64, 64)>,
                 %y: !tile.buffer<f32, ()[s0] -> (8, s0, 64)>, %s0: index)
    attributes {grid = affine_map<()[s0] -> (8 * (s0 ceildiv 64), 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [1, 64, 64], reduce = [64], warps = 4, stages = 4, groups = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %p = tile.program_id 0
  %m = tile.size (d0)[s0] -> ((d0 mod (s0 ceildiv 64)) * 64)(%p)
  %h = tile.size (d0)[s0] -> (d0 floordiv (s0 ceildiv 64))(%p)
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %sum = scf.for %k = %c0 to %c64 step %c64 iter_args(%acc = %zero) -> (tensor<1x64x64xf32>) {
    %x = tile.load %a[%h, %m, %k] bounds ()[s0] -> (8, s0, 64) map (d0, d1, d2)[s0] -> (d0 floordiv 4, d1, (d0 mod 4) * 64 + d2) : !tile.buffer<f16, ()[s0] -> (2, s0, 256)> -> tensor<1x64x64xf16>
    %w = tile.load %b[%c0, %k, %c0] bounds ()[s0] -> (1, 64, 64) map (d0, d1, d2)[s0] -> (d1, d2) : !tile.buffer<f16, () -> (64, 64)> -> tensor<1x64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %d : tensor<1x64x64xf32>
  }
  tile.store %sum, %y[%h, %m, %c0] bounds ()[s0] -> (8, s0, 64) map (d0, d1, d2)[s0] -> (d0, d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, ()[s0] -> (8, s0, 64)>
  tile.return
}

// -----

// Refused, and said: an operand whose rows are not aligned.
// CHECK-LABEL: tile.kernel @odd
// CHECK-NOT: tile.roles
// expected-remark@+1 {{its copies are started by the warps that multiply because a stride is no multiple of 16 bytes, or not known to be one}}
tile.kernel @odd(%a: !tile.buffer<f16, () -> (64, 68)>, %b: !tile.buffer<f16, () -> (68, 64)>,
                 %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c68 = arith.constant 68 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c68 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 68) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 68)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (68, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (68, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// -----

// Nor with a ring of one slot, in which each role would wait for the other.
// CHECK-LABEL: tile.kernel @alone
// CHECK-NOT: tile.roles
// expected-remark@+1 {{its copies are started by the warps that multiply because a slot is free only after the next step has started, so its ring needs two stages}}
tile.kernel @alone(%a: !tile.buffer<f16, () -> (64, 128)>, %b: !tile.buffer<f16, () -> (128, 64)>,
                 %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 1, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c128 step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 128)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (128, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (128, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// -----

// The right side is a constant: the thread that copies brings it into all three slots, which have less than 64 KiB, before
// it waits for the kernels before this one, and to the same steps the left side alone afterwards.
// CHECK-LABEL: tile.kernel @weights
// CHECK: %[[RING:.*]] = tile.ring_alloc
// CHECK: tile.roles
// CHECK-NOT: tile.await_kernels
// CHECK: }, {
// CHECK: %[[EARLY:.*]] = arith.minui %c3{{.*}}, %c8
// CHECK: scf.if
// CHECK: scf.for %[[S:.*]] = %{{.*}} to %[[EARLY]] step
// CHECK: %[[DISTANCE:.*]] = arith.muli %[[S]], %c64
// CHECK: %[[K:.*]] = arith.addi %{{.*}}, %[[DISTANCE]]
// CHECK: %[[SLOT:.*]] = tile.ring_acquire %[[RING]][%[[S]]] bytes 24576
// CHECK-NEXT: tile.bulk_copy %{{.*}}[%{{.*}}, %[[K]]] into %[[B:.*]][%[[SLOT]]]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: tile.await_kernels
// CHECK: scf.for
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (index)
// CHECK: arith.cmpi uge, %[[S]], %[[EARLY]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: %[[SLOT:.*]] = tile.ring_acquire %[[RING]][%[[S]]] bytes 24576
// CHECK-NEXT: tile.bulk_copy %{{.*}}[%[[K]], %{{.*}}] into %[[A:.*]][%[[SLOT]]]
// CHECK-NEXT: tile.bulk_copy %{{.*}}[%{{.*}}, %[[K]]] into %[[B]][%[[SLOT]]]
// CHECK: arith.cmpi ult, %[[S]], %[[EARLY]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: tile.bulk_copy %{{.*}}[%[[K]], %{{.*}}] into %[[A]][%[[S]]]
// CHECK-NEXT: }
tile.kernel @weights(%a: !tile.buffer<f16, () -> (640, 512)>, %b: !tile.buffer<f16, () -> (512, 256)> {graph.constant},
                 %y: !tile.buffer<f32, () -> (640, 256)>)
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
  tile.store %sum, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf32> -> !tile.buffer<f32, () -> (640, 256)>
  tile.return
}

// -----

// Singles: three products of tf32 a step, which start from zero. Each four warps rewrite their rows of the left side,
// while the first product is at work.
// CHECK-LABEL: tile.kernel @singles
// CHECK-DAG: %[[A:.*]] = tile.shared_alloc offset 0 : <tensor<128x32xf32>, fast = 1, slots = 3>
// CHECK-DAG: %[[B:.*]] = tile.shared_alloc offset 0 : <tensor<32x64xf32>, fast = 1, slots = 3>
// CHECK-DAG: %[[LOWER:.*]] = tile.shared_alloc offset 0 : <tensor<128x32xf32>, fast = 1, slots = 2>
// CHECK: tile.roles attributes {elected = array<i1: false, true>, registers = array<i64: 240, 24>, warps = array<i64: 8, 4>} {
// CHECK: scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[STEP:.*]] = %{{.*}})
// CHECK: %[[SLOT:.*]] = tile.ring_wait %{{.*}}[%[[STEP]]]
// CHECK: %[[RIGHT:.*]] = tile.shared_load %[[B]][%[[SLOT]]]
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK: %[[LEFT:.*]] = tile.shared_read %[[A]][%[[SLOT]]]
// CHECK: %[[REST:.*]] = arith.subf %[[RIGHT]], %[[HIGH:.*]] :
// CHECK: %[[ONE:.*]] = tile.dot %[[LEFT]], %[[REST]], %[[ZERO]] {instruction = "wgmma.m64n64k8x4.tf32"}
// CHECK: %[[PLACE:.*]] = arith.remui %[[STEP]]
// CHECK: tile.shared_load %[[A]][%[[SLOT]]]
// CHECK: tile.shared_write %{{.*}}, %[[LOWER]][%[[PLACE]]]
// CHECK: tile.barrier warps 4
// CHECK: %[[LEFTREST:.*]] = tile.shared_read %[[LOWER]][%[[PLACE]]]
// CHECK: %[[TWO:.*]] = tile.dot %[[LEFTREST]], %[[HIGH]], %[[ONE]]
// CHECK: %[[THREE:.*]] = tile.dot %[[LEFT]], %[[HIGH]], %[[TWO]]
// CHECK: %[[DONE:.*]] = tile.dot_wait 0 of %[[THREE]]
// CHECK: arith.addf %[[SUM]], %[[DONE]]
// CHECK: tile.ring_release
tile.kernel @singles(%a: !tile.buffer<f32, () -> (256, 512)>, %b: !tile.buffer<f32, () -> (512, 64)>,
                     %y: !tile.buffer<f32, () -> (256, 64)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [128, 64], reduce = [32], warps = 8, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 128)(%p)
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %c512 step %c32 iter_args(%acc = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (256, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (256, 512)> -> tensor<128x32xf32>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (512, 64)> -> tensor<32x64xf32>
    %d = tile.dot %x, %w, %acc : tensor<128x32xf32>, tensor<32x64xf32>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %y[%m, %c0] bounds () -> (256, 64) map (d0, d1) -> (d0, d1) : tensor<128x64xf32> -> !tile.buffer<f32, () -> (256, 64)>
  tile.return
}

// -----

// One product of tf32: the left side is rounded, and the products go to the sums.
module attributes {tile.matmul_precision = "tf32"} {
// CHECK-LABEL: tile.kernel @rounded
// CHECK: scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[STEP:.*]] = %{{.*}})
// CHECK-COUNT-1: tile.dot {{.*}}, %[[SUM]] {instruction = "wgmma.m64n64k8x4.tf32"}
// CHECK-NOT: tile.dot {{.*}} {instruction
// CHECK: tile.dot_wait 0
tile.kernel @rounded(%a: !tile.buffer<f32, () -> (64, 64)>, %b: !tile.buffer<f32, () -> (64, 64)>,
                     %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 64)> -> tensor<64x32xf32>
    %w = tile.load %b[%k, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 64)> -> tensor<32x64xf32>
    %d = tile.dot %x, %w, %acc : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
}

// -----

// The same where both sides run along k: the copy engine rounds them, and products go on while the next step starts.
module attributes {tile.matmul_precision = "tf32"} {
// CHECK-LABEL: tile.kernel @roundedByEngine
// CHECK-COUNT-2: tile.tensor_map {{.*}} rounded : <f32
// CHECK: tile.dot {{.*}} {instruction = "wgmma.m64n64k8x4.tf32.rounded"}
// CHECK-NEXT: tile.dot_wait 1
tile.kernel @roundedByEngine(%a: !tile.buffer<f32, () -> (64, 64)>, %b: !tile.buffer<f32, () -> (64, 64)>,
                             %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 64)> -> tensor<64x32xf32>
    %w = tile.load %b[%k, %c0] bounds () -> (64, 64) map (d0, d1) -> (d1, d0) : !tile.buffer<f32, () -> (64, 64)> -> tensor<32x64xf32>
    %d = tile.dot %x, %w, %acc : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
}

// -----

// A left side that runs across k: its operands are split in registers, as fragments.
// CHECK-LABEL: tile.kernel @across
// CHECK-NOT: tile.roles
// CHECK: tile.dot {{.*}} {instruction = "mma.m16n8k8.tf32x3"}
// expected-remark@+2 {{its singles are split or rounded by the warps that multiply because its elements are no neighbours in memory}}
// expected-remark@+1 {{its copies are started by the warps that multiply because no instruction of the target reads its operands from shared memory}}
tile.kernel @across(%a: !tile.buffer<f32, () -> (64, 64)>, %b: !tile.buffer<f32, () -> (64, 64)>,
                    %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 64) map (d0, d1) -> (d1, d0) : !tile.buffer<f32, () -> (64, 64)> -> tensor<64x32xf32>
    %w = tile.load %b[%k, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 64)> -> tensor<32x64xf32>
    %d = tile.dot %x, %w, %acc : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// -----

// One slot: as above, and the instruction is another one.
// CHECK-LABEL: tile.kernel @oneSlot
// CHECK-NOT: tile.roles
// CHECK: tile.dot {{.*}} {instruction = "mma.m16n8k8.tf32x3"}
// expected-remark@+2 {{its singles are split or rounded by the warps that multiply because a slot is free only after the next step has started, so its ring needs two stages}}
// expected-remark@+1 {{its copies are started by the warps that multiply because no instruction of the target reads its operands from shared memory}}
tile.kernel @oneSlot(%a: !tile.buffer<f32, () -> (64, 64)>, %b: !tile.buffer<f32, () -> (64, 64)>,
                    %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 1, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 64)> -> tensor<64x32xf32>
    %w = tile.load %b[%k, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 64)> -> tensor<32x64xf32>
    %d = tile.dot %x, %w, %acc : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
