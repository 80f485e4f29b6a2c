// Attention with roles on Hopper: keys and values by bulk copies, the next scores before the mix, registers moved from the warps
// that copy to those that multiply.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=sm_90a},tilewright-tile-emit{target=sm_90a},tilewright-code-print{target=sm_90a})" -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry attention(
// CHECK-NOT: .local
// CHECK: mbarrier.init
// CHECK: setmaxnreg.inc.sync.aligned.u32 {{[ \t]*}}232
// The first scores are waited for at once; they start from nothing.
// CHECK: mbarrier.try_wait.parity
// CHECK: setp.ne.b32 adds, 0, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK-COUNT-7: setp.ne.b32 adds, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK: wgmma.wait_group.sync.aligned {{[ \t]*}}0
// CHECK: mbarrier.arrive.shared
// CHECK: ex2.approx.ftz.f32
// Steps: scores, the mix of the step before from registers and shared memory, then the softmax.
// CHECK: setp.ne.b32 adds, 0, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK-COUNT-7: setp.ne.b32 adds, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK: wgmma.commit_group
// CHECK-NOT: wait_group
// CHECK: mbarrier.try_wait.parity
// CHECK-COUNT-8: {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, adds, 1, 1, 1;
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned {{[ \t]*}}1
// CHECK: mbarrier.arrive.shared
// CHECK: ex2.approx.ftz.f32
// CHECK: wgmma.wait_group.sync.aligned {{[ \t]*}}0
// CHECK: mbarrier.arrive.shared
// CHECK: setmaxnreg.dec.sync.aligned.u32 {{[ \t]*}}32
// CHECK-COUNT-6: cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier
module attributes {graph.nodes = ["a|Attention"]} {
  graph.kernel @attention(%q: tensor<4x32x2048x128xf16>, %k: tensor<4x32x2048x128xf16>, %v: tensor<4x32x2048x128xf16>) -> tensor<4x32x2048x128xf16> attributes {root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, h, m, n, d) -> (b, h, m, d)>, affine_map<(b, h, m, n, d) -> (b, h, n, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<4x32x2048x128xf16>, tensor<4x32x2048x128xf16> -> tensor<4x32x2048x2048xf32>
    %c = arith.constant dense<0.125> : tensor<4x32x2048x2048xf32>
    %x = arith.mulf %s, %c : tensor<4x32x2048x2048xf32>
    %m = graph.reduce <max> %x axes [3] : tensor<4x32x2048x2048xf32> -> tensor<4x32x2048xf32>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<4x32x2048xf32> -> tensor<4x32x2048x2048xf32>
    %d = arith.subf %x, %mb : tensor<4x32x2048x2048xf32>
    %e = math.exp %d : tensor<4x32x2048x2048xf32>
    %t = graph.reduce <sum> %e axes [3] : tensor<4x32x2048x2048xf32> -> tensor<4x32x2048xf32>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<4x32x2048xf32> -> tensor<4x32x2048x2048xf32>
    %p = arith.divf %e, %tb : tensor<4x32x2048x2048xf32>
    %ph = arith.truncf %p : tensor<4x32x2048x2048xf32> to tensor<4x32x2048x2048xf16>
    %o = graph.contract %ph, %v maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, h, n, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
        : tensor<4x32x2048x2048xf16>, tensor<4x32x2048x128xf16> -> tensor<4x32x2048x128xf32>
    %h = arith.truncf %o : tensor<4x32x2048x128xf32> to tensor<4x32x2048x128xf16>
    graph.return %h : tensor<4x32x2048x128xf16>
  }

  // Few rows: four warps that copy beside four that multiply, each with the registers of half a multiprocessor.
  // CHECK-LABEL: .entry few(
  // CHECK: .maxntid 256
  // CHECK-NEXT: .minnctapersm 1
  // CHECK-NOT: setmaxnreg
  graph.kernel @few(%q: tensor<1x12x512x64xf16>, %k: tensor<1x12x512x64xf16>, %v: tensor<1x12x512x64xf16>) -> tensor<1x12x512x64xf16> attributes {root = #graph.root<attention>} {
    %s = graph.contract %q, %k maps [affine_map<(b, h, m, n, d) -> (b, h, m, d)>, affine_map<(b, h, m, n, d) -> (b, h, n, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>]
        : tensor<1x12x512x64xf16>, tensor<1x12x512x64xf16> -> tensor<1x12x512x512xf32>
    %c = arith.constant dense<0.125> : tensor<1x12x512x512xf32>
    %x = arith.mulf %s, %c : tensor<1x12x512x512xf32>
    %m = graph.reduce <max> %x axes [3] : tensor<1x12x512x512xf32> -> tensor<1x12x512xf32>
    %mb = graph.broadcast %m dims [0, 1, 2] : tensor<1x12x512xf32> -> tensor<1x12x512x512xf32>
    %d = arith.subf %x, %mb : tensor<1x12x512x512xf32>
    %e = math.exp %d : tensor<1x12x512x512xf32>
    %t = graph.reduce <sum> %e axes [3] : tensor<1x12x512x512xf32> -> tensor<1x12x512xf32>
    %tb = graph.broadcast %t dims [0, 1, 2] : tensor<1x12x512xf32> -> tensor<1x12x512x512xf32>
    %p = arith.divf %e, %tb : tensor<1x12x512x512xf32>
    %ph = arith.truncf %p : tensor<1x12x512x512xf32> to tensor<1x12x512x512xf16>
    %o = graph.contract %ph, %v maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, h, n, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>]
        : tensor<1x12x512x512xf16>, tensor<1x12x512x64xf16> -> tensor<1x12x512x64xf32>
    %h = arith.truncf %o : tensor<1x12x512x64xf32> to tensor<1x12x512x64xf16>
    graph.return %h : tensor<1x12x512x64xf16>
  }
}
