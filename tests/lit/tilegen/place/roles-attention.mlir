// Roles of a loop whose second product takes what is made of the first: a ring for the queries of a program, one for keys and one
// for values.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --tilewright-place-tiles=target=sm_90a | FileCheck %s
// The whole stage, because its first steps alone make no valid program: products that nobody waits for.
// Nothing of it where the target has no copy engine.
// RUN: tilewright-opt %s --split-input-file --tilewright-place-tiles=target=sm_80 | FileCheck %s --check-prefix=SM80
// SM80-NOT: tile.roles

// The loop is rotated: a step's scores are started before the mix of the step before, and waited for first. Blocks are persistent,
// and there are more programs than blocks: the queries of the next one come early.
// CHECK-LABEL: tile.kernel @rotated
// CHECK-SAME: grid = #[[GRID:.*]],
// CHECK-DAG: %[[Q:.*]] = tile.shared_alloc offset {{[0-9]+}} : <tensor<1x64x64xf16>, fast = 2, slots = 2>
// CHECK-DAG: %[[K:.*]] = tile.shared_alloc offset {{[0-9]+}} : <tensor<1x64x64xf16>, fast = 1, slots = 2>
// CHECK-DAG: %[[V:.*]] = tile.shared_alloc offset {{[0-9]+}} : <tensor<1x64x64xf16>, fast = 2, slots = 2>
// CHECK: %[[KEYS:.*]] = tile.ring_alloc offset {{[0-9]+}} : <slots = 2, releases = 4>
// CHECK: %[[QUERIES:.*]] = tile.ring_alloc offset {{[0-9]+}} : <slots = 2, releases = 4>
// CHECK: %[[VALUES:.*]] = tile.ring_alloc offset {{[0-9]+}} : <slots = 2, releases = 4>
// CHECK: tile.roles attributes {elected = array<i1: false, true>, registers = array<i64: 0, 0>, warps = array<i64: 4, 4>} {
// CHECK: scf.for %{{.*}} iter_args(%[[FIRST:.*]] = %{{.*}}, %[[PROGRAM:.*]] = %{{.*}}) -> (index, index) {
// CHECK: %[[QSLOT:.*]] = tile.ring_wait %[[QUERIES]][%[[PROGRAM]]]
// CHECK: tile.ring_wait %[[KEYS]][%[[FIRST]]]
// CHECK: %[[S0:.*]] = tile.dot
// CHECK: tile.dot_wait 0 of %[[S0]]
// CHECK: tile.ring_release %[[KEYS]][%[[FIRST]]]
// CHECK: %[[H0:.*]] = arith.truncf
// CHECK: %[[B0:.*]] = arith.mulf
// The second step to the last. Nothing is computed between the starts of both products.
// CHECK: scf.for {{.*}}, %[[HALF:[^ ]*]] = %[[H0]], %[[READY:[^ ]*]] = %[[B0]], %[[STEP:[^ ]*]] = %{{.*}}) -> (
// CHECK: %[[BEFORE:.*]] = arith.subi %[[STEP]]
// CHECK-NEXT: %[[KSLOT:.*]] = tile.ring_wait %[[KEYS]][%[[STEP]]]
// CHECK: tile.shared_read %[[Q]][%[[QSLOT]]]
// CHECK: tile.shared_read %[[K]][%[[KSLOT]]]
// CHECK: %[[S:.*]] = tile.dot
// CHECK-NEXT: %[[VSLOT:.*]] = tile.ring_wait %[[VALUES]][%[[BEFORE]]]
// CHECK-NEXT: tile.shared_read %[[V]][%[[VSLOT]]]
// CHECK-NEXT: %[[O:.*]] = tile.dot %[[HALF]], %{{.*}}, %[[READY]]
// CHECK-NEXT: tile.dot_wait 1 of %[[S]]
// CHECK-NEXT: tile.ring_release %[[KEYS]][%[[STEP]]]
// CHECK: tile.reduce
// CHECK: arith.truncf
// CHECK-NOT: arith.mulf
// CHECK: tile.dot_wait 0 of %[[O]]
// CHECK-NEXT: tile.ring_release %[[VALUES]][%[[BEFORE]]]
// CHECK-NEXT: arith.mulf
// The last mix. The queries are read no more.
// CHECK: tile.ring_release %[[QUERIES]][%[[PROGRAM]]]
// CHECK: tile.ring_wait %[[VALUES]]
// CHECK: tile.dot
// CHECK: tile.dot_wait 0
// CHECK: tile.ring_release %[[VALUES]]
// CHECK: tile.bulk_store
// CHECK: }, {
// CHECK: tile.ring_acquire %[[QUERIES]]{{.*}} bytes 8192
// CHECK: tile.bulk_copy
// CHECK: scf.for
// CHECK: tile.ring_acquire %[[KEYS]]{{.*}} bytes 8192
// CHECK: tile.bulk_copy
// CHECK: tile.ring_acquire %[[VALUES]]{{.*}} bytes 8192
// CHECK: tile.bulk_copy
tile.kernel @rotated(%x: !tile.buffer<f16, () -> (40, 512, 64)>, %keys: !tile.buffer<f16, () -> (40, 512, 64)>,
                 %values: !tile.buffer<f16, () -> (40, 512, 64)>, %y: !tile.buffer<f32, () -> (40, 512, 64)>)
    attributes {grid = affine_map<() -> (320, 1, 1)>,
                schedule = #tile.schedule<attention, tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %b = tile.size (d0) -> (d0 floordiv 8)(%p)
  %m = tile.size (d0) -> ((d0 mod 8) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %none = arith.constant dense<0.0> : tensor<1x64x1xf32>
  %q = tile.load %x[%b, %m, %c0] bounds () -> (40, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (40, 512, 64)> -> tensor<1x64x64xf16>
  %last:2 = scf.for %n = %c0 to %c512 step %c64 iter_args(%sum = %none, %mix = %zero) -> (tensor<1x64x1xf32>, tensor<1x64x64xf32>) {
    %k = tile.load %keys[%b, %c0, %n] bounds () -> (4, 64, 512) map (d0, d1, d2) -> (d0, d2, d1) : !tile.buffer<f16, () -> (40, 512, 64)> -> tensor<1x64x64xf16>
    %s = tile.dot %q, %k, %zero : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    %v = tile.load %values[%b, %n, %c0] bounds () -> (40, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (40, 512, 64)> -> tensor<1x64x64xf16>
    %t = tile.reduce <sum> %s dim 2 : tensor<1x64x64xf32> -> tensor<1x64x1xf32>
    %sums = arith.addf %sum, %t : tensor<1x64x1xf32>
    %ts = tile.broadcast %t : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
    %before = arith.mulf %mix, %ts : tensor<1x64x64xf32>
    %h = arith.truncf %s : tensor<1x64x64xf32> to tensor<1x64x64xf16>
    %o = tile.dot %h, %v, %before : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %sums, %o : tensor<1x64x1xf32>, tensor<1x64x64xf32>
  }
  %w = tile.broadcast %last#0 : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
  %r = arith.divf %last#1, %w : tensor<1x64x64xf32>
  tile.store %r, %y[%b, %m, %c0] bounds () -> (40, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (40, 512, 64)>
  tile.return
}

// -----

// Bounds that differ from program to program: a block takes one program. The first step may not be one, so it is a loop of at most
// one step.
// CHECK-LABEL: tile.kernel @window
// CHECK-SAME: grid = #[[GRID:.*]],
// CHECK: tile.roles
// CHECK-NEXT: %[[BLOCK:.*]] = tile.program_id 0
// CHECK: tile.size (d0) -> (d0 floordiv 8)(%[[BLOCK]])
// CHECK: %[[ANY:.*]] = arith.cmpi sgt
// CHECK: %[[TIMES:.*]] = arith.select %[[ANY]]
// CHECK: scf.for %{{.*}} to %[[TIMES]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.store
// CHECK: }, {
// CHECK: tile.bulk_copy
// CHECK: scf.for
tile.kernel @window(%x: !tile.buffer<f16, () -> (4, 512, 64)>, %keys: !tile.buffer<f16, () -> (4, 512, 64)>,
                 %values: !tile.buffer<f16, () -> (4, 512, 64)>, %y: !tile.buffer<f32, () -> (4, 512, 64)>)
    attributes {grid = affine_map<() -> (32, 1, 1)>,
                schedule = #tile.schedule<attention, tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %b = tile.size (d0) -> (d0 floordiv 8)(%p)
  %m = tile.size (d0) -> ((d0 mod 8) * 64)(%p)
  %ahead = tile.size (d0) -> (d0 + 64)(%m)
  %end = arith.minsi %ahead, %c512 : index
  %first = arith.maxsi %m, %c64 : index
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %none = arith.constant dense<0.0> : tensor<1x64x1xf32>
  %q = tile.load %x[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
  %last:2 = scf.for %n = %first to %end step %c64 iter_args(%sum = %none, %mix = %zero) -> (tensor<1x64x1xf32>, tensor<1x64x64xf32>) {
    %k = tile.load %keys[%b, %c0, %n] bounds () -> (4, 64, 512) map (d0, d1, d2) -> (d0, d2, d1) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
    %s = tile.dot %q, %k, %zero : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    %v = tile.load %values[%b, %n, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
    %t = tile.reduce <sum> %s dim 2 : tensor<1x64x64xf32> -> tensor<1x64x1xf32>
    %sums = arith.addf %sum, %t : tensor<1x64x1xf32>
    %ts = tile.broadcast %t : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
    %before = arith.mulf %mix, %ts : tensor<1x64x64xf32>
    %h = arith.truncf %s : tensor<1x64x64xf32> to tensor<1x64x64xf16>
    %o = tile.dot %h, %v, %before : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %sums, %o : tensor<1x64x1xf32>, tensor<1x64x64xf32>
  }
  %w = tile.broadcast %last#0 : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
  %r = arith.divf %last#1, %w : tensor<1x64x64xf32>
  tile.store %r, %y[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (4, 512, 64)>
  tile.return
}

// -----

// Queries that are computed: the warps that multiply write them, between barriers of their own.
// CHECK-LABEL: tile.kernel @scaled
// CHECK: %[[Q:.*]] = tile.shared_alloc offset {{[0-9]+}} : <tensor<1x64x64xf16>, fast = 2, slots = 1>
// CHECK: tile.roles
// CHECK: scf.for
// CHECK: %[[SCALED:.*]] = arith.mulf
// CHECK: tile.barrier
// CHECK-NEXT: tile.shared_write %[[SCALED]], %[[Q]]
// CHECK-NEXT: tile.barrier
// CHECK: tile.dot
// CHECK: }, {
// CHECK-NOT: tile.load
tile.kernel @scaled(%x: !tile.buffer<f16, () -> (4, 512, 64)>, %keys: !tile.buffer<f16, () -> (4, 512, 64)>,
                 %values: !tile.buffer<f16, () -> (4, 512, 64)>, %y: !tile.buffer<f32, () -> (4, 512, 64)>)
    attributes {grid = affine_map<() -> (32, 1, 1)>,
                schedule = #tile.schedule<attention, tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %b = tile.size (d0) -> (d0 floordiv 8)(%p)
  %m = tile.size (d0) -> ((d0 mod 8) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %none = arith.constant dense<0.0> : tensor<1x64x1xf32>
  %raw = tile.load %x[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
  %scale = arith.constant dense<0.125> : tensor<1x64x64xf16>
  %q = arith.mulf %raw, %scale : tensor<1x64x64xf16>
  %last:2 = scf.for %n = %c0 to %c512 step %c64 iter_args(%sum = %none, %mix = %zero) -> (tensor<1x64x1xf32>, tensor<1x64x64xf32>) {
    %k = tile.load %keys[%b, %c0, %n] bounds () -> (4, 64, 512) map (d0, d1, d2) -> (d0, d2, d1) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
    %s = tile.dot %q, %k, %zero : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    %v = tile.load %values[%b, %n, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
    %t = tile.reduce <sum> %s dim 2 : tensor<1x64x64xf32> -> tensor<1x64x1xf32>
    %sums = arith.addf %sum, %t : tensor<1x64x1xf32>
    %ts = tile.broadcast %t : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
    %before = arith.mulf %mix, %ts : tensor<1x64x64xf32>
    %h = arith.truncf %s : tensor<1x64x64xf32> to tensor<1x64x64xf16>
    %o = tile.dot %h, %v, %before : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %sums, %o : tensor<1x64x1xf32>, tensor<1x64x64xf32>
  }
  %w = tile.broadcast %last#0 : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
  %r = arith.divf %last#1, %w : tensor<1x64x64xf32>
  tile.store %r, %y[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (4, 512, 64)>
  tile.return
}

// -----

// Refused, and said: keys that are computed.
// CHECK-LABEL: tile.kernel @computed
// CHECK-NOT: tile.roles
// expected-remark@+1 {{its copies are started by the warps that multiply because its operands are computed, not copied}}
tile.kernel @computed(%x: !tile.buffer<f16, () -> (4, 512, 64)>, %keys: !tile.buffer<f16, () -> (4, 512, 64)>,
                 %values: !tile.buffer<f16, () -> (4, 512, 64)>, %y: !tile.buffer<f32, () -> (4, 512, 64)>)
    attributes {grid = affine_map<() -> (32, 1, 1)>,
                schedule = #tile.schedule<attention, tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %b = tile.size (d0) -> (d0 floordiv 8)(%p)
  %m = tile.size (d0) -> ((d0 mod 8) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %none = arith.constant dense<0.0> : tensor<1x64x1xf32>
  %q = tile.load %x[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
  %last:2 = scf.for %n = %c0 to %c512 step %c64 iter_args(%sum = %none, %mix = %zero) -> (tensor<1x64x1xf32>, tensor<1x64x64xf32>) {
    %k = tile.load %keys[%b, %c0, %n] bounds () -> (4, 64, 512) map (d0, d1, d2) -> (d0, d2, d1) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
    %two = arith.constant dense<2.0> : tensor<1x64x64xf16>
    %kk = arith.mulf %k, %two : tensor<1x64x64xf16>
    %s = tile.dot %q, %kk, %zero : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    %v = tile.load %values[%b, %n, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
    %t = tile.reduce <sum> %s dim 2 : tensor<1x64x64xf32> -> tensor<1x64x1xf32>
    %sums = arith.addf %sum, %t : tensor<1x64x1xf32>
    %ts = tile.broadcast %t : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
    %before = arith.mulf %mix, %ts : tensor<1x64x64xf32>
    %h = arith.truncf %s : tensor<1x64x64xf32> to tensor<1x64x64xf16>
    %o = tile.dot %h, %v, %before : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %sums, %o : tensor<1x64x1xf32>, tensor<1x64x64xf32>
  }
  %w = tile.broadcast %last#0 : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
  %r = arith.divf %last#1, %w : tensor<1x64x64xf32>
  tile.store %r, %y[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (4, 512, 64)>
  tile.return
}

// -----

// Keys that every step reads again.
// CHECK-LABEL: tile.kernel @same
// CHECK-NOT: tile.roles
// expected-remark@+1 {{its copies are started by the warps that multiply because a product reads the same in every step}}
tile.kernel @same(%x: !tile.buffer<f16, () -> (4, 512, 64)>, %keys: !tile.buffer<f16, () -> (4, 512, 64)>,
                 %values: !tile.buffer<f16, () -> (4, 512, 64)>, %y: !tile.buffer<f32, () -> (4, 512, 64)>)
    attributes {grid = affine_map<() -> (32, 1, 1)>,
                schedule = #tile.schedule<attention, tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %b = tile.size (d0) -> (d0 floordiv 8)(%p)
  %m = tile.size (d0) -> ((d0 mod 8) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %none = arith.constant dense<0.0> : tensor<1x64x1xf32>
  %q = tile.load %x[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
  %k = tile.load %keys[%b, %c0, %c0] bounds () -> (4, 64, 512) map (d0, d1, d2) -> (d0, d2, d1) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
  %last:2 = scf.for %n = %c0 to %c512 step %c64 iter_args(%sum = %none, %mix = %zero) -> (tensor<1x64x1xf32>, tensor<1x64x64xf32>) {
    %s = tile.dot %q, %k, %zero : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    %v = tile.load %values[%b, %n, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
    %t = tile.reduce <sum> %s dim 2 : tensor<1x64x64xf32> -> tensor<1x64x1xf32>
    %sums = arith.addf %sum, %t : tensor<1x64x1xf32>
    %ts = tile.broadcast %t : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
    %before = arith.mulf %mix, %ts : tensor<1x64x64xf32>
    %h = arith.truncf %s : tensor<1x64x64xf32> to tensor<1x64x64xf16>
    %o = tile.dot %h, %v, %before : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %sums, %o : tensor<1x64x1xf32>, tensor<1x64x64xf32>
  }
  %w = tile.broadcast %last#0 : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
  %r = arith.divf %last#1, %w : tensor<1x64x64xf32>
  tile.store %r, %y[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (4, 512, 64)>
  tile.return
}

// -----

// Keys whose rows are not aligned.
// CHECK-LABEL: tile.kernel @odd
// CHECK-NOT: tile.roles
// expected-remark@+1 {{its copies are started by the warps that multiply because a stride is no multiple of 16 bytes, or not known to be one}}
tile.kernel @odd(%x: !tile.buffer<f16, () -> (4, 512, 64)>, %keys: !tile.buffer<f16, () -> (4, 512, 68)>,
                 %values: !tile.buffer<f16, () -> (4, 512, 64)>, %y: !tile.buffer<f32, () -> (4, 512, 64)>)
    attributes {grid = affine_map<() -> (32, 1, 1)>,
                schedule = #tile.schedule<attention, tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %p = tile.program_id 0
  %b = tile.size (d0) -> (d0 floordiv 8)(%p)
  %m = tile.size (d0) -> ((d0 mod 8) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %none = arith.constant dense<0.0> : tensor<1x64x1xf32>
  %q = tile.load %x[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
  %last:2 = scf.for %n = %c0 to %c512 step %c64 iter_args(%sum = %none, %mix = %zero) -> (tensor<1x64x1xf32>, tensor<1x64x64xf32>) {
    %k = tile.load %keys[%b, %c0, %n] bounds () -> (4, 64, 512) map (d0, d1, d2) -> (d0, d2, d1) : !tile.buffer<f16, () -> (4, 512, 68)> -> tensor<1x64x64xf16>
    %s = tile.dot %q, %k, %zero : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    %v = tile.load %values[%b, %n, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f16, () -> (4, 512, 64)> -> tensor<1x64x64xf16>
    %t = tile.reduce <sum> %s dim 2 : tensor<1x64x64xf32> -> tensor<1x64x1xf32>
    %sums = arith.addf %sum, %t : tensor<1x64x1xf32>
    %ts = tile.broadcast %t : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
    %before = arith.mulf %mix, %ts : tensor<1x64x64xf32>
    %h = arith.truncf %s : tensor<1x64x64xf32> to tensor<1x64x64xf16>
    %o = tile.dot %h, %v, %before : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %sums, %o : tensor<1x64x1xf32>, tensor<1x64x64xf32>
  }
  %w = tile.broadcast %last#0 : tensor<1x64x1xf32> -> tensor<1x64x64xf32>
  %r = arith.divf %last#1, %w : tensor<1x64x64xf32>
  tile.store %r, %y[%b, %m, %c0] bounds () -> (4, 512, 64) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (4, 512, 64)>
  tile.return
}
