// Work that a fusion would repeat stays in a kernel of its own: in front of windows, gathers, concatenations, and for values
// that are read more than once.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all explain=text' -o /dev/null | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all cpu=true explain=text' -o /dev/null | FileCheck %s --check-prefix=CPU

// Even one operation in front of windows that overlap.
// CHECK: relu is not fused with pool because work would be repeated for every use of its result
module attributes {graph.nodes = ["relu|Relu", "pool|MaxPool"]} {
  func.func @main(%x: tensor<1x8x8x4xf32>, %z: tensor<1x8x8x4xf32>) -> tensor<1x6x6x4xf32> {
    %0 = arith.maximumf %x, %z {graph.node = 0 : i64} : tensor<1x8x8x4xf32>
    %1 = graph.window %0 dims [1, 2] strides [1, 1] dilations [1, 1] low [0, 0] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<1x8x8x4xf32> -> tensor<1x6x6x3x3x4xf32>
    %2 = graph.reduce <max> %1 axes [3, 4] {graph.node = 1 : i64} : tensor<1x6x6x3x3x4xf32> -> tensor<1x6x6x4xf32>
    return %2 : tensor<1x6x6x4xf32>
  }
}

// -----

// The squares of a local response normalization are the node's own.
// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["lrn|LRN"]} {
  func.func @main(%x: tensor<8x64xf32>) -> tensor<6x64xf32> {
    %0 = arith.mulf %x, %x {graph.node = 0 : i64} : tensor<8x64xf32>
    %1 = graph.window %0 dims [0] strides [1] dilations [1] low [0] fill 0.0 : f32 {graph.node = 0 : i64} : tensor<8x64xf32> -> tensor<6x3x64xf32>
    %2 = graph.reduce <sum> %1 axes [1] {graph.node = 0 : i64} : tensor<6x3x64xf32> -> tensor<6x64xf32>
    return %2 : tensor<6x64xf32>
  }
}

// -----

// An image enlarged to its nearest neighbours, under a convolution's windows: only renaming, but a division for each tap.
// CHECK: resize is not fused with conv because
module attributes {graph.nodes = ["resize|Resize", "conv|Conv"]} {
  func.func @main(%x: tensor<1x4x8xf32>, %w: tensor<3x8x8xf32>) -> tensor<1x6x8xf32> {
    %0 = graph.broadcast %x dims [0, 1, 3] {graph.node = 0 : i64} : tensor<1x4x8xf32> -> tensor<1x4x2x8xf32>
    %1 = graph.reshape %0 {graph.node = 0 : i64} : tensor<1x4x2x8xf32> -> tensor<1x8x8xf32>
    %2 = graph.window %1 dims [1] strides [1] dilations [1] low [0] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<1x8x8xf32> -> tensor<1x6x3x8xf32>
    %3 = graph.contract %2, %w maps [affine_map<(b, x, k, c, m) -> (b, x, k, c)>, affine_map<(b, x, k, c, m) -> (k, c, m)>, affine_map<(b, x, k, c, m) -> (b, x, m)>] {graph.node = 1 : i64} : tensor<1x6x3x8xf32>, tensor<3x8x8xf32> -> tensor<1x6x8xf32>
    return %3 : tensor<1x6x8xf32>
  }
}

// -----

// A function of a small table, gathered often. The same gathered once for every element it has (below) is free.
// CHECK: exp is not fused with gather because work would be repeated for every use of its result
module attributes {graph.nodes = ["exp|Exp", "gather|Gather"]} {
  func.func @main(%x: tensor<10xf32>, %i: tensor<1000xi64>) -> tensor<1000xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<10xf32>
    %1 = graph.gather %0[%i : tensor<1000xi64>] map affine_map<(d0, d1) -> (d1)> {graph.node = 1 : i64} : tensor<10xf32> -> tensor<1000xf32>
    return %1 : tensor<1000xf32>
  }
}

// -----

// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["exp|Exp", "gather|Gather"]} {
  func.func @main(%x: tensor<1000xf32>, %i: tensor<1000xi64>) -> tensor<1000xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<1000xf32>
    %1 = graph.gather %0[%i : tensor<1000xi64>] map affine_map<(d0, d1) -> (d1)> {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<1000xf32>
    return %1 : tensor<1000xf32>
  }
}

// -----

// Every input of a concatenation is pulled at every place of its result, which a core does more slowly than it stores them.
// CHECK: fusion all: 1 launches
// CPU-DAG: a is not fused with cat because work would be repeated for every use of its result
// CPU-DAG: b is not fused with cat because work would be repeated for every use of its result
module attributes {graph.nodes = ["a|Exp", "b|Exp", "cat|Concat"]} {
  func.func @main(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>, %z: tensor<64x8xf32>) -> tensor<64x24xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<64x8xf32>
    %1 = math.exp %y {graph.node = 1 : i64} : tensor<64x8xf32>
    %2 = graph.concat axis 1 %0, %1, %z {graph.node = 2 : i64} : tensor<64x8xf32>, tensor<64x8xf32>, tensor<64x8xf32> -> tensor<64x24xf32>
    return %2 : tensor<64x24xf32>
  }
}

// -----

// Three slices of one function, of nearly all of it: two functions more for each element are too much for a core.
// CHECK: fusion all: 1 launches
// CPU: f is not fused with
// CPU-SAME: because work would be repeated for every use of its result
module attributes {graph.nodes = ["f|Exp", "a|Slice", "b|Slice", "c|Slice", "add|Add"]} {
  func.func @main(%x: tensor<1000xf32>) -> tensor<998xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<1000xf32>
    %1 = graph.slice %0 offsets affine_map<() -> (0)> strides [1] {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<998xf32>
    %2 = graph.slice %0 offsets affine_map<() -> (1)> strides [1] {graph.node = 2 : i64} : tensor<1000xf32> -> tensor<998xf32>
    %3 = graph.slice %0 offsets affine_map<() -> (2)> strides [1] {graph.node = 3 : i64} : tensor<1000xf32> -> tensor<998xf32>
    %4 = arith.addf %1, %2 {graph.node = 4 : i64} : tensor<998xf32>
    %5 = arith.addf %4, %3 {graph.node = 4 : i64} : tensor<998xf32>
    return %5 : tensor<998xf32>
  }
}

// -----

// Seven slices of it are too many for a GPU, too.
// CHECK: f is not fused with
// CHECK-SAME: because work would be repeated for every use of its result
module attributes {graph.nodes = ["f|Exp", "a|Slice", "add|Add"]} {
  func.func @main(%x: tensor<1000xf32>) -> tensor<990xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<1000xf32>
    %1 = graph.slice %0 offsets affine_map<() -> (0)> strides [1] {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<990xf32>
    %2 = graph.slice %0 offsets affine_map<() -> (1)> strides [1] {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<990xf32>
    %3 = graph.slice %0 offsets affine_map<() -> (2)> strides [1] {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<990xf32>
    %4 = graph.slice %0 offsets affine_map<() -> (3)> strides [1] {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<990xf32>
    %5 = graph.slice %0 offsets affine_map<() -> (4)> strides [1] {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<990xf32>
    %6 = graph.slice %0 offsets affine_map<() -> (5)> strides [1] {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<990xf32>
    %7 = graph.slice %0 offsets affine_map<() -> (6)> strides [1] {graph.node = 1 : i64} : tensor<1000xf32> -> tensor<990xf32>
    %8 = arith.addf %1, %2 {graph.node = 2 : i64} : tensor<990xf32>
    %9 = arith.addf %8, %3 {graph.node = 2 : i64} : tensor<990xf32>
    %10 = arith.addf %9, %4 {graph.node = 2 : i64} : tensor<990xf32>
    %11 = arith.addf %10, %5 {graph.node = 2 : i64} : tensor<990xf32>
    %12 = arith.addf %11, %6 {graph.node = 2 : i64} : tensor<990xf32>
    %13 = arith.addf %12, %7 {graph.node = 2 : i64} : tensor<990xf32>
    return %13 : tensor<990xf32>
  }
}

// -----

// Functions on rows: on 40 elements a core waits for them, on 64 it does not. A GPU has other rows to compute meanwhile.
// CHECK: fusion all: 1 launches
// CPU: exp is not fused with sum because the reduced rows are too short to hide what would be computed on them
module attributes {graph.nodes = ["exp|Exp", "sum|ReduceSum"]} {
  func.func @main(%x: tensor<1000x40xf32>) -> tensor<1000xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<1000x40xf32>
    %1 = graph.reduce <sum> %0 axes [1] {graph.node = 1 : i64} : tensor<1000x40xf32> -> tensor<1000xf32>
    return %1 : tensor<1000xf32>
  }
}

// -----

// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["exp|Exp", "sum|ReduceSum"]} {
  func.func @main(%x: tensor<1000x64xf32>) -> tensor<1000xf32> {
    %0 = math.exp %x {graph.node = 0 : i64} : tensor<1000x64xf32>
    %1 = graph.reduce <sum> %0 axes [1] {graph.node = 1 : i64} : tensor<1000x64xf32> -> tensor<1000xf32>
    return %1 : tensor<1000xf32>
  }
}

// -----

// A shuffle of channels: what the transpose makes neighbours are pieces of the concatenation.
// CHECK: cat is not fused with shuffle because work would be repeated for every use of its result
module attributes {graph.nodes = ["cat|Concat", "shuffle|Transpose"]} {
  func.func @main(%x: tensor<128x20xf32>, %y: tensor<128x20xf32>) -> tensor<128x20x2xf32> {
    %0 = graph.concat axis 1 %x, %y {graph.node = 0 : i64} : tensor<128x20xf32>, tensor<128x20xf32> -> tensor<128x40xf32>
    %1 = graph.reshape %0 {graph.node = 1 : i64} : tensor<128x40xf32> -> tensor<128x2x20xf32>
    %2 = graph.transpose %1 perm [0, 2, 1] {graph.node = 1 : i64} : tensor<128x2x20xf32> -> tensor<128x20x2xf32>
    return %2 : tensor<128x20x2xf32>
  }
}

// -----

// A roll: the slices end inside of the buffer.
// CHECK: fusion all: 1 launches
// CHECK-NEXT: slice_concat (pointwise): head, tail, roll
// CPU: head is not fused with roll because work would be repeated for every use of its result
module attributes {graph.nodes = ["head|Slice", "tail|Slice", "roll|Concat"]} {
  func.func @main(%x: tensor<128x20xf32>) -> tensor<128x20xf32> {
    %0 = graph.slice %x offsets affine_map<() -> (0, 0)> strides [1, 1] {graph.node = 0 : i64} : tensor<128x20xf32> -> tensor<32x20xf32>
    %1 = graph.slice %x offsets affine_map<() -> (32, 0)> strides [1, 1] {graph.node = 1 : i64} : tensor<128x20xf32> -> tensor<96x20xf32>
    %2 = graph.concat axis 0 %1, %0 {graph.node = 2 : i64} : tensor<96x20xf32>, tensor<32x20xf32> -> tensor<128x20xf32>
    return %2 : tensor<128x20xf32>
  }
}

// -----

// The pieces of a detector's boxes stay whole where the transpose puts each box's numbers together.
// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["cat|Concat", "boxes|Transpose"]} {
  func.func @main(%x: tensor<84x6400xf32>, %y: tensor<84x1600xf32>) -> tensor<8000x84xf32> {
    %0 = graph.concat axis 1 %x, %y {graph.node = 0 : i64} : tensor<84x6400xf32>, tensor<84x1600xf32> -> tensor<84x8000xf32>
    %1 = graph.transpose %0 perm [1, 0] {graph.node = 1 : i64} : tensor<84x8000xf32> -> tensor<8000x84xf32>
    return %1 : tensor<8000x84xf32>
  }
}

// -----

// Borders that a window pads lie inside of the sliced buffer; a slice along channels, or one that nothing pads, is only an offset.
// CHECK: fusion all: 2 launches
// CHECK: crop is not fused with padded because work would be repeated for every use of its result
module attributes {graph.nodes = ["crop|Slice", "padded|Conv"]} {
  func.func @main(%x: tensor<1x40x8xf32>, %w: tensor<3x8x16xf32>) -> tensor<1x32x16xf32> {
    %0 = graph.slice %x offsets affine_map<() -> (0, 0, 0)> strides [1, 1, 1] {graph.node = 0 : i64} : tensor<1x40x8xf32> -> tensor<1x32x8xf32>
    %1 = graph.window %0 dims [1] strides [1] dilations [1] low [1] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<1x32x8xf32> -> tensor<1x32x3x8xf32>
    %2 = graph.contract %1, %w maps [affine_map<(n, m, o, t, c) -> (n, m, t, c)>, affine_map<(n, m, o, t, c) -> (t, c, o)>, affine_map<(n, m, o, t, c) -> (n, m, o)>]
        {graph.node = 1 : i64} : tensor<1x32x3x8xf32>, tensor<3x8x16xf32> -> tensor<1x32x16xf32>
    return %2 : tensor<1x32x16xf32>
  }
}

// -----

// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["crop|Slice", "padded|Conv"]} {
  func.func @main(%x: tensor<1x32x40xf32>, %w: tensor<3x8x16xf32>) -> tensor<1x32x16xf32> {
    %0 = graph.slice %x offsets affine_map<() -> (0, 0, 4)> strides [1, 1, 1] {graph.node = 0 : i64} : tensor<1x32x40xf32> -> tensor<1x32x8xf32>
    %1 = graph.window %0 dims [1] strides [1] dilations [1] low [1] fill 0.0 : f32 {graph.node = 1 : i64} : tensor<1x32x8xf32> -> tensor<1x32x3x8xf32>
    %2 = graph.contract %1, %w maps [affine_map<(n, m, o, t, c) -> (n, m, t, c)>, affine_map<(n, m, o, t, c) -> (t, c, o)>, affine_map<(n, m, o, t, c) -> (n, m, o)>]
        {graph.node = 1 : i64} : tensor<1x32x3x8xf32>, tensor<3x8x16xf32> -> tensor<1x32x16xf32>
    return %2 : tensor<1x32x16xf32>
  }
}

// -----

// Two rows of a transposed image for each row of the result: the division writes it transposed, so that rows are read.
// CHECK: fusion all: 2 launches
// CHECK: 0 div (pointwise): div
// CHECK: div is not fused with resize because work would be repeated for every use of its result
module attributes {graph.nodes = ["div|Div", "resize|Resize"]} {
  func.func @main(%x: tensor<32x20x3xf32>, %y: tensor<32x20x3xf32>, %above: tensor<3x32x20xi64>, %below: tensor<3x32x20xi64>) -> tensor<3x32x20xf32> {
    %0 = arith.divf %x, %y {graph.node = 0 : i64} : tensor<32x20x3xf32>
    %1 = graph.transpose %0 perm [2, 0, 1] {graph.node = 0 : i64} : tensor<32x20x3xf32> -> tensor<3x32x20xf32>
    %2 = graph.gather %1[%above : tensor<3x32x20xi64>] map affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)> {graph.node = 1 : i64} : tensor<3x32x20xf32> -> tensor<3x32x20xf32>
    %3 = graph.gather %1[%below : tensor<3x32x20xi64>] map affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)> {graph.node = 1 : i64} : tensor<3x32x20xf32> -> tensor<3x32x20xf32>
    %4 = arith.addf %2, %3 {graph.node = 1 : i64} : tensor<3x32x20xf32>
    return %4 : tensor<3x32x20xf32>
  }
}

// -----

// Columns are collected one by one, transposed or not.
// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["neg|Neg", "resize|Resize"]} {
  func.func @main(%x: tensor<32x20x3xf32>, %left: tensor<3x32x20xi64>, %right: tensor<3x32x20xi64>) -> tensor<3x32x20xf32> {
    %0 = arith.negf %x {graph.node = 0 : i64} : tensor<32x20x3xf32>
    %1 = graph.transpose %0 perm [2, 0, 1] {graph.node = 0 : i64} : tensor<32x20x3xf32> -> tensor<3x32x20xf32>
    %2 = graph.gather %1[%left : tensor<3x32x20xi64>] map affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> {graph.node = 1 : i64} : tensor<3x32x20xf32> -> tensor<3x32x20xf32>
    %3 = graph.gather %1[%right : tensor<3x32x20xi64>] map affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> {graph.node = 1 : i64} : tensor<3x32x20xf32> -> tensor<3x32x20xf32>
    %4 = arith.addf %2, %3 {graph.node = 1 : i64} : tensor<3x32x20xf32>
    return %4 : tensor<3x32x20xf32>
  }
}

// -----

// Two slices that share a row read a transposed image little more than once.
// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["neg|Neg", "a|Slice", "b|Slice", "add|Add"]} {
  func.func @main(%x: tensor<33x20x3xf32>) -> tensor<3x17x20xf32> {
    %0 = arith.negf %x {graph.node = 0 : i64} : tensor<33x20x3xf32>
    %1 = graph.transpose %0 perm [2, 0, 1] {graph.node = 0 : i64} : tensor<33x20x3xf32> -> tensor<3x33x20xf32>
    %2 = graph.slice %1 offsets affine_map<() -> (0, 0, 0)> strides [1, 1, 1] {graph.node = 1 : i64} : tensor<3x33x20xf32> -> tensor<3x17x20xf32>
    %3 = graph.slice %1 offsets affine_map<() -> (0, 16, 0)> strides [1, 1, 1] {graph.node = 2 : i64} : tensor<3x33x20xf32> -> tensor<3x17x20xf32>
    %4 = arith.addf %2, %3 {graph.node = 3 : i64} : tensor<3x17x20xf32>
    return %4 : tensor<3x17x20xf32>
  }
}

// -----

// Group normalization of an image that lies channels last: rows of 2 channels of all pixels.
// CHECK: fusion all: 2 launches
// CHECK: image is not fused with norm because the elements of a reduced row would lie apart in memory, and so would those of neighbouring rows
module attributes {graph.nodes = ["image|Transpose", "norm|GroupNormalization"]} {
  func.func @main(%x: tensor<1x32x32x64xf32>) -> tensor<1x32xf32> {
    %0 = graph.transpose %x perm [0, 3, 1, 2] {graph.node = 0 : i64} : tensor<1x32x32x64xf32> -> tensor<1x64x32x32xf32>
    %1 = graph.reshape %0 {graph.node = 1 : i64} : tensor<1x64x32x32xf32> -> tensor<1x32x2048xf32>
    %2 = graph.reduce <sum> %1 axes [2] {graph.node = 1 : i64} : tensor<1x32x2048xf32> -> tensor<1x32xf32>
    return %2 : tensor<1x32xf32>
  }
}

// -----

// Normalization of each channel: neighbouring rows lie beside each other.
// CHECK: fusion all: 1 launches
module attributes {graph.nodes = ["image|Transpose", "norm|InstanceNormalization"]} {
  func.func @main(%x: tensor<1x32x32x64xf32>) -> tensor<1x64xf32> {
    %0 = graph.transpose %x perm [0, 3, 1, 2] {graph.node = 0 : i64} : tensor<1x32x32x64xf32> -> tensor<1x64x32x32xf32>
    %1 = graph.reshape %0 {graph.node = 1 : i64} : tensor<1x64x32x32xf32> -> tensor<1x64x1024xf32>
    %2 = graph.reduce <sum> %1 axes [2] {graph.node = 1 : i64} : tensor<1x64x1024xf32> -> tensor<1x64xf32>
    return %2 : tensor<1x64xf32>
  }
}
