// Every operation prints what it parses, with static and symbolic sizes.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

module attributes {graph.symbols = ["batch", "seq"], graph.nodes = ["n|Mul"]} {
  // CHECK-LABEL: graph.kernel @bias_relu(%arg0: tensor<8x768xf32>, %arg1: tensor<768xf32> {graph.constant}) -> tensor<8x768xf32>
  graph.kernel @bias_relu(%x: tensor<8x768xf32>, %b: tensor<768xf32> {graph.constant}) -> tensor<8x768xf32> {
    // CHECK: graph.broadcast %arg1 dims [1] {graph.node = 0 : i64} : tensor<768xf32> -> tensor<8x768xf32>
    %0 = graph.broadcast %b dims [1] {graph.node = 0} : tensor<768xf32> -> tensor<8x768xf32>
    %1 = arith.addf %x, %0 : tensor<8x768xf32>
    // CHECK: graph.return %{{.*}} : tensor<8x768xf32>
    graph.return %1 : tensor<8x768xf32>
  }

  // CHECK-LABEL: func.func @main
  func.func @main(%x: tensor<8x768xf32>, %b: tensor<768xf32>) -> tensor<8x768xf32> {
    // CHECK: graph.launch @bias_relu(%arg0, %arg1) : (tensor<8x768xf32>, tensor<768xf32>) -> tensor<8x768xf32>
    %y = graph.launch @bias_relu(%x, %b) : (tensor<8x768xf32>, tensor<768xf32>) -> tensor<8x768xf32>
    return %y : tensor<8x768xf32>
  }

  // CHECK-LABEL: func.func @accesses
  func.func @accesses(%x: tensor<?x?x768xf32, affine_map<()[s0, s1] -> (s0, s1, 768)>>, %ids: tensor<8x4xi64>, %image: tensor<1x224x224x3xf32>) {
    // CHECK: graph.reshape %arg0 : tensor<?x?x768xf32, #map{{.*}}> -> tensor<?x768xf32
    %r = graph.reshape %x : tensor<?x?x768xf32, affine_map<()[s0, s1] -> (s0, s1, 768)>> -> tensor<?x768xf32, affine_map<()[s0, s1] -> (s0 * s1, 768)>>
    // CHECK: graph.view %{{.*}} : tensor<?x768xf32, #map{{.*}}> -> tensor<?x256xf32
    %v = graph.view %r : tensor<?x768xf32, affine_map<()[s0, s1] -> (s0 * s1, 768)>> -> tensor<?x256xf32, affine_map<()[s0, s1] -> (s0, 256)>>
    // CHECK: graph.repeat %{{.*}} : tensor<?x768xf32, #map{{.*}}> -> tensor<?x768xf32
    %rep = graph.repeat %r : tensor<?x768xf32, affine_map<()[s0, s1] -> (s0 * s1, 768)>> -> tensor<?x768xf32, affine_map<()[s0, s1] -> (s1, 768)>>
    // CHECK: graph.transpose %{{.*}} perm [1, 0]
    %t = graph.transpose %r perm [1, 0] : tensor<?x768xf32, affine_map<()[s0, s1] -> (s0 * s1, 768)>> -> tensor<768x?xf32, affine_map<()[s0, s1] -> (768, s0 * s1)>>
    // CHECK: graph.slice %{{.*}} offsets #map{{.*}} strides [2, -1]
    %s = graph.slice %t offsets affine_map<()[s0, s1] -> (0, s0 * s1 - 1)> strides [2, -1]
        : tensor<768x?xf32, affine_map<()[s0, s1] -> (768, s0 * s1)>> -> tensor<384x?xf32, affine_map<()[s0, s1] -> (384, s0 * s1)>>
    // CHECK: graph.roll %{{.*}} offsets #map{{.*}} : tensor<?x768xf32
    %rolled = graph.roll %r offsets affine_map<()[s0, s1] -> (s1, 0)> : tensor<?x768xf32, affine_map<()[s0, s1] -> (s0 * s1, 768)>>
        -> tensor<?x768xf32, affine_map<()[s0, s1] -> (s0 * s1, 768)>>
    // CHECK: graph.pad %arg2 low [0, 1, 1, 0] fill 0.000000e+00 : f32
    %p = graph.pad %image low [0, 1, 1, 0] fill 0.0 : f32 : tensor<1x224x224x3xf32> -> tensor<1x226x226x3xf32>
    // CHECK: graph.window %arg2 dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.000000e+00 : f32
    %w = graph.window %image dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32
        : tensor<1x224x224x3xf32> -> tensor<1x112x112x3x3x3xf32>
    // CHECK: graph.window %arg2 dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.000000e+00 : f32 copied
    %copied = graph.window %image dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32 copied
        : tensor<1x224x224x3xf32> -> tensor<1x112x112x3x3x3xf32>
    // CHECK: graph.constant "00112233445566778899aabbccddeeff" : tensor<100x64xf32>
    %table = graph.constant "00112233445566778899aabbccddeeff" : tensor<100x64xf32>
    // CHECK: graph.broadcast
    %i = graph.broadcast %ids dims [0, 1] : tensor<8x4xi64> -> tensor<8x4x64xi64>
    // CHECK: graph.gather %{{.*}}[%{{.*}} : tensor<8x4x64xi64>] map
    %g = graph.gather %table[%i : tensor<8x4x64xi64>] map affine_map<(d0, d1, d2, d3) -> (d3, d2)> : tensor<100x64xf32> -> tensor<8x4x64xf32>
    return
  }

  // CHECK-LABEL: func.func @loops
  func.func @loops(%a: tensor<128x768xf16>, %b: tensor<768x3072xf16>, %x: tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>) {
    // CHECK: graph.contract %arg0, %arg1 maps
    %c = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<128x768xf16>, tensor<768x3072xf16> -> tensor<128x3072xf32>
    // CHECK: graph.reduce <max> %arg2 axes [1]
    %m = graph.reduce <max> %x axes [1] : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>> -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
    // CHECK: graph.concat axis 0 %arg2, %arg2
    %j = graph.concat axis 0 %x, %x : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
        -> tensor<?x64xf32, affine_map<()[s0] -> (s0 * 2, 64)>>
    // CHECK: graph.iota dim 1 : tensor<8x128xi64>
    %i = graph.iota dim 1 : tensor<8x128xi64>
    // CHECK: graph.dims #map{{.*}} : tensor<2xi64>
    %d = graph.dims affine_map<()[s0] -> (s0, 768)> : tensor<2xi64>
    // CHECK: graph.read_sizes %{{.*}} symbols [0, 1] : tensor<2xi64>
    graph.read_sizes %d symbols [0, 1] : tensor<2xi64>
    // CHECK: graph.host_call "Resize"("", 13) present [true, false, true] attributes {mode = "linear"}(%arg2, %{{.*}})
    %h = graph.host_call "Resize"("", 13) present [true, false, true] attributes {mode = "linear"} (%x, %d)
        : (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<2xi64>) -> tensor<1x3xf32>
    // CHECK: arith.cmpf
    %e = arith.cmpf olt, %x, %x : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
    // CHECK: arith.truncf
    %f = arith.truncf %x : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>> to tensor<?x64xf16, affine_map<()[s0] -> (s0, 64)>>
    // CHECK: arith.select
    %s = arith.select %e, %x, %x : tensor<?x64xi1, affine_map<()[s0] -> (s0, 64)>>, tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
    return
  }
}
