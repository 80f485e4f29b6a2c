// What blocks ask for when they start, so that their first copies find it in the second-level cache.
// RUN: tilewright-opt %s --split-input-file --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a},tilewright-place-ask-ahead{target=sm_90a}))" | FileCheck %s

// Two steps of 64: the first 128 elements of the left side's rows, and 128 rows of the right side.
// CHECK-LABEL: tile.kernel @inputs
// CHECK: tile.tensor_map %arg0 {{.*}} sizes () -> (512, 640) strides () -> (1, 512) ahead [128, 640] :
// CHECK: tile.tensor_map %arg1 {{.*}} sizes () -> (256, 512) strides () -> (1, 256) ahead [256, 128] :
tile.kernel @inputs(%a: !tile.buffer<f16, () -> (640, 512)> {graph.input}, %b: !tile.buffer<f16, () -> (512, 256)> {graph.input},
                    %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (640, 256)>
  tile.return
}

// -----

// Constants are there like inputs; a sum of less than two steps is asked for whole.
// CHECK-LABEL: tile.kernel @short
// CHECK: tile.tensor_map %arg0 {{.*}} ahead [72, 640] :
// CHECK: tile.tensor_map %arg1 {{.*}} ahead [256, 72] :
tile.kernel @short(%a: !tile.buffer<f16, () -> (640, 72)> {graph.input}, %b: !tile.buffer<f16, () -> (72, 256)> {graph.constant},
                    %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 72 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 72) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 72)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (72, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (72, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (640, 256)>
  tile.return
}

// -----

// The left side is what a kernel before computes.
// CHECK-LABEL: tile.kernel @awaited
// CHECK-NOT: ahead
// CHECK: tile.return
tile.kernel @awaited(%a: !tile.buffer<f16, () -> (640, 512)>, %b: !tile.buffer<f16, () -> (512, 256)> {graph.constant},
                    %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (640, 256)>
  tile.return
}

// -----

// 132 blocks take the programs of 300, and begin with 66 rows of tiles.
// CHECK-LABEL: tile.kernel @several
// CHECK: tile.tensor_map %arg0 {{.*}} sizes () -> (512, 9600) {{.*}} ahead [128, 4224] :
// CHECK: tile.tensor_map %arg1 {{.*}} ahead [256, 128] :
tile.kernel @several(%a: !tile.buffer<f16, () -> (9600, 512)> {graph.input}, %b: !tile.buffer<f16, () -> (512, 256)> {graph.input},
                    %y: !tile.buffer<f16, () -> (9600, 256)>)
    attributes {grid = affine_map<() -> (300, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (9600, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (9600, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (9600, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (9600, 256)>
  tile.return
}

// -----

// Without a sum there is nothing to ask for.
// CHECK-LABEL: tile.kernel @empty
// CHECK-NOT: ahead
// CHECK: tile.return
tile.kernel @empty(%a: !tile.buffer<f16, () -> (640, 0)> {graph.input}, %b: !tile.buffer<f16, () -> (0, 256)> {graph.constant},
                    %y: !tile.buffer<f16, () -> (640, 256)>)
    attributes {grid = affine_map<() -> (20, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 0 : index
  %p = tile.program_id 0
  %n = tile.size (d0) -> ((d0 mod 2) * 128)(%p)
  %m = tile.size (d0) -> ((d0 floordiv 2) * 64)(%p)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (640, 0) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (640, 0)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (0, 256) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (0, 256)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (640, 256) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (640, 256)>
  tile.return
}

// -----

// Down four rows at a time: 132 blocks begin with four of seven rows, and 33 of 40 columns.
// CHECK-LABEL: tile.kernel @ordered
// CHECK: tile.tensor_map %arg0 {{.*}} ahead [128, 256] :
// CHECK: tile.tensor_map %arg1 {{.*}} ahead [4224, 128] :
tile.kernel @ordered(%a: !tile.buffer<f16, () -> (448, 512)> {graph.input}, %b: !tile.buffer<f16, () -> (512, 5120)> {graph.input},
                    %y: !tile.buffer<f16, () -> (448, 5120)>)
    attributes {grid = affine_map<() -> (280, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %p = tile.program_id 0
  %q = tile.ordered_program %p rows () -> (7) columns () -> (40) group 4
  %n = tile.size (d0) -> ((d0 mod 40) * 128)(%q)
  %m = tile.size (d0) -> ((d0 floordiv 40) * 64)(%q)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (448, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (448, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 5120) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 5120)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (448, 5120) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (448, 5120)>
  tile.return
}

// -----

// A group with fewer rows than it may have: all three, and 44 of 60 columns.
// CHECK-LABEL: tile.kernel @low
// CHECK: tile.tensor_map %arg0 {{.*}} ahead [128, 192] :
// CHECK: tile.tensor_map %arg1 {{.*}} ahead [5632, 128] :
tile.kernel @low(%a: !tile.buffer<f16, () -> (192, 512)> {graph.input}, %b: !tile.buffer<f16, () -> (512, 7680)> {graph.input},
                    %y: !tile.buffer<f16, () -> (192, 7680)>)
    attributes {grid = affine_map<() -> (180, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 3, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 512 : index
  %p = tile.program_id 0
  %q = tile.ordered_program %p rows () -> (3) columns () -> (60) group 8
  %n = tile.size (d0) -> ((d0 mod 60) * 128)(%q)
  %m = tile.size (d0) -> ((d0 floordiv 60) * 64)(%q)
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %end step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %a[%m, %k] bounds () -> (192, 512) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (192, 512)> -> tensor<64x64xf16>
    %w = tile.load %b[%k, %n] bounds () -> (512, 7680) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (512, 7680)> -> tensor<64x128xf16>
    %d = tile.dot %x, %w, %acc : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %sum : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%m, %n] bounds () -> (192, 7680) map (d0, d1) -> (d0, d1) : tensor<64x128xf16> -> !tile.buffer<f16, () -> (192, 7680)>
  tile.return
}
