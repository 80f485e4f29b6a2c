// Distributed kernels hold scf, vector, math, arith and cf; behind the conversion only llvm is left.
// RUN: tilewright-opt %s --tilewright-gpu-convert-to-llvm | FileCheck %s
// All steps from the stage "tile" to the LLVM dialect.
// RUN: tilewright-opt %S/gpu-distribute.mlir --pass-pipeline="builtin.module(tilewright-place-tiles{target=sm_80},tilewright-gpu-distribute{target=sm_80},tilewright-math-mark-reciprocal-divisions,tilewright-math-expand-functions{native=exp2,log2,rsqrt},tilewright-gpu-lower-functions{target=sm_80},tilewright-gpu-convert-to-llvm)" | FileCheck %s --check-prefix=CHAIN

// CHECK-LABEL: llvm.func @sum
// CHECK: llvm.cond_br
// CHECK: llvm.intr.fma
// CHECK: llvm.br
// CHECK-NOT: {{scf|arith|math|cf|vector}}{{[.]}}
// CHAIN: llvm.func ptx_kernelcc @quotient
// CHAIN: llvm.sdiv
// CHAIN-NOT: {{(scf|arith|math|cf|vector)[.]}}
llvm.func @sum(%x: f32, %n: i64) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %count = arith.index_cast %n : i64 to index
  %s = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zero) -> f32 {
    %next = math.fma %x, %x, %acc : f32
    scf.yield %next : f32
  }
  llvm.return %s : f32
}
