// Which long rows the blocks of a cluster hold.
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_90a | FileCheck %s
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_80 | FileCheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: clustered

// The blocks of a cluster hold a row together.
// CHECK-LABEL: graph.kernel @vocabulary(
// CHECK-SAME: tile = [1], reduce = [131072], warps = 16, parts = 8, clustered = true>
graph.kernel @vocabulary(%x: tensor<150x128256xf32>) -> tensor<150x128256xf32> attributes {root = #graph.root<row_reduction>} {
  %m = graph.reduce <max> %x axes [1] : tensor<150x128256xf32> -> tensor<150xf32>
  %b = graph.broadcast %m dims [0] : tensor<150xf32> -> tensor<150x128256xf32>
  %y = arith.divf %x, %b : tensor<150x128256xf32>
  graph.return %y : tensor<150x128256xf32>
}

// Few rows: blocks of fewer warps, so that a row has as many multiprocessors.
// CHECK-LABEL: graph.kernel @few(
// CHECK-SAME: tile = [1], reduce = [32768], warps = 4, parts = 8, clustered = true>
graph.kernel @few(%x: tensor<4x20000xf16>) -> tensor<4x20000xf32> attributes {root = #graph.root<row_reduction>} {
  %f = arith.extf %x : tensor<4x20000xf16> to tensor<4x20000xf32>
  %m = graph.reduce <max> %f axes [1] : tensor<4x20000xf32> -> tensor<4xf32>
  %b = graph.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x20000xf32>
  %y = arith.divf %f, %b : tensor<4x20000xf32>
  graph.return %y : tensor<4x20000xf32>
}

// Many rows of halves, which fill the tile.
// CHECK-LABEL: graph.kernel @halves(
// CHECK-SAME: tile = [1], reduce = [131072], warps = 16, parts = 8, clustered = true>
graph.kernel @halves(%x: tensor<300x128256xf16>) -> tensor<300x128256xf32> attributes {root = #graph.root<row_reduction>} {
  %f = arith.extf %x : tensor<300x128256xf16> to tensor<300x128256xf32>
  %m = graph.reduce <max> %f axes [1] : tensor<300x128256xf32> -> tensor<300xf32>
  %b = graph.broadcast %m dims [0] : tensor<300xf32> -> tensor<300x128256xf32>
  %y = arith.divf %f, %b : tensor<300x128256xf32>
  graph.return %y : tensor<300x128256xf32>
}

// Where nothing is stored for each element, loops read rows of halves as fast.
// CHECK-LABEL: graph.kernel @sums(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @sums(%x: tensor<300x128256xf16>) -> tensor<300xf32> attributes {root = #graph.root<row_reduction>} {
  %f = arith.extf %x : tensor<300x128256xf16> to tensor<300x128256xf32>
  %m = graph.reduce <max> %f axes [1] : tensor<300x128256xf32> -> tensor<300xf32>
  %b = graph.broadcast %m dims [0] : tensor<300xf32> -> tensor<300x128256xf32>
  %y = arith.divf %f, %b : tensor<300x128256xf32>
  %s = graph.reduce <sum> %y axes [1] : tensor<300x128256xf32> -> tensor<300xf32>
  graph.return %s : tensor<300xf32>
}

// So they do where rows are shorter.
// CHECK-LABEL: graph.kernel @short_halves(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @short_halves(%x: tensor<150x50257xf16>) -> tensor<150x50257xf32> attributes {root = #graph.root<row_reduction>} {
  %f = arith.extf %x : tensor<150x50257xf16> to tensor<150x50257xf32>
  %m = graph.reduce <max> %f axes [1] : tensor<150x50257xf32> -> tensor<150xf32>
  %b = graph.broadcast %m dims [0] : tensor<150xf32> -> tensor<150x50257xf32>
  %y = arith.divf %f, %b : tensor<150x50257xf32>
  graph.return %y : tensor<150x50257xf32>
}

// And where much of the tile would be padding.
// CHECK-LABEL: graph.kernel @padded_halves(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @padded_halves(%x: tensor<300x100000xf16>) -> tensor<300x100000xf32> attributes {root = #graph.root<row_reduction>} {
  %f = arith.extf %x : tensor<300x100000xf16> to tensor<300x100000xf32>
  %m = graph.reduce <max> %f axes [1] : tensor<300x100000xf32> -> tensor<300xf32>
  %b = graph.broadcast %m dims [0] : tensor<300xf32> -> tensor<300x100000xf32>
  %y = arith.divf %f, %b : tensor<300x100000xf32>
  graph.return %y : tensor<300x100000xf32>
}

// Of singles, where more of it would be.
// CHECK-LABEL: graph.kernel @padded(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @padded(%x: tensor<100x20011xf32>) -> tensor<100x20011xf32> attributes {root = #graph.root<row_reduction>} {
  %m = graph.reduce <max> %x axes [1] : tensor<100x20011xf32> -> tensor<100xf32>
  %b = graph.broadcast %m dims [0] : tensor<100xf32> -> tensor<100x20011xf32>
  %y = arith.divf %x, %b : tensor<100x20011xf32>
  graph.return %y : tensor<100x20011xf32>
}

// A thread has no registers for so many doubles.
// CHECK-LABEL: graph.kernel @doubles(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @doubles(%x: tensor<4x20000xf64>) -> tensor<4x20000xf64> attributes {root = #graph.root<row_reduction>} {
  %m = graph.reduce <max> %x axes [1] : tensor<4x20000xf64> -> tensor<4xf64>
  %b = graph.broadcast %m dims [0] : tensor<4xf64> -> tensor<4x20000xf64>
  %y = arith.divf %x, %b : tensor<4x20000xf64>
  graph.return %y : tensor<4x20000xf64>
}

// A row that is read once needs no registers.
// CHECK-LABEL: graph.kernel @once(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @once(%x: tensor<4x20000xf32>) -> tensor<4xf32> attributes {root = #graph.root<row_reduction>} {
  %m = graph.reduce <max> %x axes [1] : tensor<4x20000xf32> -> tensor<4xf32>
  graph.return %m : tensor<4xf32>
}

// More than a cluster holds.
// CHECK-LABEL: graph.kernel @too_long(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @too_long(%x: tensor<4x131073xf32>) -> tensor<4x131073xf32> attributes {root = #graph.root<row_reduction>} {
  %m = graph.reduce <max> %x axes [1] : tensor<4x131073xf32> -> tensor<4xf32>
  %b = graph.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x131073xf32>
  %y = arith.divf %x, %b : tensor<4x131073xf32>
  graph.return %y : tensor<4x131073xf32>
}

// Nor where it is for fewer rows, and more of the tile.
// CHECK-LABEL: graph.kernel @some_padding(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @some_padding(%x: tensor<104x80256xf16>) -> tensor<104x80256xf32> attributes {root = #graph.root<row_reduction>} {
  %f = arith.extf %x : tensor<104x80256xf16> to tensor<104x80256xf32>
  %m = graph.reduce <max> %f axes [1] : tensor<104x80256xf32> -> tensor<104xf32>
  %b = graph.broadcast %m dims [0] : tensor<104xf32> -> tensor<104x80256xf32>
  %y = arith.divf %f, %b : tensor<104x80256xf32>
  graph.return %y : tensor<104x80256xf32>
}

// Many rows of singles fill more of it,
// CHECK-LABEL: graph.kernel @many_padded(
// CHECK-SAME: tile = [1], reduce = [{{[0-9]+}}], warps = {{[0-9]+}}>
graph.kernel @many_padded(%x: tensor<403x24675xf32>) -> tensor<403x24675xf32> attributes {root = #graph.root<row_reduction>} {
  %m = graph.reduce <max> %x axes [1] : tensor<403x24675xf32> -> tensor<403xf32>
  %b = graph.broadcast %m dims [0] : tensor<403xf32> -> tensor<403x24675xf32>
  %y = arith.divf %x, %b : tensor<403x24675xf32>
  graph.return %y : tensor<403x24675xf32>
}

// fewer rows need not,
// CHECK-LABEL: graph.kernel @some_rows(
// CHECK-SAME: tile = [1], reduce = [32768], warps = 4, parts = 8, clustered = true>
graph.kernel @some_rows(%x: tensor<150x24675xf32>) -> tensor<150x24675xf32> attributes {root = #graph.root<row_reduction>} {
  %m = graph.reduce <max> %x axes [1] : tensor<150x24675xf32> -> tensor<150xf32>
  %b = graph.broadcast %m dims [0] : tensor<150xf32> -> tensor<150x24675xf32>
  %y = arith.divf %x, %b : tensor<150x24675xf32>
  graph.return %y : tensor<150x24675xf32>
}

// nor longer ones.
// CHECK-LABEL: graph.kernel @many_long(
// CHECK-SAME: tile = [1], reduce = [65536], warps = 8, parts = 8, clustered = true>
graph.kernel @many_long(%x: tensor<403x50257xf32>) -> tensor<403x50257xf32> attributes {root = #graph.root<row_reduction>} {
  %m = graph.reduce <max> %x axes [1] : tensor<403x50257xf32> -> tensor<403xf32>
  %b = graph.broadcast %m dims [0] : tensor<403xf32> -> tensor<403x50257xf32>
  %y = arith.divf %x, %b : tensor<403x50257xf32>
  graph.return %y : tensor<403x50257xf32>
}
