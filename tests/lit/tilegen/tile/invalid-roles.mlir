// What bulk copies, rings and roles refuse: a case for each diagnostic.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected elements of whole bytes, got 'i1'}}
func.func private @f(!tile.tensor_map<i1, [64, 64]>)

// -----

// expected-error@+1 {{expected a box of 2 to 5 dimensions, got 1}}
func.func private @f(!tile.tensor_map<f16, [64]>)

// -----

// expected-error@+1 {{expected sizes of a box from 1 to 256, got 512}}
func.func private @f(!tile.tensor_map<f16, [64, 512]>)

// -----

// expected-error@+1 {{expected rows of 32, 64 or 128 bytes because matrix instructions read such rows, got 8 of 'f16'}}
func.func private @f(!tile.tensor_map<f16, [8, 64]>)

// -----

// expected-error@+1 {{expected rows of 32, 64 or 128 bytes because matrix instructions read such rows, got 48 of 'f16'}}
func.func private @f(!tile.tensor_map<f16, [48, 64]>)

// -----

// expected-error@+1 {{expected slots and warps that release them, got 0 and 4}}
func.func private @f(!tile.ring<slots = 0, releases = 4>)

// -----

// expected-error@+1 {{expected at most two groups of warps of a matmul, one of an attention, none of others, and a positive order, got 3 and 1}}
#schedule = #tile.schedule<matmul, tile = [64, 64], groups = 3>

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected elements of type 'f16' because nothing is converted on the way, got 'bf16'}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<bf16, [64, 64]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected elements of f32 because they are rounded to tf32, got 'f16'}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (1, 64) rounded
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected a first stride of 1 because rows are copied whole, got affine_map<() -> (64, 1)>}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (64, 1)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected to ask ahead for rows of a tensor of two dimensions, got 1 sizes and '!tile.tensor_map<f16, [64, 64]>'}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (1, 64) ahead [64]
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, ()[s0] -> (s0, 64)>, %s: index) attributes {grid = affine_map<()[s0] -> (1, 1, 1)>} {
  // expected-error@+1 {{expected constants for the tensor and for one or more blocks because the blocks share what they ask for ahead}}
  %m = tile.tensor_map %x start ()[s0] -> (0) sizes ()[s0] -> (64, s0) strides ()[s0] -> (1, 64) ahead [64, 64]
      : !tile.buffer<f16, ()[s0] -> (s0, 64)> -> !tile.tensor_map<f16, [64, 64]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (0, 1, 1)>} {
  // expected-error@+1 {{expected constants for the tensor and for one or more blocks because the blocks share what they ask for ahead}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (1, 64) ahead [64, 64]
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
  tile.return
}

// -----

func.func @f(%x: !tile.buffer<f16, () -> (64, 64)>) {
  // expected-error@+1 {{expected constants for the tensor and for one or more blocks because the blocks share what they ask for ahead}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (1, 64) ahead [64, 64]
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
  return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected to ask ahead for 1 to 64 elements of a dimension, got 65}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (1, 64) ahead [64, 65]
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (65537, 128)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected to ask ahead for 131072 lines of 128 bytes at most because each is an instruction, got 65537 rows of 2}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (128, 65537) strides () -> (1, 128) ahead [128, 65537]
      : !tile.buffer<f16, () -> (65537, 128)> -> !tile.tensor_map<f16, [64, 64]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (2, 8, 8, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected corners and steps of 2 dimensions because the others are channels and images, got 2, 1 and 2}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 8, 8, 2) strides () -> (1, 64, 512, 4096) pixels [-1, -1] to [-1] step [1, 1]
      : !tile.buffer<f16, () -> (2, 8, 8, 64)> -> !tile.tensor_map<f16, [64, 64, 1, 1]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (2, 8, 8, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected positive steps from pixel to pixel, got array<i64: 1, 0>}}
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 8, 8, 2) strides () -> (1, 64, 512, 4096) pixels [-1, -1] to [-1, -1] step [1, 0]
      : !tile.buffer<f16, () -> (2, 8, 8, 64)> -> !tile.tensor_map<f16, [64, 64, 1, 1]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (2, 8, 8, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %i = arith.constant 0 : index
  %s = tile.shared_alloc offset 0 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>
  %r = tile.ring_alloc offset 16384 : !tile.ring<slots = 2, releases = 4>
  %m = tile.tensor_map %x start () -> (0) sizes () -> (64, 8, 8, 2) strides () -> (1, 64, 512, 4096) pixels [-1, -1] to [-1, -1] step [1, 1]
      : !tile.buffer<f16, () -> (2, 8, 8, 64)> -> !tile.tensor_map<f16, [64, 64, 1, 1]>
  // expected-error@+1 {{expected 2 offsets because the tensor's pixels have that many dimensions, got 1}}
  tile.bulk_copy %m[%i, %i, %i, %i] plus [%i] into %s[%i] signals %r : !tile.tensor_map<f16, [64, 64, 1, 1]>
      -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
  tile.return
}

// -----

func.func @f(%m: !tile.tensor_map<f16, [64, 64]>, %s: !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>,
             %r: !tile.ring<slots = 2, releases = 4>, %i: index) {
  // expected-error@+1 {{expected 2 coordinates because the tensor has that many dimensions, got 1}}
  tile.bulk_copy %m[%i] into %s[%i] signals %r : !tile.tensor_map<f16, [64, 64]>
      -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
  return
}

// -----

func.func @f(%m: !tile.tensor_map<f16, [64, 64]>, %s: !tile.shared<tensor<64x64xbf16>, fast = 1, slots = 2>,
             %r: !tile.ring<slots = 2, releases = 4>, %i: index) {
  // expected-error@+1 {{expected a tile of 'f16' because nothing is converted on the way, got 'tensor<64x64xbf16>'}}
  tile.bulk_copy %m[%i, %i] into %s[%i] signals %r : !tile.tensor_map<f16, [64, 64]>
      -> !tile.shared<tensor<64x64xbf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
  return
}

// -----

func.func @f(%m: !tile.tensor_map<f16, [64, 32]>, %s: !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>,
             %r: !tile.ring<slots = 2, releases = 4>, %i: index) {
  // expected-error@+1 {{expected boxes of 64 rows of 64 because panels of them make a tile, got 32 of 64}}
  tile.bulk_copy %m[%i, %i] into %s[%i] signals %r : !tile.tensor_map<f16, [64, 32]>
      -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
  return
}

// -----

func.func @f(%m: !tile.tensor_map<f16, [32, 64]>, %s: !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>,
             %r: !tile.ring<slots = 2, releases = 4>, %i: index) {
  // expected-error@+1 {{expected boxes of 64 rows of 64 because panels of them make a tile, got 64 of 32}}
  tile.bulk_copy %m[%i, %i] into %s[%i] signals %r : !tile.tensor_map<f16, [32, 64]>
      -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
  return
}

// -----

func.func @f(%m: !tile.tensor_map<f16, [64, 64]>, %s: !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>,
             %r: !tile.ring<slots = 3, releases = 4>, %i: index) {
  // expected-error@+1 {{expected a ring of 2 slots as the tiles have, got 3}}
  tile.bulk_copy %m[%i, %i] into %s[%i] signals %r : !tile.tensor_map<f16, [64, 64]>
      -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 3, releases = 4>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected an offset that is a multiple of 8 because a barrier has as many bytes, got 4}}
  %r = tile.ring_alloc offset 4 : !tile.ring<slots = 2, releases = 4>
  return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 24 : i64} {
  // expected-error@+1 {{expected an end within the kernel's 24 bytes of shared memory, got 32}}
  %r = tile.ring_alloc offset 0 : !tile.ring<slots = 2, releases = 4>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected warps, registers and elected for each of 1 roles, got 2, 1 and 1}}
  tile.roles attributes {warps = array<i64: 4, 4>, registers = array<i64: 0>, elected = array<i1: false>} {
    tile.copy_commit
  }
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected a multiple of four warps for each role because four share instructions and registers, got 6}}
  tile.roles attributes {warps = array<i64: 6>, registers = array<i64: 0>, elected = array<i1: false>} {
    tile.copy_commit
  }
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected no registers, which leaves them as they are, or from 24 to 256, a multiple of 8, got 20}}
  tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 20>, elected = array<i1: false>} {
    tile.copy_commit
  }
  tile.return
}

// -----

// 65,536 registers for 384 threads are 170 each, of which a block gets 168: 64,512, where 65,536 are asked for.
tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} {
  // expected-error@+1 {{expected roles with at most 2016 registers a lane of all 12 warps because they start with 168 each, got 2048}}
  tile.roles attributes {warps = array<i64: 8, 4>, registers = array<i64: 240, 32>, elected = array<i1: false, true>} {
    tile.copy_commit
  }, {
    tile.copy_commit
  }
  tile.return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected to stand in a tile.kernel itself because roles do not nest, got func.func}}
  tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: false>} {
    tile.copy_commit
  }
  return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} {
  tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: true>} {
    // expected-error@+1 {{expected no tiles and no barriers in a role that one thread runs}}
    tile.barrier
  }
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %true = arith.constant true
  scf.if %true {
    // expected-error@+1 {{expected to stand in a kernel or a role itself because all that follows relies on it, got scf.if}}
    tile.await_kernels
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %sx = tile.shared_alloc offset 0 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>
  // expected-error@+1 {{expected nothing but copies of constants before tile.await_kernels because other kernels may still read and write everything else}}
  tile.shared_copy %x[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) into %sx[%c0]
      by <reg = [1, 2, 4, 1024, 2048], lane = [8, 16, 32, 64, 128], warp = [256, 512]>
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>
  tile.await_kernels
  tile.return
}

// -----

// The left side is no constant.
tile.kernel @k(%x: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %sx = tile.shared_alloc offset 0 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>
  %ring = tile.ring_alloc offset 0 : !tile.ring<slots = 2, releases = 4>
  %map = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
  tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: true>} {
    %slot = tile.ring_acquire %ring[%c0] bytes 8192 : !tile.ring<slots = 2, releases = 4>
    // expected-error@+1 {{expected nothing but copies of constants before tile.await_kernels because other kernels may still read and write everything else}}
    tile.bulk_copy %map[%c0, %c0] into %sx[%slot] signals %ring : !tile.tensor_map<f16, [64, 64]>
        -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
    tile.await_kernels
  }
  tile.return
}

// -----

// Nothing may be written, in no loop either.
tile.kernel @k(%y: !tile.buffer<f16, () -> (64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: false>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<64xf16>
    scf.for %i = %c0 to %c1 step %c1 {
      // expected-error@+1 {{expected nothing but copies of constants before tile.await_kernels}}
      tile.store %zero, %y[%c0] bounds () -> (64) map (d0) -> (d0) : tensor<64xf16> -> !tile.buffer<f16, () -> (64)>
    }
    tile.await_kernels
  }
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected 2 coordinates because the tensor has that many dimensions, got 1}}
  tile.bulk_store %one, %map[%c0] fast 1 rooms 1 : tensor<64x64xf16, #acc> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected a tile of 'f16' because nothing is converted on the way, got 'tensor<64x64xf32}}
  tile.bulk_store %one, %map[%c0, %c0] fast 1 rooms 1 : tensor<64x64xf32, #acc> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected rows along one of 2 dimensions, got 2}}
  tile.bulk_store %one, %map[%c0, %c0] fast 2 rooms 1 : tensor<64x64xf16, #acc> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected a tile with a layout because warps store what they hold, got 'tensor<64x64xf16>'}}
  tile.bulk_store %one, %map[%c0, %c0] fast 1 rooms 1 : tensor<64x64xf16> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

// Two warps hold half a row each.
#halves = #tile.layout<reg = [1, 512, 8, 16, 1024], lane = [2, 4, 64, 128, 256], warp = [32, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #halves>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected warps that hold whole rows of 128 bytes, got 'tensor<64x64xf16}}
  tile.bulk_store %one, %map[%c0, %c0] fast 1 rooms 1 : tensor<64x64xf16, #halves> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
  // expected-error@+1 {{expected boxes of 16 rows because a warp holds as many together, got '!tile.tensor_map<f16, [64, 64]>'}}
  tile.bulk_store %one, %map[%c0, %c0] fast 1 rooms 1 : tensor<64x64xf16, #acc> -> !tile.tensor_map<f16, [64, 64]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [32, 16]>
  // expected-error@+1 {{expected boxes of 64 elements a row because pieces have as many, got '!tile.tensor_map<f16, [32, 16]>'}}
  tile.bulk_store %one, %map[%c0, %c0] fast 1 rooms 1 : tensor<64x64xf16, #acc> -> !tile.tensor_map<f16, [32, 16]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected rooms that divide 1 pieces because each tile begins with the first room, got 2}}
  tile.bulk_store %one, %map[%c0, %c0] fast 1 rooms 2 : tensor<64x64xf16, #acc> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected a turn because shares take one each, got 2 shares}}
  tile.bulk_store %one, %map[%c0, %c0] shares 2 fast 1 rooms 1 : tensor<64x64xf16, #acc> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected shares that divide 4 vectors of 8 elements of a thread, got 8}}
  tile.bulk_store %one, %map[%c0, %c0] turn %c0 shares 8 fast 1 rooms 1 : tensor<64x64xf16, #acc> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
      : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 16]>
  // expected-error@+1 {{expected 8192 bytes of scratch, at a multiple of 1024 within the kernel's 8192 bytes of shared memory, got 1024}}
  tile.bulk_store %one, %map[%c0, %c0] fast 1 rooms 1 scratch 1024 : tensor<64x64xf16, #acc> -> !tile.tensor_map<f16, [64, 16]>
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 0 : i64} {
  // expected-error@+1 {{expected to stand in a role because only roles have barriers for some of their warps}}
  tile.barrier warps 4
  tile.return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 256 : i64, shared_bytes = 0 : i64} {
  tile.roles attributes {warps = array<i64: 8>, registers = array<i64: 0>, elected = array<i1: false>} {
    // expected-error@+1 {{expected to divide the 8 warps of its role into 4 groups at most, got 1 warps}}
    tile.barrier warps 1
  }
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f32, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf32, #acc>
  %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 64) strides () -> (1, 64) rounded
      : !tile.buffer<f32, () -> (64, 64)> -> !tile.tensor_map<f32, [32, 16]>
  // expected-error@+1 {{expected a tensor that is neither rounded nor walked as pixels because it is stored to}}
  tile.bulk_store %one, %map[%c0, %c0] fast 1 rooms 1 : tensor<64x64xf32, #acc> -> !tile.tensor_map<f32, [32, 16]>
  tile.return
}

// -----

tile.kernel @slice(%x: !tile.buffer<f16, () -> (2, 64, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 0 : i64} {
  %c0 = arith.constant 0 : index
  %s = tile.buffer_slice %x[%c0] : !tile.buffer<f16, () -> (2, 64, 64)> -> !tile.buffer<f16, () -> (64, 64)>
  // expected-error@+1 {{expected an argument of the kernel because its launch says where the tensor is}}
  %m = tile.tensor_map %s start () -> (0) sizes () -> (64, 64) strides () -> (1, 64) : <f16, () -> (64, 64)> -> <f16, [64, 64]>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 63)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  // expected-error@+1 {{expected scratch of a staged store alone, got it without 'staged'}}
  tile.store %one, %y[%c0, %c0] bounds () -> (64, 63) map (d0, d1) -> (d0, d1) scratch 0 : tensor<64x64xf16, #acc> -> !tile.buffer<f16, () -> (64, 63)>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 63)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  // expected-error@+1 {{expected rows along one of 2 dimensions, got 2}}
  tile.store %one, %y[%c0, %c0] bounds () -> (64, 63) map (d0, d1) -> (d0, d1) staged 2 : tensor<64x64xf16, #acc> -> !tile.buffer<f16, () -> (64, 63)>
  tile.return
}

// -----

tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 63)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16>
  // expected-error@+1 {{expected a layout of warps that hold whole rows of 128 bytes, of elements of 16 or 32 bits, got 'tensor<64x64xf16>'}}
  tile.store %one, %y[%c0, %c0] bounds () -> (64, 63) map (d0, d1) -> (d0, d1) staged 1 : tensor<64x64xf16> -> !tile.buffer<f16, () -> (64, 63)>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 63)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  // expected-error@+1 {{expected a layout of warps that hold whole rows of 128 bytes, of elements of 16 or 32 bits, got}}
  tile.store %one, %y[%c0, %c0] bounds () -> (64, 63) map (d0, d1) -> (d0, d1) staged 0 : tensor<64x64xf16, #acc> -> !tile.buffer<f16, () -> (64, 63)>
  tile.return
}

// -----

#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<f16, () -> (64, 63)>) attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 9216 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
  // expected-error@+1 {{expected 9216 bytes of scratch, at a multiple of 16 within the kernel's 9216 bytes of shared memory, got 16 : i64}}
  tile.store %one, %y[%c0, %c0] bounds () -> (64, 63) map (d0, d1) -> (d0, d1) staged 1 scratch 16 : tensor<64x64xf16, #acc> -> !tile.buffer<f16, () -> (64, 63)>
  tile.return
}

// -----

// Bits are stored as bytes.
#acc = #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>
tile.kernel @k(%y: !tile.buffer<i8, () -> (64, 63)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<true> : tensor<64x64xi1, #acc>
  // expected-error@+1 {{expected a tile of 'i8' because nothing is converted on the way through shared memory, got 'tensor<64x64xi1}}
  tile.store %one, %y[%c0, %c0] bounds () -> (64, 63) map (d0, d1) -> (d0, d1) staged 1 : tensor<64x64xi1, #acc> -> !tile.buffer<i8, () -> (64, 63)>
  tile.return
}
