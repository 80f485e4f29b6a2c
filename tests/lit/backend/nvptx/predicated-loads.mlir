// Elements that are live each by itself are loaded under predicates, not in branches, so that all are on their way
// together. A loop along a row has a version of its step without them, and one for the last step.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_90a -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry odd(
// CHECK-COUNT-8: @%p{{[0-9]+}} ld.global.b16
// CHECK-NOT: ld.global
// CHECK: ret;
tile.kernel @odd(%x: !tile.buffer<f16, () -> (4, 201)>, %y: !tile.buffer<f32, () -> (4)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [256], warps = 1>} {
  %r = tile.program_id 0
  %c0 = arith.constant 0 : index
  %l = tile.load %x[%r, %c0] bounds () -> (4, 201) map (d0, d1) -> (d0, d1) : <f16, () -> (4, 201)> -> tensor<1x256xf16>
  %v = arith.extf %l : tensor<1x256xf16> to tensor<1x256xf32>
  %e = math.sqrt %v : tensor<1x256xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<1x256xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%r, %c0] bounds () -> (4, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> <f32, () -> (4)>
  tile.return
}

// CHECK-LABEL: .entry bytes(
// CHECK-COUNT-4: @%p{{[0-9]+}} ld.global.b8
// CHECK-NOT: ld.global
// CHECK: ret;
tile.kernel @bytes(%x: !tile.buffer<i8, () -> (4, 201)>, %y: !tile.buffer<i32, () -> (4)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [256], warps = 2>} {
  %r = tile.program_id 0
  %c0 = arith.constant 0 : index
  %l = tile.load %x[%r, %c0] bounds () -> (4, 201) map (d0, d1) -> (d0, d1) : <i8, () -> (4, 201)> -> tensor<1x256xi8>
  %v = arith.extsi %l : tensor<1x256xi8> to tensor<1x256xi32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x256xi32> -> tensor<1x1xi32>
  tile.store %s, %y[%r, %c0] bounds () -> (4, 1) map (d0, d1) -> (d0) : tensor<1x1xi32> -> <i32, () -> (4)>
  tile.return
}

// CHECK-LABEL: .entry long_row(
// CHECK-COUNT-4: @%p{{[0-9]+}} ld.global.b16
// CHECK-COUNT-4: {{^[[:space:]]}}ld.global.b16
// CHECK-NOT: ld.global
// CHECK: ret;
tile.kernel @long_row(%x: !tile.buffer<f16, () -> (4, 70001)>, %y: !tile.buffer<f32, () -> (4)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [256], warps = 2>} {
  %r = tile.program_id 0
  %c0 = arith.constant 0 : index
  %n = arith.constant 70001 : index
  %step = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<1x256xf32>
  %sums = scf.for %j = %c0 to %n step %step iter_args(%a = %zero) -> (tensor<1x256xf32>) {
    %l = tile.load %x[%r, %j] bounds () -> (4, 70001) map (d0, d1) -> (d0, d1) : <f16, () -> (4, 70001)> -> tensor<1x256xf16>
    %v = arith.extf %l : tensor<1x256xf16> to tensor<1x256xf32>
    %s = arith.addf %a, %v : tensor<1x256xf32>
    scf.yield %s : tensor<1x256xf32>
  }
  %s = tile.reduce <sum> %sums dim 1 : tensor<1x256xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%r, %c0] bounds () -> (4, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> <f32, () -> (4)>
  tile.return
}

// Constants are loaded early, through caches that see no writes, which assembly cannot be.
// CHECK-LABEL: .entry scales(
// CHECK: ld.global.nc.b16
// CHECK: ret;
tile.kernel @scales(%w: !tile.buffer<f16, () -> (201)> {graph.constant}, %y: !tile.buffer<f32, () -> (1)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [256], warps = 1>} {
  %c0 = arith.constant 0 : index
  %l = tile.load %w[%c0, %c0] bounds () -> (1, 201) map (d0, d1) -> (d1) : <f16, () -> (201)> -> tensor<1x256xf16>
  %v = arith.extf %l : tensor<1x256xf16> to tensor<1x256xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<1x256xf32> -> tensor<1x1xf32>
  tile.store %s, %y[%c0, %c0] bounds () -> (1, 1) map (d0, d1) -> (d0) : tensor<1x1xf32> -> <f32, () -> (1)>
  tile.return
}

// Where all elements of a thread have one condition, their branches are left to ptxas, which makes one predicate of them.
// CHECK-LABEL: .entry one_condition(
// CHECK-NOT: @%p{{[0-9]+}} ld.global
// CHECK: ld.global.b16
// CHECK-NOT: @%p{{[0-9]+}} ld.global
// CHECK: ret;
tile.kernel @one_condition(%x: !tile.buffer<f16, () -> (32, 23)>, %y: !tile.buffer<f32, () -> (32)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [8], reduce = [32], warps = 1>} {
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 8)(%p)
  %c0 = arith.constant 0 : index
  %l = tile.load %x[%r, %c0] bounds () -> (32, 23) map (d0, d1) -> (d0, d1) : <f16, () -> (32, 23)> -> tensor<8x32xf16>
  %v = arith.extf %l : tensor<8x32xf16> to tensor<8x32xf32>
  %s = tile.reduce <sum> %v dim 1 : tensor<8x32xf32> -> tensor<8x1xf32>
  tile.store %s, %y[%r, %c0] bounds () -> (32, 1) map (d0, d1) -> (d0) : tensor<8x1xf32> -> <f32, () -> (32)>
  tile.return
}
