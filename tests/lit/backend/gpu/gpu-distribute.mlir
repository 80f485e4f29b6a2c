// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-place-tiles{target=sm_80},tilewright-gpu-distribute{target=sm_80})" | FileCheck %s
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-place-tiles{target=gfx942},tilewright-gpu-distribute{target=gfx942})" | FileCheck %s --check-prefix=AMD
// RUN: not tilewright-opt %s --pass-pipeline="builtin.module(tilewright-gpu-distribute{target=sm_80})" 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: not tilewright-opt %s --pass-pipeline="builtin.module(tilewright-gpu-distribute{target=host})" 2>&1 | FileCheck %s --check-prefix=HOST

// A thread's four elements are four scalars; one load and one store of 16 bytes move them. Integer divisions are safe.
// A constant may be read early and through caches that see no writes; what another kernel may write may not.
// CHECK: llvm.func ptx_kernelcc @quotient(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}
// CHECK: llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: arith.select
// CHECK: arith.divsi %{{.*}}, %{{.*}} : i32
// CHECK: vector.from_elements %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NOT: tile.
// AMD: llvm.func amdgpu_kernelcc @quotient
// AMD: llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"
// BARE: expected a placed kernel: run the stage 'place' first
// HOST: expected a GPU as target, got 'host'
tile.kernel @quotient(%x: !tile.buffer<i32, () -> (512)>, %w: !tile.buffer<i32, () -> (512)> {graph.constant}, %y: !tile.buffer<i32, () -> (512)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (512) map (d0) -> (d0) : !tile.buffer<i32, () -> (512)> -> tensor<512xi32>
  %seven = arith.constant dense<7> : tensor<512xi32>
  %q = arith.divsi %seven, %v : tensor<512xi32>
  tile.store %q, %y[%c0] bounds () -> (512) map (d0) -> (d0) : tensor<512xi32> -> !tile.buffer<i32, () -> (512)>
  tile.return
}
