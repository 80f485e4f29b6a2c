// Rows are reduced by shuffles, then across warps through shared memory with one barrier each.
// RUN: tilewright-opt %s --tilewright-code-print=target=sm_80 -o /dev/null | FileCheck %s

// CHECK-LABEL: .entry softmax(
// CHECK: ld.global.v4.b32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: bar.sync {{[ \t]*}}0
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: bar.sync {{[ \t]*}}0
// CHECK-NOT: bar.sync
// CHECK: st.global.v4.b32

tile.kernel @softmax(%x: !tile.buffer<f32, () -> (512, 1000)>, %y: !tile.buffer<f32, () -> (512, 1000)>)
    attributes {grid = affine_map<() -> (512, 1, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [1024], warps = 4>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%p, %c0] bounds () -> (512, 1000) map (d0, d1) -> (d0, d1) fill 0xFF800000 : f32 : !tile.buffer<f32, () -> (512, 1000)> -> tensor<1x1024xf32>
  %m = tile.reduce <max> %v dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %mb = tile.broadcast %m : tensor<1x1xf32> -> tensor<1x1024xf32>
  %d = arith.subf %v, %mb : tensor<1x1024xf32>
  %e = math.exp %d : tensor<1x1024xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %sb = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x1024xf32>
  %r = arith.divf %e, %sb : tensor<1x1024xf32>
  tile.store %r, %y[%p, %c0] bounds () -> (512, 1000) map (d0, d1) -> (d0, d1) : tensor<1x1024xf32> -> !tile.buffer<f32, () -> (512, 1000)>
  tile.return
}
