// The marks of an exponential that is scaled at once mean nothing where they were typed into a stage.
// RUN: tilewright-opt %s --tilewright-code-print=target=x86-64-v4 -o /dev/null | FileCheck %s

// CHECK-LABEL: marked:
// CHECK-NOT: vscalefps
// CHECK: vmulps
// CHECK: retq
tile.kernel @marked(%x: !tile.buffer<f32, () -> (4096)>, %y: !tile.buffer<f32, () -> (4096)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024]>} {
  %p = tile.program_id 0
  %i = tile.size (d0) -> (d0 * 1024)(%p)
  %v = tile.load %x[%i] bounds () -> (4096) map (d0) -> (d0) : !tile.buffer<f32, () -> (4096)> -> tensor<1024xf32>
  %a = math.absf %v {scales} : tensor<1024xf32>
  %b = arith.addf %a, %v {scales} : tensor<1024xf32>
  %c = arith.mulf %b, %v {scales} : tensor<1024xf32>
  %w = math.exp2 %c {whole} : tensor<1024xf32>
  %r = arith.mulf %c, %w {scales} : tensor<1024xf32>
  tile.store %r, %y[%i] bounds () -> (4096) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> (4096)>
  tile.return
}
