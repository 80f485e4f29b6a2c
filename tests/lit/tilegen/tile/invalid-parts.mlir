// What workspaces, parts of tiles and arrivals refuse: a case for each diagnostic.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected a positive number of parts, and more than one of a matmul, an attention or a clustered row reduction alone, got 2}}
#schedule = #tile.schedule<gemv, tile = [1, 8], parts = 2>

// -----

// expected-error@+1 {{expected no most_tiles but with parts, for which room is made, got 8}}
#schedule = #tile.schedule<matmul, tile = [16, 32], most_tiles = 8>

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error@+1 {{expected to stand in a tile.kernel itself because it is one of its parameters}}
    %w = tile.workspace : !tile.buffer<f32, () -> (1, 2, 128)>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, ()[s0] -> (s0)>, %s0: index) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  // expected-error@+1 {{expected constant sizes because launches of all sizes share the memory, got '!tile.buffer<f32, ()[s0] -> (s0, 2, 128)>'}}
  %w = tile.workspace : !tile.buffer<f32, ()[s0] -> (s0, 2, 128)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  // expected-error@+1 {{expected a row of i32 because all zeroed workspaces of a plan are one, got '!tile.buffer<f32, () -> (1)>'}}
  %w = tile.workspace zeroed : !tile.buffer<f32, () -> (1)>
  tile.return
}

// -----

#layout = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (1, 2, 128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x128xf32, #layout>
  // expected-error@+1 {{expected a tile.workspace that is not zeroed because parts are left there}}
  tile.part_write %one, %x[%c0, %c0] : tensor<1x128xf32, #layout> -> !tile.buffer<f32, () -> (1, 2, 128)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %w = tile.workspace : !tile.buffer<f32, () -> (1, 2, 128)>
  // expected-error@+1 {{expected a tile with a layout because registers are written as they lie, got 'tensor<1x128xf32>'}}
  %p = tile.part_read %w[%c0, %c0] : !tile.buffer<f32, () -> (1, 2, 128)> -> tensor<1x128xf32>
  tile.return
}

// -----

// Two warps hold the same 64 elements, and both write what they hold.
#layout = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 0]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %w = tile.workspace : !tile.buffer<f32, () -> (1, 2, 64)>
  // expected-error@+1 {{expected a workspace of tiles, parts and 128 elements of 'f32' because its threads hold that, got '!tile.buffer<f32, () -> (1, 2, 64)>'}}
  %p = tile.part_read %w[%c0, %c0] : !tile.buffer<f32, () -> (1, 2, 64)> -> tensor<1x64xf32, #layout>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %w = tile.workspace : !tile.buffer<i32, () -> (1)>
  // expected-error@+1 {{expected a zeroed tile.workspace because arrivals are counted from 0}}
  %last = tile.part_arrive %w[%c0] of 2 : !tile.buffer<i32, () -> (1)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 128 : i64, shared_bytes = 2 : i64} {
  %c0 = arith.constant 0 : index
  %w = tile.workspace zeroed : !tile.buffer<i32, () -> (1)>
  // expected-error@+1 {{expected scratch within the kernel's 2 bytes of shared memory because its threads learn the answer there, got 0}}
  %last = tile.part_arrive %w[%c0] of 2 scratch 0 : !tile.buffer<i32, () -> (1)>
  tile.return
}

// -----

#layout = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %w = tile.workspace : !tile.buffer<f32, () -> (1, 2, 128)>
  // expected-error@+1 {{expected a positive live size for each of 2 dimensions, got [1]}}
  %p = tile.part_read %w[%c0, %c0] live [1] : !tile.buffer<f32, () -> (1, 2, 128)> -> tensor<1x128xf32, #layout>
  tile.return
}

// -----

// One of each thread's two registers has row 1, which means nothing.
#layout = #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %w = tile.workspace : !tile.buffer<f32, () -> (1, 2, 256)>
  %p = tile.part_read %w[%c0, %c0] : !tile.buffer<f32, () -> (1, 2, 256)> -> tensor<2x128xf32, #layout>
  // expected-error@+1 {{expected a workspace of tiles, parts and 128 elements of 'f32' because its threads hold that, got '!tile.buffer<f32, () -> (1, 2, 256)>'}}
  tile.part_write %p, %w[%c0, %c0] live [1, 128] : tensor<2x128xf32, #layout> -> !tile.buffer<f32, () -> (1, 2, 256)>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<1x128xf32>
  // expected-error@+1 {{expected results of its operands' types because they are what all parts are together}}
  %j = tile.part_join %a : tensor<1x128xf32> -> tensor<1x64xf32> {
  ^bb0(%p: tensor<1x128xf32>, %q: tensor<1x128xf32>):
    tile.part_yield %p : tensor<1x128xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<1x128xf32>
  // expected-error@+1 {{expected a body that takes its operands' types twice because it joins two parts}}
  %j = tile.part_join %a : tensor<1x128xf32> -> tensor<1x128xf32> {
  ^bb0(%p: tensor<1x128xf32>):
    tile.part_yield %p : tensor<1x128xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<1x128xf32>
  // expected-error@+1 {{expected a body that yields its operands' types because two parts become one}}
  %j = tile.part_join %a : tensor<1x128xf32> -> tensor<1x128xf32> {
  ^bb0(%p: tensor<1x128xf32>, %q: tensor<1x128xf32>):
    tile.part_yield %p, %q : tensor<1x128xf32>, tensor<1x128xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %a = arith.constant dense<0.0> : tensor<1x128xf32>
  // expected-error@+1 {{expected a positive live size for each of 2 dimensions, got [0, 128]}}
  %j = tile.part_join %a live [0, 128] : tensor<1x128xf32> -> tensor<1x128xf32> {
  ^bb0(%p: tensor<1x128xf32>, %q: tensor<1x128xf32>):
    tile.part_yield %p : tensor<1x128xf32>
  }
  tile.return
}

// -----

// expected-error@+1 {{expected no clustered but of a matmul or a row reduction whose parts are a power of two, because each block of a cluster finishes a share of its tile, got 3 parts of a matmul}}
#schedule = #tile.schedule<matmul, tile = [64, 64], parts = 3, clustered = true>

// -----

// expected-error@+1 {{expected no clustered but of a matmul or a row reduction whose parts are a power of two, because each block of a cluster finishes a share of its tile, got 1 parts of a row_reduction}}
#schedule = #tile.schedule<row_reduction, tile = [1], reduce = [1024], clustered = true>

// -----

// expected-error@+1 {{expected a strip that is a power of two and less than the columns of a matmul that a block computes, got 128 of a matmul}}
#schedule = #tile.schedule<matmul, tile = [64, 128], strip = 128>

// -----

// expected-error@+1 {{expected a strip that is a power of two and less than the columns of a matmul that a block computes, got 48 of a matmul}}
#schedule = #tile.schedule<matmul, tile = [64, 128], strip = 48>

// -----

// expected-error@+1 {{expected a strip that is a power of two and less than the columns of a matmul that a block computes, got 64 of a pointwise}}
#schedule = #tile.schedule<pointwise, tile = [128], strip = 64>

// -----

// expected-error@+1 {{expected a strip that is a power of two and less than the columns of a matmul that a block computes, got 64 of a matmul}}
#schedule = #tile.schedule<matmul, tile = [96, 256], reduce = [768], registers = [6, 64], strip = 64>

// -----

// expected-error@+1 {{expected no streamed but of a matmul, whose right sides it is about, got a root of pointwise}}
#schedule = #tile.schedule<pointwise, tile = [64], streamed = true>

// -----

#layout = #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#share = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (3, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x256xf32, #layout>
  // expected-error@+1 {{expected a power of two parts because layouts are cut bit by bit, got 3}}
  %s = tile.part_sum %one[%c0] of 3 : tensor<1x256xf32, #layout> -> tensor<1x128xf32, #share>
  tile.return
}

// -----

#layout = #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x256xf32, #layout>
  // expected-error@+1 {{expected a share for each of its values, got 0 of 1}}
  "tile.part_sum"(%one, %c0) {parts = 2 : i64} : (tensor<1x256xf32, #layout>, index) -> ()
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x256xf32>
  // expected-error@+1 {{expected a tile with a layout because registers are given away as they lie, got 'tensor<1x256xf32>'}}
  %s = tile.part_sum %one[%c0] of 2 : tensor<1x256xf32> -> tensor<1x128xf32>
  tile.return
}

// -----

// The upper half of the columns is in other warps, not in other registers.
#layout = #tile.layout<reg = [32], lane = [1, 2, 4, 8, 16], warp = [64, 128]>
#share = #tile.layout<reg = [32], lane = [1, 2, 4, 8, 16], warp = [64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x256xf32, #layout>
  // expected-error@+1 {{expected one of 2 shares that are in the same registers of all threads, got 'tensor<1x128xf32, #tile.layout<reg = [32], lane = [1, 2, 4, 8, 16], warp = [64]>>' of 'tensor<1x256xf32, #tile.layout<reg = [32], lane = [1, 2, 4, 8, 16], warp = [64, 128]>>'}}
  %s = tile.part_sum %one[%c0] of 2 : tensor<1x256xf32, #layout> -> tensor<1x128xf32, #share>
  tile.return
}

// -----

#layout = #tile.layout<reg = [128, 256], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#half = #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#quarter = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, threads = 128 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x512xf32, #layout>
  // expected-error@+1 {{expected 4 parts as elsewhere in the kernel because a block is in one cluster, got 2}}
  %s = tile.part_sum %one[%c0] of 2 scratch 0 : tensor<1x512xf32, #layout> -> tensor<1x256xf32, #half>
  %t = tile.part_sum %one[%c0] of 4 scratch 1024 : tensor<1x512xf32, #layout> -> tensor<1x128xf32, #quarter>
  tile.return
}

// -----

#layout = #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#share = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (3, 1, 1)>, threads = 128 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x256xf32, #layout>
  // expected-error@+1 {{expected a multiple of 2 blocks along x because clusters are whole, got affine_map<() -> (3, 1, 1)>}}
  %s = tile.part_sum %one[%c0] of 2 scratch 0 : tensor<1x256xf32, #layout> -> tensor<1x128xf32, #share>
  tile.return
}

// -----

#layout = #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#share = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 128 : i64, shared_bytes = 256 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x256xf32, #layout>
  // expected-error@+1 {{expected 512 bytes of scratch, at a multiple of 16 within the kernel's 256 bytes of shared memory, because other blocks write there, got 0}}
  %s = tile.part_sum %one[%c0] of 2 scratch 0 : tensor<1x256xf32, #layout> -> tensor<1x128xf32, #share>
  tile.return
}

// -----

#layout = #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#share = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 128 : i64, shared_bytes = 512 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant dense<1.0> : tensor<1x256xf32, #layout>
  scf.for %i = %c0 to %c4 step %c2 {
    // expected-error@+1 {{expected no loop around it that a block may go through twice, because other blocks of its cluster might then write to shared memory that it still reads}}
    %s = tile.part_sum %one[%c0] of 2 scratch 0 : tensor<1x256xf32, #layout> -> tensor<1x128xf32, #share>
  }
  tile.return
}

// -----

#layout = #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#share = #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 128 : i64, shared_bytes = 1024 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x256xf32, #layout>
  // expected-error@+1 {{expected 512 bytes of scratch, at a multiple of 16 within the kernel's 1024 bytes of shared memory, because other blocks write there, got 4}}
  %s = tile.part_sum %one[%c0] of 2 scratch 4 : tensor<1x256xf32, #layout> -> tensor<1x128xf32, #share>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  // expected-error@+1 {{expected a tile of one element with a layout because each block gives one value, got 'tensor<1x1xf32>'}}
  %s = tile.part_reduce <sum> %one[%c0] of 2 : tensor<1x1xf32>
  tile.return
}

// -----

#layout = #tile.layout<reg = [], lane = [1, 0, 0, 0, 0], warp = [0, 0]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>) attributes {grid = affine_map<() -> (2, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x2xf32, #layout>
  // expected-error@+1 {{expected a tile of one element with a layout because each block gives one value, got 'tensor<1x2xf32, #tile.layout<reg = [], lane = [1, 0, 0, 0, 0], warp = [0, 0]>>'}}
  %s = tile.part_reduce <sum> %one[%c0] of 2 : tensor<1x2xf32, #layout>
  tile.return
}

// -----

#layout = #tile.layout<reg = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 128 : i64, shared_bytes = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant dense<1.0> : tensor<1x1xf32, #layout>
  scf.for %i = %c0 to %c2 step %c1 {
    // expected-error@+1 {{expected to stand in the kernel itself because all threads give a value once}}
    %s = tile.part_reduce <sum> %one[%c0] of 2 scratch 0 : tensor<1x1xf32, #layout>
  }
  tile.return
}

// -----

#layout = #tile.layout<reg = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 128 : i64, shared_bytes = 16 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x1xf32, #layout>
  // expected-error@+1 {{expected 8 bytes of scratch, at a multiple of 16 within the kernel's 16 bytes of shared memory, because other blocks write there, got 16}}
  %s = tile.part_reduce <sum> %one[%c0] of 2 scratch 16 : tensor<1x1xf32, #layout>
  tile.return
}

// -----

#layout = #tile.layout<reg = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (128)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, threads = 128 : i64, shared_bytes = 128 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<1x1xf32, #layout>
  // expected-error@+1 {{expected 4 parts as elsewhere in the kernel because a block is in one cluster, got 2}}
  %s = tile.part_reduce <sum> %one[%c0] of 2 scratch 0 : tensor<1x1xf32, #layout>
  %t = tile.part_reduce <sum> %one[%c0] of 4 scratch 64 : tensor<1x1xf32, #layout>
  tile.return
}
