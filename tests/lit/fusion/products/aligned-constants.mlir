// Constants whose rows are no multiple of 16 bytes are stored with what is summed along last; where that is odd too, large products are padded.
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all walks-pixels=true pixel-columns=64 explain=text' | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all walks-pixels=true' | FileCheck %s --check-prefix=HALVES
// RUN: tilewright-opt %s --split-input-file --tilewright-group-form-groups='mode=all' | FileCheck %s --check-prefix=OTHERS

// 75 columns. A target without such an engine keeps them.
// CHECK: fusion all: 1 launches
// CHECK: graph.constant "{{.*}}" : tensor<75x1712xf16>
// CHECK: graph.contract {{.*}} : tensor<64x1712xf16>, tensor<75x1712xf16>
// OTHERS: graph.constant "00000000000000000000000000000001" : tensor<1712x75xf16>
module attributes {graph.nodes = ["p|MatMul"]} {
  func.func @main(%x: tensor<64x1712xf16>) -> tensor<64x75xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<1712x75xf16>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<64x1712xf16>, tensor<1712x75xf16> -> tensor<64x75xf32>
    return %c : tensor<64x75xf32>
  }
}

// -----

// Each of a batch, and of singles.
// CHECK: graph.constant "{{.*}}" : tensor<3x75x1712xf32>
// HALVES: graph.constant "00000000000000000000000000000001" : tensor<3x1712x75xf32>
module attributes {graph.nodes = ["p|MatMul"]} {
  func.func @main(%x: tensor<3x64x1712xf32>) -> tensor<3x64x75xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<3x1712x75xf32>
    %c = graph.contract %x, %w maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] {graph.node = 0 : i64}
        : tensor<3x64x1712xf32>, tensor<3x1712x75xf32> -> tensor<3x64x75xf32>
    return %c : tensor<3x64x75xf32>
  }
}

// -----

// Near misses: seven columns; 76 of singles, which are a multiple of 16 bytes.
// CHECK: graph.constant "00000000000000000000000000000001" : tensor<1712x7xf16>
// CHECK: graph.constant "00000000000000000000000000000002" : tensor<1712x76xf32>
module attributes {graph.nodes = ["p|MatMul", "q|MatMul"]} {
  func.func @main(%x: tensor<64x1712xf16>, %z: tensor<64x1712xf32>) -> (tensor<64x7xf32>, tensor<64x76xf32>) {
    %w = graph.constant "00000000000000000000000000000001" : tensor<1712x7xf16>
    %v = graph.constant "00000000000000000000000000000002" : tensor<1712x76xf32>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<64x1712xf16>, tensor<1712x7xf16> -> tensor<64x7xf32>
    %d = graph.contract %z, %v maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64}
        : tensor<64x1712xf32>, tensor<1712x76xf32> -> tensor<64x76xf32>
    return %c, %d : tensor<64x7xf32>, tensor<64x76xf32>
  }
}

// -----

// An odd sum: the rows of the other side are padded by a kernel of their own, and columns that are aligned stay last.
// CHECK: fusion all: 2 launches
// CHECK: p is split between the two because the rows that it pads are copied as they are, from memory
// CHECK: graph.constant "{{.*}}" : tensor<576x256xf16>
// CHECK: graph.pad %{{.*}} low [0, 0] fill 0.000000e+00 : f16 : tensor<4096x513xf16> -> tensor<4096x576xf16>
// CHECK: graph.contract {{.*}} : tensor<4096x576xf16>, tensor<576x256xf16>
// OTHERS-NOT: graph.pad
module attributes {graph.nodes = ["p|MatMul"]} {
  func.func @main(%x: tensor<4096x513xf16>) -> tensor<4096x256xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<513x256xf16>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<4096x513xf16>, tensor<513x256xf16> -> tensor<4096x256xf32>
    return %c : tensor<4096x256xf32>
  }
}

// -----

// Both odd, and any number of rows. The constant lies along the sum already.
// CHECK: graph.constant "{{.*}}" : tensor<5001x4160xf16>
// CHECK: graph.pad {{.*}} -> tensor<?x4160xf16
module attributes {graph.nodes = ["p|MatMul"]} {
  func.func @main(%x: tensor<?x4097xf16, affine_map<()[s0] -> (s0, 4097)>>) -> tensor<?x5001xf32, affine_map<()[s0] -> (s0, 5001)>> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<5001x4097xf16>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<?x4097xf16, affine_map<()[s0] -> (s0, 4097)>>, tensor<5001x4097xf16> -> tensor<?x5001xf32, affine_map<()[s0] -> (s0, 5001)>>
    return %c : tensor<?x5001xf32, affine_map<()[s0] -> (s0, 5001)>>
  }
}

// -----

// Near misses: too few multiplications of odd rows; rows of multiples of 4 bytes and too few columns; a left side that does not lie along the sum.
// CHECK: fusion all: 3 launches
// CHECK-NOT: graph.pad
module attributes {graph.nodes = ["p|MatMul", "q|MatMul", "r|MatMul"]} {
  func.func @main(%x: tensor<128x513xf16>, %y: tensor<8192x2046xf16>, %z: tensor<513x4096xf16>) -> (tensor<128x256xf32>, tensor<8192x512xf32>, tensor<4096x256xf32>) {
    %w = graph.constant "00000000000000000000000000000001" : tensor<513x256xf16>
    %v = graph.constant "00000000000000000000000000000002" : tensor<2046x512xf16>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<128x513xf16>, tensor<513x256xf16> -> tensor<128x256xf32>
    %d = graph.contract %y, %v maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64}
        : tensor<8192x2046xf16>, tensor<2046x512xf16> -> tensor<8192x512xf32>
    %e = graph.contract %z, %w maps [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 2 : i64}
        : tensor<513x4096xf16>, tensor<513x256xf16> -> tensor<4096x256xf32>
    return %c, %d, %e : tensor<128x256xf32>, tensor<8192x512xf32>, tensor<4096x256xf32>
  }
}

// -----

// Rows that can be copied, but are no lines of 128 bytes: 1,000 columns with a sum of 2,048, and a sum of 1,000 with 4,096 columns.
// CHECK: graph.constant "{{.*}}" : tensor<1000x2048xf16>
// CHECK: graph.constant "{{.*}}" : tensor<1000x4096xf16>
// CHECK: graph.contract {{.*}} : tensor<32x2048xf16>, tensor<1000x2048xf16>
// CHECK: graph.contract {{.*}} : tensor<512x1000xf16>, tensor<1000x4096xf16>
// OTHERS: graph.constant "00000000000000000000000000000001" : tensor<2048x1000xf16>
module attributes {graph.nodes = ["p|MatMul", "q|MatMul"]} {
  func.func @main(%x0: tensor<32x2048xf16>, %x1: tensor<512x1000xf16>) -> (tensor<32x1000xf32>, tensor<512x4096xf32>) {
    %w0 = graph.constant "00000000000000000000000000000001" : tensor<2048x1000xf16>
    %w1 = graph.constant "00000000000000000000000000000002" : tensor<4096x1000xf16>
    %c0 = graph.contract %x0, %w0 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<32x2048xf16>, tensor<2048x1000xf16> -> tensor<32x1000xf32>
    %c1 = graph.contract %x1, %w1 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64}
        : tensor<512x1000xf16>, tensor<4096x1000xf16> -> tensor<512x4096xf32>
    return %c0, %c1 : tensor<32x1000xf32>, tensor<512x4096xf32>
  }
}

// -----

// Neither is a line: the sum is made one.
// CHECK: constant "{{.*}}" : tensor<5000x1024xf16>
// CHECK: graph.pad {{.*}} tensor<4096x1000xf16> -> tensor<4096x1024xf16>
// CHECK: graph.contract {{.*}} : tensor<4096x1024xf16>, tensor<5000x1024xf16>
module attributes {graph.nodes = ["p|MatMul"]} {
  func.func @main(%x: tensor<4096x1000xf16>) -> tensor<4096x5000xf32> {
    %w = graph.constant "00000000000000000000000000000001" : tensor<1000x5000xf16>
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<4096x1000xf16>, tensor<1000x5000xf16> -> tensor<4096x5000xf32>
    return %c : tensor<4096x5000xf32>
  }
}

// -----

// Near misses: neither is a line, and few multiplications; singles; few rows of a large constant, whose columns are streamed; few rows along the sum.
// CHECK: graph.constant "00000000000000000000000000000001" : tensor<1000x200xf16>
// CHECK: graph.constant "00000000000000000000000000000002" : tensor<2048x1000xf32>
// CHECK: graph.constant "00000000000000000000000000000003" : tensor<4096x5000xf16>
// CHECK: graph.constant "00000000000000000000000000000004" : tensor<4096x1000xf16>
module attributes {graph.nodes = ["p|MatMul", "q|MatMul", "r|MatMul", "s|MatMul"]} {
  func.func @main(%x0: tensor<512x1000xf16>, %x1: tensor<512x2048xf32>, %x2: tensor<16x4096xf16>, %x3: tensor<1x1000xf16>) -> (tensor<512x200xf32>, tensor<512x1000xf32>, tensor<16x5000xf32>, tensor<1x4096xf32>) {
    %w0 = graph.constant "00000000000000000000000000000001" : tensor<1000x200xf16>
    %w1 = graph.constant "00000000000000000000000000000002" : tensor<2048x1000xf32>
    %w2 = graph.constant "00000000000000000000000000000003" : tensor<4096x5000xf16>
    %w3 = graph.constant "00000000000000000000000000000004" : tensor<4096x1000xf16>
    %c0 = graph.contract %x0, %w0 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<512x1000xf16>, tensor<1000x200xf16> -> tensor<512x200xf32>
    %c1 = graph.contract %x1, %w1 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 1 : i64}
        : tensor<512x2048xf32>, tensor<2048x1000xf32> -> tensor<512x1000xf32>
    %c2 = graph.contract %x2, %w2 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 2 : i64}
        : tensor<16x4096xf16>, tensor<4096x5000xf16> -> tensor<16x5000xf32>
    %c3 = graph.contract %x3, %w3 maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 3 : i64}
        : tensor<1x1000xf16>, tensor<4096x1000xf16> -> tensor<1x4096xf32>
    return %c0, %c1, %c2, %c3 : tensor<512x200xf32>, tensor<512x1000xf32>, tensor<16x5000xf32>, tensor<1x4096xf32>
  }
}
