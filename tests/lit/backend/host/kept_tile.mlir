// Four blocks of queries share a head, whose keys are packed by the first one: a call's first program, or the first of
// a head.
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s

// CHECK-LABEL: scores:
// CHECK: shrq $2, %[[HEAD:[a-z0-9]+]]
// CHECK: cmpq %{{[a-z0-9]+}}, %rsi
// CHECK-NEXT: jge .[[PACK:L[A-Z0-9_]+]]
// CHECK: cmpq %{{[a-z0-9]+}}, %[[HEAD]]
// CHECK-NEXT: je
// CHECK: .[[PACK]]:
// CHECK: vpermt2ps
// CHECK: vfmadd
// CHECK: retq
tile.kernel @scores(%q: !tile.buffer<f32, () -> (8, 64, 32)>, %k: !tile.buffer<f32, () -> (8, 64, 32)>, %y: !tile.buffer<f32, () -> (8, 64, 64)>)
    attributes {grid = affine_map<() -> (32, 1, 1)>, schedule = #tile.schedule<matmul, tile = [1, 16, 64], reduce = [32], registers = [6, 64]>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %r = tile.size (d0) -> ((d0 mod 4) * 16)(%p)
  %head = tile.size (d0) -> (d0 floordiv 4)(%p)
  %zero = arith.constant dense<0.0> : tensor<1x16x64xf32>
  %a = tile.load %q[%head, %r, %c0] bounds () -> (8, 64, 32) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f32, () -> (8, 64, 32)> -> tensor<1x16x32xf32>
  %b = tile.load %k[%head, %c0, %c0] bounds () -> (8, 32, 64) map (d0, d1, d2) -> (d0, d2, d1) : !tile.buffer<f32, () -> (8, 64, 32)> -> tensor<1x32x64xf32>
  %s = tile.dot %a, %b, %zero : tensor<1x16x32xf32>, tensor<1x32x64xf32>, tensor<1x16x64xf32>
  tile.store %s, %y[%head, %r, %c0] bounds () -> (8, 64, 64) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x16x64xf32> -> !tile.buffer<f32, () -> (8, 64, 64)>
  tile.return
}
