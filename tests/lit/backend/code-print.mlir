// RUN: tilewright-opt %s --tilewright-code-print=target=sm_80 -o /dev/null | FileCheck %s --check-prefix=NVIDIA
// RUN: tilewright-opt %s --tilewright-code-print=target=gfx942 -o /dev/null | FileCheck %s --check-prefix=AMD
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v3 -o /dev/null | FileCheck %s --check-prefix=HOST
// RUN: not tilewright-opt %s --tilewright-code-print=target=pdp11 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// NVIDIA: .target sm_80
// NVIDIA: .entry twice(
// AMD: .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
// AMD: twice:
// HOST: twice:
// HOST: vaddps
// UNKNOWN: error: {{.*}}pdp11
tile.kernel @twice(%x: !tile.buffer<f32, () -> (1024)>, %y: !tile.buffer<f32, () -> (1024)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024], registers = [1, 32]>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (1024) map (d0) -> (d0) : !tile.buffer<f32, () -> (1024)> -> tensor<1024xf32>
  %s = arith.addf %v, %v : tensor<1024xf32>
  tile.store %s, %y[%c0] bounds () -> (1024) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (1024)>
  tile.return
}
