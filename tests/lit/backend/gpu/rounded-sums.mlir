// What a lane adds to its own product is another lane's product, which has been rounded. So its own may not be
// contracted with the addition: both lanes are to get the same bits.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_80 -o /dev/null | FileCheck %s --check-prefix=PTX
// RUN: tilewright-opt %s --tilewright-code-print=target=gfx942 -o /dev/null | FileCheck %s --check-prefix=AMD

// PTX-LABEL: .entry squares(
// PTX-NOT: fma
// PTX: mul.f32 [[SQUARE:%r[0-9]+]], [[X:%r[0-9]+]], [[X]];
// PTX-NOT: fma
// PTX: shfl.sync.bfly.b32 [[OTHER:%r[0-9]+]], [[SQUARE]], 1,
// PTX-NEXT: add.rn.f32 {{%r[0-9]+}}, [[SQUARE]], [[OTHER]];
// PTX-NOT: fma
// PTX-COUNT-4: add.rn.f32
// PTX-NOT: fma
// PTX: ret;

// AMD-LABEL: squares:
// AMD-NOT: v_fma
// AMD: v_mul_f32
// AMD-NOT: v_fma
// AMD: v_add_f32
// AMD-NOT: v_fma
// AMD: s_endpgm
tile.kernel @squares(%x: !tile.buffer<f32, () -> (512, 32)>, %y: !tile.buffer<f32, () -> (512)>)
    attributes {grid = affine_map<() -> (512, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [32], warps = 1>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (512, 32) map (d0, d1) -> (d0, d1) fill 0.0 : f32 : !tile.buffer<f32, () -> (512, 32)> -> tensor<1x32xf32>
  %q = arith.mulf %v, %v : tensor<1x32xf32>
  %s = tile.reduce <sum> %q dim 1 : tensor<1x32xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%p, %c0] bounds () -> (512, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> !tile.buffer<f32, () -> (512)>
  tile.return
}
