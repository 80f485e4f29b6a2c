// What layouts, shared memory and placed kernels refuse: a case for each diagnostic.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected 0 or a bit of an element's index for each bit of a place, got 3}}
func.func private @f(tensor<4x4xf32, #tile.layout<reg = [3], lane = [], warp = []>>)

// -----

// expected-error@+1 {{expected tile sizes that are powers of two because layouts are maps of bits, got [3, 4]}}
func.func private @f(tensor<3x4xf32, #tile.layout<reg = [1], lane = [], warp = []>>)

// -----

// expected-error@+1 {{expected each bit of an index below 4 once, got 1 twice}}
func.func private @f(tensor<4xf32, #tile.layout<reg = [1], lane = [1], warp = []>>)

// -----

// expected-error@+1 {{expected each bit of an index below 4 once, got 4}}
func.func private @f(tensor<4xf32, #tile.layout<reg = [1, 2], lane = [4], warp = []>>)

// -----

// expected-error@+1 {{expected each bit of an index below 4 once, missed 2}}
func.func private @f(tensor<4xf32, #tile.layout<reg = [1], lane = [], warp = []>>)

// -----

// expected-error@+1 {{expected a tile of numbers without a layout, of two dimensions or more whose sizes are powers of two, got 'tensor<12x16xf16>'}}
func.func private @f(!tile.shared<tensor<12x16xf16>, fast = 1, slots = 2>)

// -----

// expected-error@+1 {{expected rows along a dimension from 0 to 1, got 2}}
func.func private @f(!tile.shared<tensor<16x16xf16>, fast = 2, slots = 2>)

// -----

// expected-error@+1 {{expected at least one slot, got 0}}
func.func private @f(!tile.shared<tensor<16x16xf16>, fast = 1, slots = 0>)

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  // expected-error@+1 {{expected an offset that is a multiple of 512 because the chunks of its rows are permuted, got 128}}
  %s = tile.shared_alloc offset 128 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 512 : i64} {
  // expected-error@+1 {{expected an end within the kernel's 512 bytes of shared memory, got 1024}}
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c2 = arith.constant 2 : index
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  // expected-error@+1 {{expected a slot from 0 to 1, got 2}}
  %a = tile.shared_read %s[%c2] : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2> -> tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  %v = arith.constant dense<0.0> : tensor<8x16xf16, #tile.layout<reg = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>>
  // expected-error@+1 {{expected a 'tensor<16x16xf16>' with a layout because the slots hold that, got 'tensor<8x16xf16}}
  tile.shared_write %v, %s[%c0] : tensor<8x16xf16, #tile.layout<reg = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>> -> !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  // expected-error@+1 {{expected guarded dimensions from 0 to 1, got 2}}
  tile.shared_copy %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) guard [2] into %s[%c0] by <reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []> : !tile.buffer<f16, () -> (16, 16)> -> !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<i8, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xi1>, fast = 1, slots = 1>
  // expected-error@+1 {{expected elements of type 'i8' because nothing is converted on the way, got 'i1'}}
  tile.shared_copy %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) into %s[%c0] by <reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []> : !tile.buffer<i8, () -> (16, 16)> -> !tile.shared<tensor<16x16xi1>, fast = 1, slots = 1>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (16, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  // expected-error@+1 {{expected each bit of an index below 256 once, missed 4}}
  tile.shared_copy %x[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) into %s[%c0] by <reg = [1, 2], lane = [8, 16, 32, 64, 128], warp = []> : !tile.buffer<f16, () -> (16, 16)> -> !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2>
  // expected-error@+1 {{expected no use but by tile.dot, which reads it step by step, got one by arith.addf}}
  %a = tile.shared_read %s[%c0] : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 2> -> tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  %b = arith.addf %a, %a : tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %a = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error@+1 {{expected accumulators with layouts because only placed ones are waited for, got 'tensor<16x16xf32>'}}
  %b = tile.dot_wait 0 of %a : tensor<16x16xf32>
  tile.return
}

// -----

#a = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#b = #tile.layout<reg = [64, 512, 1024, 2048, 8, 16, 32], lane = [128, 256, 1, 2, 4], warp = [0, 0]>
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %sa = tile.shared_alloc offset 0 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1>
  %sb = tile.shared_alloc offset 8192 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #a>
  %a = tile.shared_read %sa[%c0] : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1> -> tensor<64x64xf16, #a>
  %b = tile.shared_read %sb[%c0] : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1> -> tensor<64x64xf16, #b>
  %sums:2 = scf.for %k = %c0 to %c9 step %c1 iter_args(%first = %zero, %second = %zero) -> (tensor<64x64xf32, #a>, tensor<64x64xf32, #a>) {
    %d = tile.dot %a, %b, %first {instruction = "wgmma.m64n64k16x4"} : tensor<64x64xf16, #a>, tensor<64x64xf16, #b>, tensor<64x64xf32, #a>
    %e = tile.dot %a, %b, %second {instruction = "wgmma.m64n64k16x4"} : tensor<64x64xf16, #a>, tensor<64x64xf16, #b>, tensor<64x64xf32, #a>
    scf.yield %d, %e : tensor<64x64xf32, #a>, tensor<64x64xf32, #a>
  }
  %e = tile.dot %a, %b, %zero {instruction = "wgmma.m64n64k16x4"} : tensor<64x64xf16, #a>, tensor<64x64xf16, #b>, tensor<64x64xf32, #a>
  %f = tile.dot_wait 2 of %sums#0 : tensor<64x64xf32, #a>
  // expected-error@+1 {{expected at most 1 pending because so many tile.dot are started after the one that makes its accumulators, got 2}}
  %g = tile.dot_wait 2 of %sums#1 : tensor<64x64xf32, #a>
  tile.return
}

// -----

#a = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
#b = #tile.layout<reg = [64, 512, 1024, 2048, 8, 16, 32], lane = [128, 256, 1, 2, 4], warp = [0, 0]>
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %sa = tile.shared_alloc offset 0 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1>
  %sb = tile.shared_alloc offset 8192 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #a>
  %a = tile.shared_read %sa[%c0] : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1> -> tensor<64x64xf16, #a>
  %b = tile.shared_read %sb[%c0] : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1> -> tensor<64x64xf16, #b>
  // expected-error@+1 {{operand #0 does not dominate this use}}
  %f = tile.dot_wait 0 of %d : tensor<64x64xf32, #a>
  // expected-note@+1 {{operand defined here (op in the same block)}}
  %d = tile.dot %a, %b, %zero {instruction = "wgmma.m64n64k16x4"} : tensor<64x64xf16, #a>, tensor<64x64xf16, #b>, tensor<64x64xf32, #a>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  // expected-error@+1 {{'tile.copy_wait' op attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  tile.copy_wait -1
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  // expected-error@+1 {{expected tiles with layouts because the kernel is placed, got 'tensor<16x16xf16>'}}
  %a = arith.constant dense<0.0> : tensor<16x16xf16>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 64 : i64, shared_bytes = 4096 : i64} {
  // expected-error@+1 {{expected a layout over the 64 threads that run it, got #tile.layout}}
  %a = arith.constant dense<0.0> : tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %a = arith.constant dense<0.0> : tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  // expected-error@+1 {{expected a layout over warps of 32 lanes as elsewhere in the kernel, got #tile.layout}}
  %b = arith.constant dense<0.0> : tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64], warp = [128]>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %n = arith.constant dense<0.0> : tensor<1x16xf16, #tile.layout<reg = [1, 2], lane = [4, 8, 0, 0, 0], warp = []>>
  // expected-error@+1 {{expected the layout #tile.layout<reg = [1, 2, 4], lane = [8, 0, 0, 0, 0], warp = []> of its input because each thread then holds what it needs, got #tile.layout}}
  %b = tile.broadcast %n : tensor<1x16xf16, #tile.layout<reg = [1, 2], lane = [4, 8, 0, 0, 0], warp = []>> -> tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 64 : i64, shared_bytes = 8 : i64} {
  %v = arith.constant dense<0.0> : tensor<1x64xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32]>>
  // expected-error@+1 {{expected scratch because warps share its results, got none}}
  %r = tile.reduce <sum> %v dim 1 : tensor<1x64xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32]>> -> tensor<1x1xf32, #tile.layout<reg = [], lane = [0, 0, 0, 0, 0], warp = [0]>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 64 : i64, shared_bytes = 8 : i64} {
  %v = arith.constant dense<0.0> : tensor<1x64xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32]>>
  // expected-error@+1 {{expected an end of its scratch within the kernel's 8 bytes of shared memory, got 136}}
  %r = tile.reduce <sum> %v dim 1 {scratch = 128 : i64} : tensor<1x64xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32]>> -> tensor<1x1xf32, #tile.layout<reg = [], lane = [0, 0, 0, 0, 0], warp = [0]>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %a = arith.constant dense<2> : tensor<16x16xi32, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  %w = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg = [1, 2, 128], lane = [4, 8, 16, 32, 64], warp = []>>
  // expected-error@+1 {{expected one layout for all of its tiles, got #tile.layout}}
  %t = math.fpowi %w, %a : tensor<16x16xf32, #tile.layout<reg = [1, 2, 128], lane = [4, 8, 16, 32, 64], warp = []>>, tensor<16x16xi32, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %true = arith.constant true
  // expected-error@+1 {{expected no results and no else in a placed kernel, where only copies and what follows shared sums are conditional}}
  scf.if %true {
    tile.barrier
  } else {
    tile.barrier
  }
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>>
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1>
  %t = tile.shared_alloc offset 1024 : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1>
  %a = arith.constant dense<0.0> : tensor<16x16xf16, #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>>
  %b = tile.shared_read %t[%c0] : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1> -> tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>>
  // expected-error@+1 {{expected operands from tile.shared_read because the kernel is placed; only the left side of a matrix instruction may be in registers}}
  %d = tile.dot %a, %b, %zero : tensor<16x16xf16, #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>>, tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>>, tensor<16x8xf32, #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #tile.layout<reg = [64, 1], lane = [2, 4, 8, 16, 32], warp = []>>
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1>
  %t = tile.shared_alloc offset 1024 : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1>
  %a = tile.shared_read %s[%c0] : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1> -> tensor<16x16xf16, #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>>
  %b = tile.shared_read %t[%c0] : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1> -> tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>>
  // expected-error@+1 {{expected the layout #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32], warp = []> of its accumulator, got #tile.layout}}
  %d = tile.dot %a, %b, %zero {instruction = "mma.m16n8k16"} : tensor<16x16xf16, #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>>, tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>>, tensor<16x8xf32, #tile.layout<reg = [64, 1], lane = [2, 4, 8, 16, 32], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>>
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1>
  %t = tile.shared_alloc offset 1024 : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1>
  %a = tile.shared_read %s[%c0] : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1> -> tensor<16x16xf16, #tile.layout<reg = [1, 8, 128], lane = [2, 4, 16, 32, 64], warp = []>>
  %b = tile.shared_read %t[%c0] : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1> -> tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>>
  // expected-error@+1 {{expected the layout #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []> of its left side, got #tile.layout}}
  %d = tile.dot %a, %b, %zero {instruction = "mma.m16n8k16"} : tensor<16x16xf16, #tile.layout<reg = [1, 8, 128], lane = [2, 4, 16, 32, 64], warp = []>>, tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>>, tensor<16x8xf32, #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 64 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32, 0], warp = []>>
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1>
  %t = tile.shared_alloc offset 1024 : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1>
  %a = tile.shared_read %s[%c0] : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1> -> tensor<16x16xf16, #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64, 0], warp = []>>
  %b = tile.shared_read %t[%c0] : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1> -> tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4, 0], warp = []>>
  // expected-error@+1 {{expected 1 warps or more of 32 lanes because mma.m16n8k16 takes them, got 1 of 64}}
  %d = tile.dot %a, %b, %zero {instruction = "mma.m16n8k16"} : tensor<16x16xf16, #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64, 0], warp = []>>, tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4, 0], warp = []>>, tensor<16x8xf32, #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32, 0], warp = []>>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<2x16x8xf32, #tile.layout<reg = [1, 64, 128], lane = [2, 4, 8, 16, 32], warp = []>>
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<2x16x16xf32>, fast = 2, slots = 1>
  %t = tile.shared_alloc offset 2048 : !tile.shared<tensor<2x16x8xf32>, fast = 2, slots = 1>
  %a = tile.shared_read %s[%c0] : !tile.shared<tensor<2x16x16xf32>, fast = 2, slots = 1> -> tensor<2x16x16xf32, #tile.layout<reg = [1, 2, 4, 8], lane = [16, 32, 64, 128, 256], warp = []>>
  %b = tile.shared_read %t[%c0] : !tile.shared<tensor<2x16x8xf32>, fast = 2, slots = 1> -> tensor<2x16x8xf32, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
  // expected-error@+1 {{expected batch sizes of 1 in a placed kernel, got 'tensor<2x16x8xf32}}
  %d = tile.dot %a, %b, %zero : tensor<2x16x16xf32, #tile.layout<reg = [1, 2, 4, 8], lane = [16, 32, 64, 128, 256], warp = []>>, tensor<2x16x8xf32, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>, tensor<2x16x8xf32, #tile.layout<reg = [1, 64, 128], lane = [2, 4, 8, 16, 32], warp = []>>
  tile.return
}

// -----

#a = #tile.layout<reg = [4, 8, 16, 256, 512, 1024], lane = [1, 2, 32, 64, 128], warp = [0, 0]>
#b = #tile.layout<reg = [1, 256, 512, 1024], lane = [64, 128, 2, 16, 4], warp = [8, 32]>
#c = #tile.layout<reg = [64, 1, 512, 1024, 2048], lane = [128, 256, 2, 16, 4], warp = [8, 32]>
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 16384 : i64} {
  %c0 = arith.constant 0 : index
  %sa = tile.shared_alloc offset 0 : !tile.shared<tensor<64x32xf32>, fast = 1, slots = 1>
  %sb = tile.shared_alloc offset 8192 : !tile.shared<tensor<32x64xf32>, fast = 1, slots = 1>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  %a = tile.shared_read %sa[%c0] : !tile.shared<tensor<64x32xf32>, fast = 1, slots = 1> -> tensor<64x32xf32, #a>
  %b = tile.shared_read %sb[%c0] : !tile.shared<tensor<32x64xf32>, fast = 1, slots = 1> -> tensor<32x64xf32, #b>
  // expected-error@+1 {{expected a right side in registers because wgmma.m64n64k8x4.tf32 takes it from there, got one from tile.shared_read}}
  %d = tile.dot %a, %b, %zero {instruction = "wgmma.m64n64k8x4.tf32"} : tensor<64x32xf32, #a>, tensor<32x64xf32, #b>, tensor<64x64xf32, #c>
  %e = tile.dot_wait 0 of %d : tensor<64x64xf32, #c>
  tile.return
}

// -----

#a = #tile.layout<reg = [256, 4, 8, 16], lane = [1, 2, 32, 64, 128], warp = [512, 1024]>
#b = #tile.layout<reg = [256, 512, 1024, 8, 16, 32], lane = [64, 128, 1, 2, 4], warp = [0, 0]>
#c = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%x: !tile.buffer<f32, () -> (64, 32)>) attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 20480 : i64} {
  %c0 = arith.constant 0 : index
  %sa = tile.shared_alloc offset 0 : !tile.shared<tensor<64x32xf32>, fast = 1, slots = 1>
  %sb = tile.shared_alloc offset 8192 : !tile.shared<tensor<32x64xf32>, fast = 0, slots = 1>
  %ring = tile.ring_alloc offset 16384 : !tile.ring<slots = 1, releases = 4>
  %map = tile.tensor_map %x start () -> (0) sizes () -> (32, 64) strides () -> (1, 32) : !tile.buffer<f32, () -> (64, 32)> -> !tile.tensor_map<f32, [32, 64]>
  tile.bulk_copy %map[%c0, %c0] into %sa[%c0] signals %ring : !tile.tensor_map<f32, [32, 64]> -> !tile.shared<tensor<64x32xf32>, fast = 1, slots = 1>, !tile.ring<slots = 1, releases = 4>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  %a = tile.shared_read %sa[%c0] : !tile.shared<tensor<64x32xf32>, fast = 1, slots = 1> -> tensor<64x32xf32, #a>
  %b = tile.shared_read %sb[%c0] : !tile.shared<tensor<32x64xf32>, fast = 0, slots = 1> -> tensor<32x64xf32, #b>
  // expected-error@+1 {{expected operands that the copy engine has rounded because wgmma.m64n64k8x4.tf32.rounded reads no more bits, got one that tile.bulk_copy writes}}
  %d = tile.dot %a, %b, %zero {instruction = "wgmma.m64n64k8x4.tf32.rounded"} : tensor<64x32xf32, #a>, tensor<32x64xf32, #b>, tensor<64x64xf32, #c>
  %e = tile.dot_wait 0 of %d : tensor<64x64xf32, #c>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>>
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<16x16xf32>, fast = 1, slots = 1>
  %t = tile.shared_alloc offset 1024 : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1>
  %a = tile.shared_read %s[%c0] : !tile.shared<tensor<16x16xf32>, fast = 1, slots = 1> -> tensor<16x16xf32, #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>>
  %b = tile.shared_read %t[%c0] : !tile.shared<tensor<16x8xf16>, fast = 1, slots = 1> -> tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>>
  // expected-error@+1 {{expected a left side of singles in registers because it is split into halves there, got one from tile.shared_read}}
  %d = tile.dot %a, %b, %zero {instruction = "mma.m16n8k16"} : tensor<16x16xf32, #tile.layout<reg = [1, 128, 8], lane = [2, 4, 16, 32, 64], warp = []>>, tensor<16x8xf16, #tile.layout<reg = [8, 64], lane = [16, 32, 1, 2, 4], warp = []>>, tensor<16x8xf32, #tile.layout<reg = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>>
  tile.return
}
