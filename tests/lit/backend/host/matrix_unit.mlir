// Bytes on AMX: four tiles of sums two by two where there are more than 16 rows, four beside each other where there are fewer; the unit is
// configured once, and for the rows that are left; its sums are read where it stored them. Depths that are no whole steps are not for it.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4-amx})" | FileCheck %s --check-prefix=SCHEDULE
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v4-amx},tilewright-tile-emit{target=x86-64-v4-amx})" -o %t.mlir
// RUN: tilewright-opt %t.mlir --tilewright-code-print=target=x86-64-v4-amx -o /dev/null | FileCheck %s

// SCHEDULE-LABEL: @many_rows
// SCHEDULE-SAME: registers = [32, 32], pack = 32, matrix = true>
// SCHEDULE-LABEL: @few_rows
// SCHEDULE-SAME: registers = [8, 64], pack = 64, matrix = true>
// SCHEDULE-LABEL: @odd_depth
// SCHEDULE-NOT: matrix = true

// CHECK-LABEL: many_rows:
// CHECK: ldtilecfg
// CHECK: prefetcht1
// CHECK: tileloadd {{.*}}, %tmm4
// CHECK: tileloadd {{.*}}, %tmm5
// CHECK: tileloadd {{.*}}, %tmm6
// CHECK-NEXT: tdpbusd %tmm6, %tmm4, %tmm0
// CHECK-NEXT: tdpbusd %tmm6, %tmm5, %tmm2
// CHECK: tdpbusd %tmm7, %tmm4, %tmm1
// CHECK-NEXT: tdpbusd %tmm7, %tmm5, %tmm3
// CHECK-NOT: ldtilecfg
// CHECK: tilestored
// CHECK: tilerelease
// CHECK: retq

// CHECK-LABEL: few_rows:
// CHECK: ldtilecfg
// CHECK: tdpbssd %tmm6, %tmm4, %tmm0
// CHECK: tdpbssd %tmm7, %tmm4, %tmm1
// CHECK: tdpbssd %tmm6, %tmm4, %tmm2
// CHECK: tdpbssd %tmm7, %tmm4, %tmm3
// CHECK: tilerelease

// CHECK-LABEL: odd_depth:
// CHECK-NOT: tile
// CHECK: vpdpbusd
// CHECK: retq
module attributes {graph.nodes = ["a|MatMulInteger"]} {
  graph.kernel @many_rows(%x: tensor<64x768xi8>, %w: tensor<768x256xi8> {graph.constant}) -> tensor<64x256xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<64x768xi8>, tensor<768x256xi8> -> tensor<64x256xi32>
    graph.return %c : tensor<64x256xi32>
  }
  graph.kernel @few_rows(%x: tensor<8x768xi8>, %w: tensor<768x256xi8> {graph.constant}) -> tensor<8x256xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {graph.node = 0 : i64}
        : tensor<8x768xi8>, tensor<768x256xi8> -> tensor<8x256xi32>
    graph.return %c : tensor<8x256xi32>
  }
  graph.kernel @odd_depth(%x: tensor<64x100xi8>, %w: tensor<100x256xi8> {graph.constant}) -> tensor<64x256xi32> {
    %c = graph.contract %x, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {lhs_unsigned, graph.node = 0 : i64}
        : tensor<64x100xi8>, tensor<100x256xi8> -> tensor<64x256xi32>
    graph.return %c : tensor<64x256xi32>
  }
}
