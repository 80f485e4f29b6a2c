// RUN: tilewright-opt %s --tilewright-gpu-lower-functions=target=sm_80 | FileCheck %s --check-prefix=NVIDIA
// RUN: tilewright-opt %s --tilewright-gpu-lower-functions=target=gfx942 | FileCheck %s --check-prefix=AMD

// NVIDIA: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// NVIDIA: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
// NVIDIA: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// NVIDIA: arith.mulf %{{.*}}, %[[R]]
// NVIDIA: llvm.call_intrinsic "llvm.nvvm.div.full"
// NVIDIA: arith.divf %{{.*}} : f64
// AMD: llvm.call_intrinsic "llvm.amdgcn.exp2.f32"
// AMD: llvm.call_intrinsic "llvm.amdgcn.rsq.f32"
// AMD: llvm.call_intrinsic "llvm.amdgcn.rcp.f32"
// AMD: llvm.call_intrinsic "llvm.amdgcn.fdiv.fast"
func.func @f(%x: f32, %d: f64) -> (f32, f64) {
  %e = math.exp2 %x : f32
  %r = math.rsqrt %e : f32
  %p = arith.divf %e, %r {tilewright.by_reciprocal} : f32
  %q = arith.divf %p, %x : f32
  %w = arith.divf %d, %d : f64
  return %q, %w : f32, f64
}
