// A row that is too long for a block is cut into shares for the blocks of a cluster, which give each other what they
// have reduced. What there is one of for each row, the first block stores.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-share-rows))" | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-share-rows,tilewright-place-share-rows,tilewright-place-share-sums{target=sm_90a}))" -o /dev/null 2>/dev/null
// RUN: tilewright-opt %s --split-input-file --tilewright-place-tiles=target=sm_90a -o /dev/null 2>/dev/null

// CHECK-LABEL: tile.kernel @softmax
// CHECK-SAME: grid = #[[GRID:.*]],
// CHECK: %[[P:.*]] = tile.program_id 0
// CHECK: %[[ROW:.*]] = tile.size (d0) -> (d0 floordiv 4)(%[[P]])
// CHECK: %[[PART:.*]] = tile.size (d0) -> (d0 mod 4)(%[[P]])
// CHECK: %[[FIRST:.*]] = tile.size (d0) -> (d0 * 2048)(%[[PART]])
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK: %[[X:.*]] = tile.load %arg0[%[[ROW]], %[[AT]]] {{.*}} -> tensor<1x2048xf32, #[[L:.*]]>
// CHECK: %[[OWN:.*]] = tile.reduce <max> %[[X]] dim 1
// CHECK: %[[MAX:.*]] = tile.part_reduce <max> %[[OWN]][%[[PART]]] of 4 : tensor<1x1xf32,
// CHECK: tile.broadcast %[[MAX]] : {{.*}} -> tensor<1x2048xf32, #[[L]]>
// CHECK: tile.reduce <sum>
// CHECK: tile.part_reduce <sum>
// CHECK: tile.store %{{.*}}, %arg1[%[[ROW]], %{{.*}}] {{.*}} : tensor<1x2048xf32, #[[L]]>
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[PART]], %c0
// CHECK-NEXT: scf.if %[[IS_FIRST]] {
// CHECK-NEXT: tile.store %[[MAX]], %arg2[%[[ROW]], %c0{{.*}}]
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
tile.kernel @softmax(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6, 8000)>, %m: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) fill 0xFF800000 : f32 : !tile.buffer<f32, () -> (6, 8000)> -> tensor<1x8192xf32>
  %max = tile.reduce <max> %v dim 1 : tensor<1x8192xf32> -> tensor<1x1xf32>
  %mb = tile.broadcast %max : tensor<1x1xf32> -> tensor<1x8192xf32>
  %d = arith.subf %v, %mb : tensor<1x8192xf32>
  %e = math.exp %d : tensor<1x8192xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<1x8192xf32> -> tensor<1x1xf32>
  %sb = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x8192xf32>
  %r = arith.divf %e, %sb : tensor<1x8192xf32>
  tile.store %r, %y[%p, %c0] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) : tensor<1x8192xf32> -> !tile.buffer<f32, () -> (6, 8000)>
  tile.store %max, %m[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @too_many
// CHECK-NOT: tile.part_reduce
// CHECK: tile.return
// expected-remark@+1 {{its rows are not shared because the target has no clusters of that many blocks}}
tile.kernel @too_many(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 16, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (6, 8000)> -> tensor<1x8192xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x8192xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @no_rows
// CHECK-NOT: tile.part_reduce
// CHECK: tile.return
// expected-remark@+1 {{its rows are not shared because it has no rows in registers}}
tile.kernel @no_rows(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (6, 8000)> -> tensor<1x1xf32>
  tile.store %v, %y[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @two_dimensions
// CHECK-NOT: tile.part_reduce
// CHECK: tile.return
// expected-remark@+1 {{its rows are not shared because it reduces several dimensions}}
tile.kernel @two_dimensions(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (6, 8000)> -> tensor<1x8192xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x8192xf32> -> tensor<1x1xf32>
  %t = tile.reduce <sum> %s dim 0 : tensor<1x1xf32> -> tensor<1x1xf32>
  tile.store %t, %y[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @two_rows
// CHECK-NOT: tile.part_reduce
// CHECK: tile.return
// expected-remark@+1 {{its rows are not shared because its programs have several rows each}}
tile.kernel @two_rows(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (6, 8000)> -> tensor<2x4096xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<2x4096xf32> -> tensor<2x1xf32>
  tile.store %s, %y[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<2x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @two_dimensions_of_programs
// CHECK-NOT: tile.part_reduce
// CHECK: tile.return
// expected-remark@+1 {{its rows are not shared because its grid has more than one dimension}}
tile.kernel @two_dimensions_of_programs(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 2, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (6, 8000)> -> tensor<1x8192xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x8192xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @loop
// CHECK-NOT: tile.part_reduce
// CHECK: tile.return
// expected-remark@+1 {{its rows are not shared because it does more than load, reduce, compute element by element, and store}}
tile.kernel @loop(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %end = arith.constant 8000 : index
  %step = arith.constant 4096 : index
  %zero = arith.constant dense<0.0> : tensor<1x4096xf32>
  %a = scf.for %j = %c0 to %end step %step iter_args(%sum = %zero) -> (tensor<1x4096xf32>) {
    %v = tile.load %x[%p, %j] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (6, 8000)> -> tensor<1x4096xf32>
    %b = arith.addf %sum, %v : tensor<1x4096xf32>
    scf.yield %b : tensor<1x4096xf32>
  }
  %s = tile.reduce <sum> %a dim 1 : tensor<1x4096xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @narrow
// CHECK-NOT: tile.part_reduce
// CHECK: tile.return
// expected-remark@+1 {{its rows are not shared because a share of its tile is not in the same registers of all threads}}
tile.kernel @narrow(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (6, 8000)> -> tensor<1x128xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x128xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @one_element
// CHECK-NOT: tile.part_reduce
// CHECK: tile.return
// expected-remark@+1 {{its rows are not shared because its rows have one element}}
tile.kernel @one_element(%x: !tile.buffer<f32, () -> (6, 8000)>, %y: !tile.buffer<f32, () -> (6)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [8192], warps = 4, parts = 4, clustered = true>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (6, 8000) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (6, 8000)> -> tensor<1x1xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x1xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%p, %c0] bounds () -> (6, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (6)>
  tile.return
}
