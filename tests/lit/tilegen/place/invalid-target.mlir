// A kernel that is placed already is refused for a target that cannot run it, and a schedule whose warps have no registers for its sums.
// RUN: tilewright-opt %s --tilewright-place-tiles=target=sm_90a > %t.hopper
// RUN: not tilewright-opt %t.hopper --tilewright-place-tiles=target=sm_80 2>&1 | FileCheck %s --check-prefix=AMPERE
// RUN: not tilewright-opt %t.hopper --tilewright-gpu-distribute=target=gfx942 2>&1 | FileCheck %s --check-prefix=AMD
// RUN: sed 's/stages = 3/stages = 8/' %s | tilewright-opt --tilewright-place-tiles=target=sm_90a > %t.large
// RUN: not tilewright-opt %t.large --tilewright-place-tiles=target=sm_80 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: sed 's/stages = 3/stages = 3, groups = 1/' %s | tilewright-opt --tilewright-place-tiles=target=sm_90a > %t.roles
// RUN: not tilewright-opt %t.roles --tilewright-place-tiles=target=sm_80 2>&1 | FileCheck %s --check-prefix=ENGINE
// RUN: not tilewright-opt %t.roles --tilewright-gpu-distribute=target=sm_80 2>&1 | FileCheck %s --check-prefix=ENGINE
// RUN: not tilewright-opt %t.roles --tilewright-gpu-distribute=target=gfx942 2>&1 | FileCheck %s --check-prefix=ENGINE
// RUN: sed 's/stages = 3/stages = 3, parts = 2, clustered = true/' %s | tilewright-opt --tilewright-place-tiles=target=sm_90a > %t.clusters
// RUN: not tilewright-opt %t.clusters --tilewright-place-tiles=target=sm_80 2>&1 | FileCheck %s --check-prefix=CLUSTERS
// RUN: not tilewright-opt %t.clusters --tilewright-gpu-distribute=target=gfx942 2>&1 | FileCheck %s --check-prefix=CLUSTERS
// RUN: sed -e 's/x64xf32/x256xf32/g; s/64x64xf16/64x256xf16/g; s/(1024, 64)/(1024, 256)/g; s/(128, 64)/(128, 256)/g; s/\[128, 64\]/[128, 256]/' -e 's/warps = 4, stages = 3/warps = 8, stages = 3, groups = 2/' %s > %t.sums
// RUN: not tilewright-opt %t.sums --tilewright-place-tiles=target=sm_90a 2>&1 | FileCheck %s --check-prefix=SUMS

// SUMS: error: 'tile.dot' op expected at most 70 sums of a lane because 20 warps start with 96 registers each, got 128; use a smaller tile or fewer groups
// CLUSTERS: error: 'tile.part_sum' op expected clusters of at most 0 blocks because the target has no larger ones, got 2; make the kernel for it again
// ENGINE: error: 'tile.tensor_map' op expected a target with a copy engine, which this one has not
// AMPERE: error: 'tile.dot' op expected an instruction that the target has, got 'wgmma.m64n64k16x4'
// AMD: error: {{.*}} op expected layouts over warps of 64 lanes because the target's are, got 32
// LARGE: error: 'tile.kernel' op expected at most 166912 bytes of shared memory because a block has that much, got 196608; use smaller tiles or fewer stages
tile.kernel @product(%a: !tile.buffer<f16, () -> (128, 1024)>, %b: !tile.buffer<f16, () -> (1024, 64)>,
                     %y: !tile.buffer<f32, () -> (128, 64)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>,
                schedule = #tile.schedule<matmul, tile = [128, 64], reduce = [64], warps = 4, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %zero) -> tensor<128x64xf32> {
    %x = tile.load %a[%c0, %k] bounds () -> (128, 1024) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (128, 1024)> -> tensor<128x64xf16>
    %w = tile.load %b[%k, %c0] bounds () -> (1024, 64) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, () -> (1024, 64)> -> tensor<64x64xf16>
    %d = tile.dot %x, %w, %acc : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %sum, %y[%c0, %c0] bounds () -> (128, 64) map (d0, d1) -> (d0, d1)
      : tensor<128x64xf32> -> !tile.buffer<f32, () -> (128, 64)>
  tile.return
}
