// What clusters of blocks refuse: a case for each diagnostic.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected a cluster of 1 to 8 blocks, and more than one of a matmul with groups alone, got 16}}
#schedule = #tile.schedule<matmul, tile = [64, 64], groups = 1, cluster = 16>

// -----

// expected-error@+1 {{expected a cluster of 1 to 8 blocks, and more than one of a matmul with groups alone, got 2}}
#schedule = #tile.schedule<matmul, tile = [64, 64], cluster = 2>

// -----

// expected-error@+1 {{expected 1 to 8 blocks with equally many of 4 releases, got 3}}
func.func private @f(!tile.ring<slots = 2, releases = 4, blocks = 3>)

// -----

func.func @f(%m: !tile.tensor_map<f16, [64, 64]>, %s: !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>,
             %r: !tile.ring<slots = 2, releases = 4>, %i: index) {
  // expected-error@+1 {{expected a ring of several blocks because the tile goes to all of them, got '!tile.ring<slots = 2, releases = 4>'}}
  tile.bulk_copy %m[%i, %i] into %s[%i] signals %r to_cluster : !tile.tensor_map<f16, [64, 64]>
      -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
  return
}

// -----

tile.kernel @k() attributes {grid = affine_map<() -> (4, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %r = tile.ring_alloc offset 0 : !tile.ring<slots = 2, releases = 8, blocks = 4>
  // expected-error@+1 {{expected one block or 4 as another ring of the kernel has, got 2}}
  %s = tile.ring_alloc offset 128 : !tile.ring<slots = 2, releases = 8, blocks = 2>
  tile.return
}

// -----

// expected-error@+1 {{expected a constant multiple of 4 blocks along x because clusters are whole, got}}
tile.kernel @k() attributes {grid = affine_map<() -> (6, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
  %r = tile.ring_alloc offset 0 : !tile.ring<slots = 2, releases = 8, blocks = 4>
  tile.return
}
