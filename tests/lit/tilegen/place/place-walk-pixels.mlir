// Windows whose pixels the copy engine walks.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tile.kernel(tilewright-place-assign-layouts{target=sm_90a},tilewright-place-assign-roles{target=sm_90a}))" | FileCheck %s

// Windows whose rows are runs of pixels of eight elements, two pixels apart: runs overlap in memory, and the last ends with its image's row.
// CHECK-LABEL: tile.kernel @runs
// CHECK: tile.tensor_map %arg0 start () -> (0) sizes () -> (64, 11, 9, 3) strides () -> (1, 16, 224, 2016) pixels [0, 0] to [0, -3] step [1, 1] : <f16, () -> (3, 9, 224)> -> <f16, [64, 64, 1, 1]>
// CHECK: tile.bulk_copy %{{.*}} plus[%{{.*}}, %{{.*}}] into
tile.kernel @runs(%x: !tile.buffer<f16, () -> (3, 9, 224)>, %f: !tile.buffer<f16, () -> (4, 64, 64)>,
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

// -----

// Windows of 2x2, of which the last row and column may lie outside of the image. A run of both columns would end beyond
// its line, so a pixel has 64 channels, and the column of the window is added to it.
// CHECK-LABEL: tile.kernel @beyond
// CHECK: tile.tensor_map %arg0 start () -> (0) sizes () -> (64, 9, 8, 2) strides () -> (1, 64, 576, 4608) pixels [0, 0] to [0, 0] step [1, 1] : <f16, () -> (2, 8, 576)> -> <f16, [64, 64, 1, 1]>
// CHECK: tile.size (d0, d1, d2) -> (d2 floordiv 64)
tile.kernel @beyond(%x: !tile.buffer<f16, () -> (2, 8, 576)>, %f: !tile.buffer<f16, () -> (2, 128, 64)>,
                    %y: !tile.buffer<f32, () -> (144, 64)>)
    attributes {grid = affine_map<() -> (3, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [1, 64], warps = 4, stages = 3, groups = 1>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %sum = scf.for %t = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<1x64x64xf32>) {
    %ky = tile.size (d0) -> (d0 floordiv 2)(%t)
    %k = tile.size (d0) -> ((d0 mod 2) * 64)(%t)
    %a = tile.load %x[%ky, %m, %k] bounds () -> (2, 144, 128)
        map (d0, d1, d2) -> (d1 floordiv 72, d0 + (d1 floordiv 9) mod 8, d2 + (d1 mod 9) * 64) guard [1, 2] fill 0.0 : f16
        : !tile.buffer<f16, () -> (2, 8, 576)> -> tensor<1x64x64xf16>
    %b = tile.load %f[%ky, %k, %c0] bounds () -> (2, 128, 64) map (d0, d1, d2) -> (d0, d1, d2)
        : !tile.buffer<f16, () -> (2, 128, 64)> -> tensor<1x64x64xf16>
    %d = tile.dot %a, %b, %acc : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %d : tensor<1x64x64xf32>
  }
  tile.store %sum, %y[%c0, %m, %c0] bounds () -> (1, 144, 64) map (d0, d1, d2) -> (d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (144, 64)>
  tile.return
}

// -----

// Groups of 64 channels are the channels of a pixel.
// CHECK-LABEL: tile.kernel @groups
// CHECK: tile.tensor_map %arg0 start () -> (0) sizes () -> (192, 8, 9, 2) strides () -> (1, 192, 1536, 13824) pixels [-1, 0] to [-1, -2] step [1, 1] : <f16, () -> (2, 9, 8, 3, 64)> -> <f16, [64, 64, 1, 1]>
// CHECK: tile.size (d0, d1, d2, d3) -> (d0 * 64 + d3)
tile.kernel @groups(%x: !tile.buffer<f16, () -> (2, 9, 8, 3, 64)>, %f: !tile.buffer<f16, () -> (3, 9, 64, 64)>,
                    %y: !tile.buffer<f32, () -> (3, 112, 64)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [1, 64, 64], reduce = [1, 64], warps = 4, stages = 3, groups = 1>} {
  %p = tile.program_id 0
  %g = tile.size (d0) -> (d0 floordiv 2)(%p)
  %m = tile.size (d0) -> ((d0 mod 2) * 64)(%p)
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x1x64x64xf32>
  %sum = scf.for %t = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<1x1x64x64xf32>) {
    %a = tile.load %x[%g, %t, %m, %c0] bounds () -> (3, 9, 112, 64)
        map (d0, d1, d2, d3) -> (d2 floordiv 56, d1 floordiv 3 + (d2 floordiv 8) mod 7, d1 mod 3 + d2 mod 8 - 1, d0, d3) guard [2] fill 0.0 : f16
        : !tile.buffer<f16, () -> (2, 9, 8, 3, 64)> -> tensor<1x1x64x64xf16>
    %b = tile.load %f[%g, %t, %c0, %c0] bounds () -> (3, 9, 64, 64) map (d0, d1, d2, d3) -> (d0, d1, d2, d3)
        : !tile.buffer<f16, () -> (3, 9, 64, 64)> -> tensor<1x1x64x64xf16>
    %d = tile.dot %a, %b, %acc : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf32>
    scf.yield %d : tensor<1x1x64x64xf32>
  }
  tile.store %sum, %y[%g, %c0, %m, %c0] bounds () -> (3, 1, 112, 64) map (d0, d1, d2, d3) -> (d0, d2, d3) : tensor<1x1x64x64xf32> -> !tile.buffer<f32, () -> (3, 112, 64)>
  tile.return
}

// -----

// Windows of an image whose channels come last, of two by three elements: the engine walks the image's pixels by steps of two, from one row above it.
// CHECK-LABEL: tile.kernel @pixels
// CHECK: tile.tensor_map %arg0 start () -> (0) sizes () -> (128, 12, 10, 3) strides () -> (1, 128, 1536, 15360) pixels [-1, -1] to [-2, 0] step [2, 2] : <f16, () -> (3, 10, 1536)> -> <f16, [64, 64, 1, 1]>
// CHECK: tile.size (d0, d1, d2) -> (d2 mod 128)
// CHECK: tile.size (d0, d1, d2) -> ((d1 mod 6) * 2 - 1)
// CHECK: tile.size (d0, d1, d2) -> (((d1 floordiv 6) mod 6) * 2 - 1)
// CHECK: tile.size (d0, d1, d2) -> (d1 floordiv 36)
// CHECK: tile.size (d0, d1, d2) -> (d2 floordiv 128)
// CHECK: tile.bulk_copy %{{.*}} plus[%{{.*}}, %{{.*}}] into
tile.kernel @pixels(%x: !tile.buffer<f16, () -> (3, 10, 1536)>, %f: !tile.buffer<f16, () -> (2, 384, 64)>,
                    %y: !tile.buffer<f32, () -> (108, 64)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [1, 64], warps = 4, stages = 3, groups = 1>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %sum = scf.for %t = %c0 to %c12 step %c1 iter_args(%acc = %zero) -> (tensor<1x64x64xf32>) {
    %ky = tile.size (d0) -> (d0 floordiv 6)(%t)
    %k = tile.size (d0) -> ((d0 mod 6) * 64)(%t)
    %a = tile.load %x[%ky, %m, %k] bounds () -> (2, 108, 384)
        map (d0, d1, d2) -> (d1 floordiv 36, d0 + ((d1 floordiv 6) mod 6) * 2 - 1, d2 + (d1 mod 6) * 256 - 128) guard [1, 2] fill 0.0 : f16
        : !tile.buffer<f16, () -> (3, 10, 1536)> -> tensor<1x64x64xf16>
    %b = tile.load %f[%ky, %k, %c0] bounds () -> (2, 384, 64) map (d0, d1, d2) -> (d0, d1, d2)
        : !tile.buffer<f16, () -> (2, 384, 64)> -> tensor<1x64x64xf16>
    %d = tile.dot %a, %b, %acc : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %d : tensor<1x64x64xf32>
  }
  tile.store %sum, %y[%c0, %m, %c0] bounds () -> (1, 108, 64) map (d0, d1, d2) -> (d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (108, 64)>
  tile.return
}

// -----

// Windows of a volume, of two by two by three elements.
// CHECK-LABEL: tile.kernel @volume
// CHECK: tile.tensor_map %arg0 start () -> (0) sizes () -> (64, 12, 10, 5, 2) strides () -> (1, 64, 768, 7680, 38400) pixels [-1, -1, 0] to [-1, -2, -1] step [1, 2, 1] : <f16, () -> (2, 5, 10, 768)> -> <f16, [64, 64, 1, 1, 1]>
// CHECK: tile.size (d0, d1, d2, d3) -> (d3 mod 64)
// CHECK: tile.size (d0, d1, d2, d3) -> (d2 mod 12 - 1)
// CHECK: tile.size (d0, d1, d2, d3) -> (((d2 floordiv 12) mod 5) * 2 - 1)
// CHECK: tile.size (d0, d1, d2, d3) -> ((d2 floordiv 60) mod 4)
// CHECK: tile.size (d0, d1, d2, d3) -> (d2 floordiv 240)
// CHECK: tile.bulk_copy %{{.*}} plus[%{{.*}}, %{{.*}}, %{{.*}}] into
tile.kernel @volume(%x: !tile.buffer<f16, () -> (2, 5, 10, 768)>, %f: !tile.buffer<f16, () -> (2, 2, 192, 64)>,
                    %y: !tile.buffer<f32, () -> (480, 64)>)
    attributes {grid = affine_map<() -> (8, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [1, 1, 64], warps = 4, stages = 3, groups = 1>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x1x64x64xf32>
  %sum = scf.for %t = %c0 to %c12 step %c1 iter_args(%acc = %zero) -> (tensor<1x1x64x64xf32>) {
    %kz = tile.size (d0) -> (d0 floordiv 6)(%t)
    %ky = tile.size (d0) -> ((d0 floordiv 3) mod 2)(%t)
    %k = tile.size (d0) -> ((d0 mod 3) * 64)(%t)
    %a = tile.load %x[%kz, %ky, %m, %k] bounds () -> (2, 2, 480, 192)
        map (d0, d1, d2, d3) -> (d2 floordiv 240, d0 + (d2 floordiv 60) mod 4, d1 + ((d2 floordiv 12) mod 5) * 2 - 1, d3 + (d2 mod 12) * 64 - 64) guard [2, 3] fill 0.0 : f16
        : !tile.buffer<f16, () -> (2, 5, 10, 768)> -> tensor<1x1x64x64xf16>
    %b = tile.load %f[%kz, %ky, %k, %c0] bounds () -> (2, 2, 192, 64) map (d0, d1, d2, d3) -> (d0, d1, d2, d3)
        : !tile.buffer<f16, () -> (2, 2, 192, 64)> -> tensor<1x1x64x64xf16>
    %d = tile.dot %a, %b, %acc : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16>, tensor<1x1x64x64xf32>
    scf.yield %d : tensor<1x1x64x64xf32>
  }
  tile.store %sum, %y[%c0, %c0, %m, %c0] bounds () -> (1, 1, 480, 64) map (d0, d1, d2, d3) -> (d2, d3) : tensor<1x1x64x64xf32> -> !tile.buffer<f32, () -> (480, 64)>
  tile.return
}

// -----

// Windows of three elements along z alone: a volume of five planes of 20x21 is a row of 2,100 pixels, in which elements are a plane apart.
// CHECK-LABEL: tile.kernel @along_z
// CHECK: tile.tensor_map %arg0 start () -> (0) sizes () -> (64, 2100, 2) strides () -> (1, 64, 134400) pixels [-420] to [-420] step [1] : <f16, () -> (2, 2100, 64)> -> <f16, [64, 64, 1]>
// CHECK: tile.size (d0, d1, d2) -> (d1 mod 2100 - 420)
// CHECK: tile.size (d0, d1, d2) -> (d1 floordiv 2100)
// CHECK: tile.size (d0, d1, d2) -> (d0 * 420)
// CHECK: tile.bulk_copy %{{.*}} plus[%{{.*}}] into
tile.kernel @along_z(%x: !tile.buffer<f16, () -> (2, 2100, 64)>, %f: !tile.buffer<f16, () -> (3, 64, 64)>,
                     %y: !tile.buffer<f32, () -> (4200, 64)>)
    attributes {grid = affine_map<() -> (66, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [1, 64], warps = 4, stages = 3, groups = 1>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %sum = scf.for %kz = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> (tensor<1x64x64xf32>) {
    %a = tile.load %x[%kz, %m, %c0] bounds () -> (3, 4200, 64)
        map (d0, d1, d2) -> (d1 floordiv 2100, d0 * 420 + d1 mod 2100 - 420, d2) guard [1] fill 0.0 : f16
        : !tile.buffer<f16, () -> (2, 2100, 64)> -> tensor<1x64x64xf16>
    %b = tile.load %f[%kz, %c0, %c0] bounds () -> (3, 64, 64) map (d0, d1, d2) -> (d0, d1, d2)
        : !tile.buffer<f16, () -> (3, 64, 64)> -> tensor<1x64x64xf16>
    %d = tile.dot %a, %b, %acc : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %d : tensor<1x64x64xf32>
  }
  tile.store %sum, %y[%c0, %m, %c0] bounds () -> (1, 4200, 64) map (d0, d1, d2) -> (d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (4200, 64)>
  tile.return
}

// -----

// Windows of one volume that do not move along z: its planes are images.
// CHECK-LABEL: tile.kernel @planes
// CHECK: tile.tensor_map %arg0 start () -> (0) sizes () -> (64, 8, 9, 5) strides () -> (1, 64, 512, 4608) pixels [-1, -1] to [-1, -1] step [1, 1] : <f16, () -> (1, 5, 9, 512)> -> <f16, [64, 64, 1, 1]>
// CHECK: tile.size (d0, d1, d2) -> (d1 floordiv 72)
// CHECK: tile.bulk_copy %{{.*}} plus[%{{.*}}, %{{.*}}] into
tile.kernel @planes(%x: !tile.buffer<f16, () -> (1, 5, 9, 512)>, %f: !tile.buffer<f16, () -> (3, 192, 64)>,
                    %y: !tile.buffer<f32, () -> (360, 64)>)
    attributes {grid = affine_map<() -> (6, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 64], reduce = [1, 64], warps = 4, stages = 3, groups = 1>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %sum = scf.for %t = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<1x64x64xf32>) {
    %ky = tile.size (d0) -> (d0 floordiv 3)(%t)
    %k = tile.size (d0) -> ((d0 mod 3) * 64)(%t)
    %a = tile.load %x[%ky, %m, %k] bounds () -> (3, 360, 192)
        map (d0, d1, d2) -> (0, d1 floordiv 72, d0 + (d1 floordiv 8) mod 9 - 1, d2 + (d1 mod 8) * 64 - 64) guard [2, 3] fill 0.0 : f16
        : !tile.buffer<f16, () -> (1, 5, 9, 512)> -> tensor<1x64x64xf16>
    %b = tile.load %f[%ky, %k, %c0] bounds () -> (3, 192, 64) map (d0, d1, d2) -> (d0, d1, d2)
        : !tile.buffer<f16, () -> (3, 192, 64)> -> tensor<1x64x64xf16>
    %d = tile.dot %a, %b, %acc : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32>
    scf.yield %d : tensor<1x64x64xf32>
  }
  tile.store %sum, %y[%c0, %m, %c0] bounds () -> (1, 360, 64) map (d0, d1, d2) -> (d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (360, 64)>
  tile.return
}

// -----

// Windows of one row of three pixels, whose 96 channels are three steps of half a row each. The tile's 96 columns are strips of 64 and of 32, whose rows are half as long; their instruction is one that takes short rows.
// CHECK-LABEL: tile.kernel @half_rows
// CHECK-DAG: tile.tensor_map %arg0 {{.*}} pixels [-1, 0] to [-1, 0] step [1, 1] : {{.*}} -> <f16, [32, 64, 1, 1]>
// CHECK-DAG: tile.tensor_map %arg1 {{.*}} -> <f16, [64, 32]>
// CHECK-DAG: tile.tensor_map %arg1 {{.*}} -> <f16, [32, 32]>
// CHECK: tile.dot {{.*}} {instruction = "wgmma.m64n16k16"} : tensor<1x64x32xf16, {{.*}}>, tensor<1x32x64xf16, {{.*}}>
// CHECK: tile.dot {{.*}} {instruction = "wgmma.m64n16k16"} : tensor<1x64x32xf16, {{.*}}>, tensor<1x32x32xf16, {{.*}}>
// CHECK: tile.ring_acquire {{.*}} bytes 10240
tile.kernel @half_rows(%x: !tile.buffer<f16, () -> (2, 6, 768)>, %f: !tile.buffer<f16, () -> (1, 288, 96)>,
                       %y: !tile.buffer<f32, () -> (96, 96)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [64, 96], reduce = [32], warps = 4, stages = 3, groups = 1>} {
  %p = tile.program_id 0
  %m = tile.size (d0) -> (d0 * 64)(%p)
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c288 = arith.constant 288 : index
  %wide = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %narrow = arith.constant dense<0.0> : tensor<1x64x32xf32>
  %sums:2 = scf.for %k = %c0 to %c288 step %c32 iter_args(%acc0 = %wide, %acc1 = %narrow) -> (tensor<1x64x64xf32>, tensor<1x64x32xf32>) {
    %a = tile.load %x[%c0, %m, %k] bounds () -> (1, 96, 288)
        map (d0, d1, d2) -> (d1 floordiv 48, (d1 floordiv 8) mod 6, d2 + (d1 mod 8) * 96 - 96) guard [2] fill 0.0 : f16
        : !tile.buffer<f16, () -> (2, 6, 768)> -> tensor<1x64x32xf16>
    %b0 = tile.load %f[%c0, %k, %c0] bounds () -> (1, 288, 96) map (d0, d1, d2) -> (d0, d1, d2)
        : !tile.buffer<f16, () -> (1, 288, 96)> -> tensor<1x32x64xf16>
    %b1 = tile.load %f[%c0, %k, %c64] bounds () -> (1, 288, 96) map (d0, d1, d2) -> (d0, d1, d2)
        : !tile.buffer<f16, () -> (1, 288, 96)> -> tensor<1x32x32xf16>
    %d0 = tile.dot %a, %b0, %acc0 : tensor<1x64x32xf16>, tensor<1x32x64xf16>, tensor<1x64x64xf32>
    %d1 = tile.dot %a, %b1, %acc1 : tensor<1x64x32xf16>, tensor<1x32x32xf16>, tensor<1x64x32xf32>
    scf.yield %d0, %d1 : tensor<1x64x64xf32>, tensor<1x64x32xf32>
  }
  tile.store %sums#0, %y[%c0, %m, %c0] bounds () -> (1, 96, 96) map (d0, d1, d2) -> (d1, d2) : tensor<1x64x64xf32> -> !tile.buffer<f32, () -> (96, 96)>
  tile.store %sums#1, %y[%c0, %m, %c64] bounds () -> (1, 96, 96) map (d0, d1, d2) -> (d1, d2) : tensor<1x64x32xf32> -> !tile.buffer<f32, () -> (96, 96)>
  tile.return
}
