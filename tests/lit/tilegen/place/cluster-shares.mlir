// The programs of a tile are a cluster: each finishes a share of the tile, and all that stands behind the products has
// a share's size.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-share-sums{target=sm_90a}))" | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-place-tiles=target=sm_90a -o /dev/null

// Columns are cut; a row's bias and a constant too, but not what each row has one of.
// CHECK-LABEL: tile.kernel @columns
// CHECK-SAME: grid = #[[GRID:.*]],
// CHECK: %[[P:.*]] = tile.program_id 0
// CHECK: %[[TILE:.*]] = tile.size (d0) -> (d0 floordiv 4)(%[[P]])
// CHECK: %[[PART:.*]] = tile.size (d0) -> (d0 mod 4)(%[[P]])
// CHECK-NOT: tile.workspace
// CHECK: %[[N:.*]] = tile.size (d0) -> (d0 * 64)(%[[TILE]])
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[SHARE:.*]] = tile.part_sum %[[SUM]][%[[PART]]] of 4 : tensor<64x64xf32, {{.*}}> -> tensor<64x16xf32, #[[L:.*]]>
// CHECK: %[[D0:.*]] = tile.size (d0) -> (d0 * 16)(%[[PART]])
// CHECK: %[[N0:.*]] = arith.addi %[[N]], %[[D0]]
// CHECK: %[[BIAS:.*]] = tile.load %{{.*}}[%c0{{.*}}, %[[N0]]] {{.*}} -> tensor<1x16xf32,
// CHECK: %[[ROW:.*]] = tile.load %{{.*}}[%c0{{.*}}, %c0{{.*}}] {{.*}} -> tensor<64x1xf32,
// CHECK: tile.broadcast %[[BIAS]] : {{.*}} -> tensor<64x16xf32, #[[L]]>
// CHECK: tile.broadcast %[[ROW]] : {{.*}} -> tensor<64x16xf32, #[[L]]>
// CHECK: tile.coordinate %{{.*}} dim 1 : tensor<64x16xi64, #[[L]]>
// CHECK: tile.coordinate %c0{{.*}} dim 0 : tensor<64x16xi64, #[[L]]>
// CHECK: %[[TWO:.*]] = arith.constant dense<2.0{{.*}}> : tensor<64x16xf32, #[[L]]>
// CHECK: arith.mulf %{{.*}}, %[[TWO]] : tensor<64x16xf32, #[[L]]>
// CHECK: tile.store %{{.*}}, %{{.*}}[%c0{{.*}}, %{{.*}}] {{.*}} : tensor<64x16xf32, #[[L]]>
tile.kernel @columns(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 128)>,
                     %c: !tile.buffer<f32, () -> (128)>, %r: !tile.buffer<f32, () -> (64)>,
                     %y: !tile.buffer<f32, () -> (64, 128)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 3, groups = 1, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %n = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %end = arith.constant 512 : index
  %step = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %two = arith.constant dense<2.0> : tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 128) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 128)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %bias = tile.load %c[%c0, %n] bounds () -> (1, 128) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> (128)> -> tensor<1x64xf32>
  %row = tile.load %r[%c0, %c0] bounds () -> (64, 1) map (d0, d1) -> (d0) : !tile.buffer<f32, () -> (64)> -> tensor<64x1xf32>
  %biases = tile.broadcast %bias : tensor<1x64xf32> -> tensor<64x64xf32>
  %rows = tile.broadcast %row : tensor<64x1xf32> -> tensor<64x64xf32>
  %j = tile.coordinate %n dim 1 : tensor<64x64xi64>
  %i = tile.coordinate %c0 dim 0 : tensor<64x64xi64>
  %isLater = arith.cmpi sgt, %j, %i : tensor<64x64xi64>
  %either = arith.select %isLater, %biases, %rows : tensor<64x64xi1>, tensor<64x64xf32>
  %twice = arith.mulf %acc, %two : tensor<64x64xf32>
  %sum = arith.addf %twice, %either : tensor<64x64xf32>
  tile.store %sum, %y[%c0, %n] bounds () -> (64, 128) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 128)>
  tile.return
}

// -----

// Warps share out the columns, so rows are cut.
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.part_sum {{.*}} of 2 : tensor<16x64xf32, {{.*}}> -> tensor<8x64xf32,
// CHECK: %[[D:.*]] = tile.size (d0) -> (d0 * 8)
// CHECK: %[[M:.*]] = arith.addi %c0{{.*}}, %[[D]]
// CHECK: tile.store %{{.*}}[%[[M]], %c0
tile.kernel @rows(%a: !tile.buffer<f16, () -> (16, 512)>, %b: !tile.buffer<f16, () -> (512, 64)>,
                  %y: !tile.buffer<f32, () -> (16, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 3, parts = 2, clustered = true>} {
  %c0 = arith.constant 0 : index
  %end = arith.constant 512 : index
  %step = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%s = %zero) -> (tensor<16x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (16, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (16, 512)> -> tensor<16x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %s : tensor<16x64xf16>, tensor<64x64xf16>, tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tile.store %acc, %y[%c0, %c0] bounds () -> (16, 64) map (d0, d1) -> (d0, d1) : tensor<16x64xf32> -> !tile.buffer<f32, () -> (16, 64)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @many
// CHECK: tile.part_arrive
// expected-remark@+1 {{its parts meet in global memory because a share of its tile is not in the same registers of all threads}}
tile.kernel @many(%a: !tile.buffer<f16, () -> (16, 512)>, %b: !tile.buffer<f16, () -> (512, 64)>,
                  %y: !tile.buffer<f32, () -> (16, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 3, parts = 8, clustered = true>} {
  %c0 = arith.constant 0 : index
  %end = arith.constant 512 : index
  %step = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%s = %zero) -> (tensor<16x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (16, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (16, 512)> -> tensor<16x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %s : tensor<16x64xf16>, tensor<64x64xf16>, tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tile.store %acc, %y[%c0, %c0] bounds () -> (16, 64) map (d0, d1) -> (d0, d1) : tensor<16x64xf32> -> !tile.buffer<f32, () -> (16, 64)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @reduced
// CHECK: tile.part_arrive
// expected-remark@+1 {{its parts meet in global memory because what follows its products does more than load, compute element by element, and store}}
tile.kernel @reduced(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 64)>,
                     %y: !tile.buffer<f32, () -> (64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 3, parts = 2, clustered = true>} {
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
  %most = tile.reduce <max> %acc dim 1 : tensor<64x64xf32> -> tensor<64x1xf32>
  tile.store %most, %y[%c0, %c0] bounds () -> (64, 1) map (d0, d1) -> (d0) : tensor<64x1xf32> -> !tile.buffer<f32, () -> (64)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @before
// CHECK: tile.part_arrive
// expected-remark@+1 {{its parts meet in global memory because what follows its products reads a tile from before them}}
tile.kernel @before(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 64)>,
                    %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 3, parts = 2, clustered = true>} {
  %c0 = arith.constant 0 : index
  %end = arith.constant 512 : index
  %step = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.load %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 64)> -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %end step %step iter_args(%s = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %a[%c0, %k] bounds () -> (64, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (64, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (512, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %s : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %sum = arith.addf %acc, %r : tensor<64x64xf32>
  tile.store %sum, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @groups
// CHECK: tile.part_arrive
// expected-remark@+1 {{its parts meet in global memory because two groups of warps multiply}}
tile.kernel @groups(%a: !tile.buffer<f16, () -> (64, 512)>, %b: !tile.buffer<f16, () -> (512, 64)>,
                    %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 3, groups = 2, parts = 2, clustered = true>} {
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
  tile.store %acc, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
}
