// A quotient of which nothing else is read becomes a symbol of the kernel, and symbols are numbered as they are read, so
// that kernels for other sizes are the same.
// RUN: tilewright-opt %s --pass-pipeline="builtin.module(tilewright-schedule-select{target=x86-64-v3},tilewright-tile-emit{target=x86-64-v3})" --mlir-print-local-scope | FileCheck %s

module attributes {graph.symbols = ["a", "b", "c"]} {
  // CHECK-LABEL: tile.kernel @plain(%arg0: !tile.buffer<f32, ()[s0] -> (s0)>
  // CHECK-SAME: symbols = affine_map<()[s0, s1] -> (s1)>
  graph.kernel @plain(%x: tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>> attributes {root = #graph.root<pointwise>} {
    %y = math.absf %x : tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
    graph.return %y : tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
  }

  // CHECK-LABEL: tile.kernel @quotient(%arg0: !tile.buffer<f32, ()[s0] -> (s0)>
  // CHECK-SAME: symbols = affine_map<()[s0] -> ((s0 + 7) floordiv 8)>
  graph.kernel @quotient(%x: tensor<?xf32, affine_map<()[s0] -> ((s0 + 7) floordiv 8)>>) -> tensor<?xf32, affine_map<()[s0] -> ((s0 + 7) floordiv 8)>> attributes {root = #graph.root<pointwise>} {
    %y = math.absf %x : tensor<?xf32, affine_map<()[s0] -> ((s0 + 7) floordiv 8)>>
    graph.return %y : tensor<?xf32, affine_map<()[s0] -> ((s0 + 7) floordiv 8)>>
  }

  // Is 0 for a = 1: stays as it is.
  // CHECK-LABEL: tile.kernel @mayBeZero(%arg0: !tile.buffer<f32, ()[s0] -> (s0 floordiv 2)>
  // CHECK-SAME: symbols = affine_map<()[s0] -> (s0)>
  graph.kernel @mayBeZero(%x: tensor<?xf32, affine_map<()[s0] -> (s0 floordiv 2)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0 floordiv 2)>> attributes {root = #graph.root<pointwise>} {
    %y = math.absf %x : tensor<?xf32, affine_map<()[s0] -> (s0 floordiv 2)>>
    graph.return %y : tensor<?xf32, affine_map<()[s0] -> (s0 floordiv 2)>>
  }

  // The sum along a reads a itself too.
  // CHECK-LABEL: tile.kernel @readTwice(%arg0: !tile.buffer<f32, ()[s0] -> ((s0 + 1) floordiv 2, s0)>
  // CHECK-SAME: symbols = affine_map<()[s0] -> (s0)>
  graph.kernel @readTwice(%x: tensor<?x?xf32, affine_map<()[s0] -> ((s0 + 1) floordiv 2, s0)>>) -> tensor<?xf32, affine_map<()[s0] -> ((s0 + 1) floordiv 2)>> attributes {root = #graph.root<row_reduction>} {
    %y = graph.reduce <sum> %x axes [1] : tensor<?x?xf32, affine_map<()[s0] -> ((s0 + 1) floordiv 2, s0)>> -> tensor<?xf32, affine_map<()[s0] -> ((s0 + 1) floordiv 2)>>
    graph.return %y : tensor<?xf32, affine_map<()[s0] -> ((s0 + 1) floordiv 2)>>
  }

  // CHECK-LABEL: tile.kernel @inOrder(%arg0: !tile.buffer<f32, ()[s0, s1] -> (s0, s1)>
  // CHECK-SAME: symbols = affine_map<()[s0, s1, s2] -> (s2, (s0 + 7) floordiv 8)>
  graph.kernel @inOrder(%x: tensor<?x?xf32, affine_map<()[s0, s1, s2] -> (s2, (s0 + 7) floordiv 8)>>) -> tensor<?xf32, affine_map<()[s0, s1, s2] -> (s2)>> attributes {root = #graph.root<row_reduction>} {
    %y = graph.reduce <sum> %x axes [1] : tensor<?x?xf32, affine_map<()[s0, s1, s2] -> (s2, (s0 + 7) floordiv 8)>> -> tensor<?xf32, affine_map<()[s0, s1, s2] -> (s2)>>
    graph.return %y : tensor<?xf32, affine_map<()[s0, s1, s2] -> (s2)>>
  }
}
