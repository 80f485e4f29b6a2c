// RUN: tilewright-opt %s --tilewright-schedule-select=target=host | FileCheck %s --check-prefixes=CHECK,HOST
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_90a | FileCheck %s --check-prefixes=CHECK,GPU

#x = affine_map<(m, n, k) -> (m, k)>
#down = affine_map<(m, n, k) -> (k, n)>
#across = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// HOST-LABEL: graph.kernel @product
// HOST-SAME: schedule = #tile.schedule<matmul, {{.*}}registers = [
// GPU-LABEL: graph.kernel @product
// GPU-SAME: schedule = #tile.schedule<matmul, {{.*}}stages = {{[2-9]}}{{.*}}>
graph.kernel @product(%x: tensor<1024x1024xf16>, %y: tensor<1024x1024xf16>) -> tensor<1024x1024xf32> {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
      : tensor<1024x1024xf16>, tensor<1024x1024xf16> -> tensor<1024x1024xf32>
  graph.return %a : tensor<1024x1024xf32>
}

// Singles: warps that copy beside warps that multiply, where the left side's rows are rows of memory.
// HOST-LABEL: graph.kernel @singles
// GPU-LABEL: graph.kernel @singles
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [128, 128], reduce = [32], warps = 8, stages = 6, groups = 1, order = 4>
graph.kernel @singles(%x: tensor<4096x1024xf32>, %y: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
      : tensor<4096x1024xf32>, tensor<1024x4096xf32> -> tensor<4096x4096xf32>
  graph.return %a : tensor<4096x4096xf32>
}
// GPU-LABEL: graph.kernel @across
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [64, 128], reduce = [32], warps = 4, stages = 4>
graph.kernel @across(%x: tensor<1024x4096xf32>, %y: tensor<1024x4096xf32>) -> tensor<4096x4096xf32> {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
      : tensor<1024x4096xf32>, tensor<1024x4096xf32> -> tensor<4096x4096xf32>
  graph.return %a : tensor<4096x4096xf32>
}

// Three sums of halves: the smallest tiles where the right sides' columns are rows of memory; wider ones where rows are.
// Three of singles: threads that share sums, of few rows, unless there is much to multiply.
// GPU-LABEL: graph.kernel @gates
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [16, 8], reduce = [256], stages = 4>
graph.kernel @gates(%x: tensor<16x512xf16>, %r: tensor<256x512xf16>, %s: tensor<256x512xf16>, %t: tensor<256x512xf16>) -> tensor<16x256xf32> {
  %a = graph.contract %x, %r maps [#x, #across, #y] {graph.node = 0 : i64} : tensor<16x512xf16>, tensor<256x512xf16> -> tensor<16x256xf32>
  %b = graph.contract %x, %s maps [#x, #across, #y] {graph.node = 0 : i64} : tensor<16x512xf16>, tensor<256x512xf16> -> tensor<16x256xf32>
  %c = graph.contract %x, %t maps [#x, #across, #y] {graph.node = 0 : i64} : tensor<16x512xf16>, tensor<256x512xf16> -> tensor<16x256xf32>
  %d = arith.mulf %a, %b {graph.node = 1 : i64} : tensor<16x256xf32>
  %e = arith.addf %d, %c {graph.node = 1 : i64} : tensor<16x256xf32>
  graph.return %e : tensor<16x256xf32>
}
// GPU-LABEL: graph.kernel @gates_of_many
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [32, 8], reduce = [64], warps = 2, stages = 6>
graph.kernel @gates_of_many(%x: tensor<256x512xf16>, %r: tensor<256x512xf16>, %s: tensor<256x512xf16>, %t: tensor<256x512xf16>) -> tensor<256x256xf32> {
  %a = graph.contract %x, %r maps [#x, #across, #y] {graph.node = 0 : i64} : tensor<256x512xf16>, tensor<256x512xf16> -> tensor<256x256xf32>
  %b = graph.contract %x, %s maps [#x, #across, #y] {graph.node = 0 : i64} : tensor<256x512xf16>, tensor<256x512xf16> -> tensor<256x256xf32>
  %c = graph.contract %x, %t maps [#x, #across, #y] {graph.node = 0 : i64} : tensor<256x512xf16>, tensor<256x512xf16> -> tensor<256x256xf32>
  %d = arith.mulf %a, %b {graph.node = 1 : i64} : tensor<256x256xf32>
  %e = arith.addf %d, %c {graph.node = 1 : i64} : tensor<256x256xf32>
  graph.return %e : tensor<256x256xf32>
}
// GPU-LABEL: graph.kernel @gates_down
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [16, 32], reduce = [64], warps = 4
graph.kernel @gates_down(%x: tensor<16x512xf16>, %r: tensor<512x256xf16>, %s: tensor<512x256xf16>, %t: tensor<512x256xf16>) -> tensor<16x256xf32> {
  %a = graph.contract %x, %r maps [#x, #down, #y] {graph.node = 0 : i64} : tensor<16x512xf16>, tensor<512x256xf16> -> tensor<16x256xf32>
  %b = graph.contract %x, %s maps [#x, #down, #y] {graph.node = 0 : i64} : tensor<16x512xf16>, tensor<512x256xf16> -> tensor<16x256xf32>
  %c = graph.contract %x, %t maps [#x, #down, #y] {graph.node = 0 : i64} : tensor<16x512xf16>, tensor<512x256xf16> -> tensor<16x256xf32>
  %d = arith.mulf %a, %b {graph.node = 1 : i64} : tensor<16x256xf32>
  %e = arith.addf %d, %c {graph.node = 1 : i64} : tensor<16x256xf32>
  graph.return %e : tensor<16x256xf32>
}
// GPU-LABEL: graph.kernel @few_singles
// GPU-SAME: schedule = #tile.schedule<gemv, tile = [2, 16], reduce = [64], warps = 8>
graph.kernel @few_singles(%x: tensor<16x256xf32>, %r: tensor<256x256xf32>, %s: tensor<256x256xf32>, %t: tensor<256x256xf32>) -> tensor<16x256xf32> {
  %a = graph.contract %x, %r maps [#x, #down, #y] {graph.node = 0 : i64} : tensor<16x256xf32>, tensor<256x256xf32> -> tensor<16x256xf32>
  %b = graph.contract %x, %s maps [#x, #down, #y] {graph.node = 0 : i64} : tensor<16x256xf32>, tensor<256x256xf32> -> tensor<16x256xf32>
  %c = graph.contract %x, %t maps [#x, #down, #y] {graph.node = 0 : i64} : tensor<16x256xf32>, tensor<256x256xf32> -> tensor<16x256xf32>
  %d = arith.mulf %a, %b {graph.node = 1 : i64} : tensor<16x256xf32>
  %e = arith.addf %d, %c {graph.node = 1 : i64} : tensor<16x256xf32>
  graph.return %e : tensor<16x256xf32>
}
// GPU-LABEL: graph.kernel @more_singles
// GPU-SAME: schedule = #tile.schedule<matmul, 
graph.kernel @more_singles(%x: tensor<16x512xf32>, %r: tensor<512x1024xf32>, %s: tensor<512x1024xf32>) -> tensor<16x1024xf32> {
  %a = graph.contract %x, %r maps [#x, #down, #y] {graph.node = 0 : i64} : tensor<16x512xf32>, tensor<512x1024xf32> -> tensor<16x1024xf32>
  %b = graph.contract %x, %s maps [#x, #down, #y] {graph.node = 0 : i64} : tensor<16x512xf32>, tensor<512x1024xf32> -> tensor<16x1024xf32>
  %d = arith.mulf %a, %b {graph.node = 1 : i64} : tensor<16x1024xf32>
  graph.return %d : tensor<16x1024xf32>
}

// A schedule that is there stays.
// CHECK-LABEL: graph.kernel @decided
// CHECK-SAME: schedule = #tile.schedule<pointwise, tile = [24]
graph.kernel @decided(%x: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {schedule = #tile.schedule<pointwise, tile = [24]>} {
  %y = arith.addf %x, %x {graph.node = 0 : i64} : tensor<4x6xf32>
  graph.return %y : tensor<4x6xf32>
}

// A normalization of groups of ten channels of 32x32 pixels, whose result is in channels: each program has one row and goes through it, as the two numbers of the sums say.
// CHECK-LABEL: graph.kernel @group_norm
// CHECK-SAME: schedule = #tile.schedule<row_reduction, tile = [1, {{[0-9]+}}], reduce = [{{[0-9]+, [0-9]+}}]
graph.kernel @group_norm(%x: tensor<4x32x10240xf32>, %scale: tensor<320xf32>) -> tensor<4x320x32x32xf32> {
  %s = graph.reduce <sum> %x axes [2] {graph.node = 0 : i64} : tensor<4x32x10240xf32> -> tensor<4x32xf32>
  %b = graph.broadcast %s dims [0, 1] {graph.node = 0 : i64} : tensor<4x32xf32> -> tensor<4x32x10240xf32>
  %d = arith.subf %x, %b {graph.node = 0 : i64} : tensor<4x32x10240xf32>
  %r = graph.reshape %d {graph.node = 0 : i64} : tensor<4x32x10240xf32> -> tensor<4x320x32x32xf32>
  %c = graph.broadcast %scale dims [1] {graph.node = 0 : i64} : tensor<320xf32> -> tensor<4x320x32x32xf32>
  %y = arith.mulf %r, %c {graph.node = 0 : i64} : tensor<4x320x32x32xf32>
  graph.return %y : tensor<4x320x32x32xf32>
}

// Few columns of halves: tall tiles, and steps that are hardly padding (72 elements are a row of the window).
// CHECK-LABEL: graph.kernel @narrow
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [128, 32], reduce = [1, 32], warps = 8, stages = 4>
graph.kernel @narrow(%x: tensor<16x112x112x24xf16>, %w: tensor<3x3x24x24xf16> {graph.constant}) -> tensor<16x112x112x24xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [1, 1] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<16x112x112x24xf16> -> tensor<16x112x112x3x3x24xf16>
  %c = graph.contract %v, %w maps [affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, ky, kx, c)>, affine_map<(n, y, x, o, ky, kx, c) -> (ky, kx, c, o)>, affine_map<(n, y, x, o, ky, kx, c) -> (n, y, x, o)>] {graph.node = 0 : i64}
      : tensor<16x112x112x3x3x24xf16>, tensor<3x3x24x24xf16> -> tensor<16x112x112x24xf32>
  graph.return %c : tensor<16x112x112x24xf32>
}

// Depthwise windows. Of many results a thread has four vectors, and takes a row of the window in a step; of few it has one, and takes as much of the window as
// registers allow.
// CHECK-LABEL: graph.kernel @depthwise
// GPU-SAME: schedule = #tile.schedule<window, tile = [1, 8, 4, 32], reduce = [1, 7], unrolled = true>
graph.kernel @depthwise(%x: tensor<16x56x56x96xf32>, %w: tensor<7x7x96xf32> {graph.constant}) -> tensor<16x56x56x96xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [3, 3] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<16x56x56x96xf32> -> tensor<16x56x56x7x7x96xf32>
  %b = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<7x7x96xf32> -> tensor<16x56x56x7x7x96xf32>
  %m = arith.mulf %v, %b {graph.node = 0 : i64} : tensor<16x56x56x7x7x96xf32>
  %s = graph.reduce <sum> %m axes [3, 4] {graph.node = 0 : i64} : tensor<16x56x56x7x7x96xf32> -> tensor<16x56x56x96xf32>
  graph.return %s : tensor<16x56x56x96xf32>
}
// CHECK-LABEL: graph.kernel @depthwise_of_one
// GPU-SAME: schedule = #tile.schedule<window, tile = [4, 4, 32], reduce = [2, 5], unrolled = true>
graph.kernel @depthwise_of_one(%x: tensor<1x56x56x96xf32>, %w: tensor<5x5x96xf32> {graph.constant}) -> tensor<1x56x56x96xf32> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [2, 2] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<1x56x56x96xf32> -> tensor<1x56x56x5x5x96xf32>
  %b = graph.broadcast %w dims [3, 4, 5] {graph.node = 0 : i64} : tensor<5x5x96xf32> -> tensor<1x56x56x5x5x96xf32>
  %m = arith.mulf %v, %b {graph.node = 0 : i64} : tensor<1x56x56x5x5x96xf32>
  %s = graph.reduce <sum> %m axes [3, 4] {graph.node = 0 : i64} : tensor<1x56x56x5x5x96xf32> -> tensor<1x56x56x96xf32>
  graph.return %s : tensor<1x56x56x96xf32>
}
// CHECK-LABEL: graph.kernel @depthwise_of_halves
// GPU-SAME: schedule = #tile.schedule<window, tile = [4, 4, 32], reduce = [2, 5], unrolled = true>
graph.kernel @depthwise_of_halves(%x: tensor<1x56x56x96xf16>, %w: tensor<5x5x96xf16> {graph.constant}) -> tensor<1x56x56x96xf16> {
  %v = graph.window %x dims [1, 2] strides [1, 1] dilations [1, 1] low [2, 2] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<1x56x56x96xf16> -> tensor<1x56x56x5x5x96xf16>
  %vs = arith.extf %v {graph.node = 0 : i64} : tensor<1x56x56x5x5x96xf16> to tensor<1x56x56x5x5x96xf32>
  %ws = arith.extf %w {graph.node = 0 : i64} : tensor<5x5x96xf16> to tensor<5x5x96xf32>
  %b = graph.broadcast %ws dims [3, 4, 5] {graph.node = 0 : i64} : tensor<5x5x96xf32> -> tensor<1x56x56x5x5x96xf32>
  %m = arith.mulf %vs, %b {graph.node = 0 : i64} : tensor<1x56x56x5x5x96xf32>
  %s = graph.reduce <sum> %m axes [3, 4] {graph.node = 0 : i64} : tensor<1x56x56x5x5x96xf32> -> tensor<1x56x56x96xf32>
  %h = arith.truncf %s {graph.node = 0 : i64} : tensor<1x56x56x96xf32> to tensor<1x56x56x96xf16>
  graph.return %h : tensor<1x56x56x96xf16>
}
// A window that is one long row is cut into steps whose elements fit the registers.
// CHECK-LABEL: graph.kernel @depthwise_row
// GPU-SAME: schedule = #tile.schedule<window, tile = [4, 64], reduce = [22], unrolled = true>
graph.kernel @depthwise_row(%x: tensor<1x400x512xf16>, %w: tensor<87x512xf16> {graph.constant}) -> tensor<1x400x512xf32> {
  %v = graph.window %x dims [1] strides [1] dilations [1] low [43] fill 0.0 : f16 {graph.node = 0 : i64} : tensor<1x400x512xf16> -> tensor<1x400x87x512xf16>
  %vs = arith.extf %v {graph.node = 0 : i64} : tensor<1x400x87x512xf16> to tensor<1x400x87x512xf32>
  %ws = arith.extf %w {graph.node = 0 : i64} : tensor<87x512xf16> to tensor<87x512xf32>
  %b = graph.broadcast %ws dims [2, 3] {graph.node = 0 : i64} : tensor<87x512xf32> -> tensor<1x400x87x512xf32>
  %m = arith.mulf %vs, %b {graph.node = 0 : i64} : tensor<1x400x87x512xf32>
  %s = graph.reduce <sum> %m axes [2] {graph.node = 0 : i64} : tensor<1x400x87x512xf32> -> tensor<1x400x512xf32>
  graph.return %s : tensor<1x400x512xf32>
}
// A thread adds up short columns. The threads of a program share longer ones, those of the whole that they hold and those
// that they walk through in steps. Windows of planes slide along the innermost loop, and are not unrolled.
// CHECK-LABEL: graph.kernel @parts
// GPU-SAME: schedule = #tile.schedule<window, tile = [2, 512], reduce = [4], warps = 4, unrolled = true>
graph.kernel @parts(%x: tensor<16x196x480xf32>) -> tensor<16x49x480xf32> {
  %p = graph.reshape %x {graph.node = 0 : i64} : tensor<16x196x480xf32> -> tensor<16x49x4x480xf32>
  %s = graph.reduce <sum> %p axes [2] {graph.node = 0 : i64} : tensor<16x49x4x480xf32> -> tensor<16x49x480xf32>
  graph.return %s : tensor<16x49x480xf32>
}
// CHECK-LABEL: graph.kernel @pixels
// GPU-SAME: schedule = #tile.schedule<window, tile = [8], reduce = [1024], warps = 16>
graph.kernel @pixels(%x: tensor<3136x144xf16>) -> tensor<144xf32> {
  %f = arith.extf %x {graph.node = 0 : i64} : tensor<3136x144xf16> to tensor<3136x144xf32>
  %s = graph.reduce <sum> %f axes [0] {graph.node = 0 : i64} : tensor<3136x144xf32> -> tensor<144xf32>
  graph.return %s : tensor<144xf32>
}
// CHECK-LABEL: graph.kernel @column_shares
// GPU-SAME: schedule = #tile.schedule<window, tile = [8], reduce = [4096], warps = 16>
graph.kernel @column_shares(%x: tensor<3136x144xf16>) -> tensor<3136x144xf32> {
  %f = arith.extf %x {graph.node = 0 : i64} : tensor<3136x144xf16> to tensor<3136x144xf32>
  %s = graph.reduce <sum> %f axes [0] {graph.node = 0 : i64} : tensor<3136x144xf32> -> tensor<144xf32>
  %b = graph.broadcast %s dims [1] {graph.node = 0 : i64} : tensor<144xf32> -> tensor<3136x144xf32>
  %q = arith.divf %f, %b {graph.node = 0 : i64} : tensor<3136x144xf32>
  graph.return %q : tensor<3136x144xf32>
}
// CHECK-LABEL: graph.kernel @planes
// GPU-SAME: schedule = #tile.schedule<window, tile = [1, 16, 32], reduce = [3, 3], warps = 8, unrolled = true>
graph.kernel @planes(%x: tensor<64x57x57xf32>) -> tensor<64x28x28xf32> {
  %v = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [0, 0] fill 0xFF800000 : f32 {graph.node = 0 : i64} : tensor<64x57x57xf32> -> tensor<64x28x28x3x3xf32>
  %m = graph.reduce <max> %v axes [3, 4] {graph.node = 0 : i64} : tensor<64x28x28x3x3xf32> -> tensor<64x28x28xf32>
  graph.return %m : tensor<64x28x28xf32>
}

// Two products of each batch with one left side and four columns each: tall tiles, of which each product has half.
// CHECK-LABEL: graph.kernel @few_columns
// GPU-SAME: schedule = #tile.schedule<matmul, tile = [1, 128, 16], reduce = [32], warps = 8, stages = 4>
graph.kernel @few_columns(%x: tensor<512x256x256xf16>, %y: tensor<4x256x512xf16>, %z: tensor<4x256x512xf16>) -> tensor<512x256x4xf32> {
  %a = graph.contract %x, %y maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k, b)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 0 : i64}
      : tensor<512x256x256xf16>, tensor<4x256x512xf16> -> tensor<512x256x4xf32>
  %b = graph.contract %x, %z maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (n, k, b)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 0 : i64}
      : tensor<512x256x256xf16>, tensor<4x256x512xf16> -> tensor<512x256x4xf32>
  %d = arith.divf %a, %b {graph.node = 0 : i64} : tensor<512x256x4xf32>
  graph.return %d : tensor<512x256x4xf32>
}

// A product of two vectors, which is a single number, by matrix instructions: too short for threads that share a sum.
// CHECK-LABEL: graph.kernel @dot
// GPU-SAME: schedule = #tile.schedule<matmul,
graph.kernel @dot(%x: tensor<1x5xf16>, %y: tensor<5x1xf16>) -> tensor<f32> {
  %a = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
      : tensor<1x5xf16>, tensor<5x1xf16> -> tensor<1x1xf32>
  %r = graph.reshape %a {graph.node = 0 : i64} : tensor<1x1xf32> -> tensor<f32>
  graph.return %r : tensor<f32>
}
