// A product's left side that is made of another product's result stays in registers: all warps are spread over rows, and
// a tile's layout follows from its shape. The queries are brought to shared memory once, before the loop.
// RUN: tilewright-opt %S/../attention.mlir --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a},tilewright-place-tiles{target=sm_90a})" | FileCheck %s --check-prefix=HOPPER
// RUN: tilewright-opt %S/../attention.mlir --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_80},tilewright-tile-emit{target=sm_80},tilewright-place-tiles{target=sm_80})" | FileCheck %s --check-prefixes=CHECK,AMPERE
// AMD's instructions of two steps do not take their own results, the one of one step does.
// RUN: tilewright-opt %S/../attention.mlir --pass-pipeline="builtin.module(tilewright-schedule-select{target=gfx942},tilewright-tile-emit{target=gfx942},tilewright-place-tiles{target=gfx942})" | FileCheck %s --check-prefix=AMD

// HOPPER: tile.kernel @attention
// HOPPER: tile.roles
// HOPPER: tile.dot {{.*}} {instruction = "wgmma.m64n64k16x4"}
// HOPPER-NEXT: tile.dot_wait 0
// HOPPER-NOT: tile.shared_write
// HOPPER: %[[HALF:.*]] = arith.truncf
// HOPPER: scf.yield {{.*}}%[[HALF]]

// CHECK: tile.kernel @attention
// CHECK: tile.shared_write
// CHECK-NEXT: tile.barrier
// CHECK: scf.for
// CHECK: tile.copy_wait
// AMPERE: tile.dot {{.*}} {instruction = "mma.m16n8k16"}
// CHECK-NOT: tile.shared_write
// CHECK: %[[HALF:.*]] = arith.truncf
// CHECK: tile.dot %[[HALF]], %{{.*}}, %{{.*}} {instruction
// CHECK: scf.yield
// AMD: tile.dot {{.*}} {instruction = "mfma.16x16x16"}
// AMD: tile.dot {{.*}} {instruction = "mfma.16x16x16"}
