// Loops whose body is one kernel become one launch, if the target has clusters and the kernel a schedule for all steps.
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_90a --split-input-file | FileCheck %s
// RUN: tilewright-opt %s --tilewright-schedule-select=target=sm_80 --split-input-file | FileCheck %s --check-prefix=OTHER
// RUN: tilewright-opt %s --tilewright-schedule-select=target=host --split-input-file | FileCheck %s --check-prefix=OTHER

// OTHER-NOT: graph.steps

// A step of 64 columns: a block holds the weights.
// CHECK-LABEL: "loop|Scan"
// CHECK-NOT: flow.loop
// CHECK: graph.launch @step
// CHECK-SAME: -> (tensor<2x2x64xf32>, tensor<2x64xf32>, tensor<60x2x64xf32>)
// CHECK: graph.kernel @step
// CHECK-SAME: schedule = #tile.schedule<gemv, tile = [1, 64], reduce = [64]
// CHECK-SAME: steps = #graph.steps<count = () -> (60), carried = [0], forward = [2], backward = [], backward_results = []>
// CHECK-NOT: module @body
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %r#0, %r#1 : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %b = arith.addf %a, %x : tensor<2x64xf32>
    %c = math.tanh %b : tensor<2x64xf32>
    graph.return %c, %c : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}

// -----

// From the last slice on.
// CHECK-LABEL: "loop|Scan"
// CHECK: forward = [], backward = [2], backward_results = [1]>
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [true] reverse_collected [true] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %r#0, %r#1 : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %b = arith.addf %a, %x : tensor<2x64xf32>
    %c = math.tanh %b : tensor<2x64xf32>
    graph.return %c, %c : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}

// -----

// 256 columns are those of several blocks.
// CHECK-LABEL: "loop|Scan"
// CHECK: graph.kernel @step
// CHECK-SAME: schedule = #tile.schedule<gemv, tile = [1, {{32|64|128}}], reduce = [256]
// CHECK-SAME: steps =
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x256xf32>, %h: tensor<2x256xf32>) -> (tensor<2x256xf32>, tensor<60x2x256xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x256xf32>, tensor<60x2x256xf32>) -> (tensor<2x256xf32>, tensor<60x2x256xf32>)
  return %r#0, %r#1 : tensor<2x256xf32>, tensor<60x2x256xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x256xf32>, %x: tensor<2x256xf32>) -> (tensor<2x256xf32>, tensor<2x256xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<256x256xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x256xf32>, tensor<256x256xf32>, tensor<2x256xf32>) -> (tensor<2x256xf32>, tensor<2x256xf32>)
    return %r#0, %r#1 : tensor<2x256xf32>, tensor<2x256xf32>
  }
  graph.kernel @step(%h: tensor<2x256xf32>, %w: tensor<256x256xf32> {graph.constant}, %x: tensor<2x256xf32>) -> (tensor<2x256xf32>, tensor<2x256xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x256xf32>, tensor<256x256xf32> -> tensor<2x256xf32>
    %b = arith.addf %a, %x : tensor<2x256xf32>
    %c = math.tanh %b : tensor<2x256xf32>
    graph.return %c, %c : tensor<2x256xf32>, tensor<2x256xf32>
  }
}
}

// -----

// So many weights do not fit into the registers of a cluster.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x1024xf32>, %h: tensor<2x1024xf32>) -> (tensor<2x1024xf32>, tensor<60x2x1024xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x1024xf32>, tensor<60x2x1024xf32>) -> (tensor<2x1024xf32>, tensor<60x2x1024xf32>)
  return %r#0, %r#1 : tensor<2x1024xf32>, tensor<60x2x1024xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x1024xf32>, %x: tensor<2x1024xf32>) -> (tensor<2x1024xf32>, tensor<2x1024xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<1024x1024xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x1024xf32>, tensor<1024x1024xf32>, tensor<2x1024xf32>) -> (tensor<2x1024xf32>, tensor<2x1024xf32>)
    return %r#0, %r#1 : tensor<2x1024xf32>, tensor<2x1024xf32>
  }
  graph.kernel @step(%h: tensor<2x1024xf32>, %w: tensor<1024x1024xf32> {graph.constant}, %x: tensor<2x1024xf32>) -> (tensor<2x1024xf32>, tensor<2x1024xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x1024xf32>, tensor<1024x1024xf32> -> tensor<2x1024xf32>
    %b = arith.addf %a, %x : tensor<2x1024xf32>
    %c = math.tanh %b : tensor<2x1024xf32>
    graph.return %c, %c : tensor<2x1024xf32>, tensor<2x1024xf32>
  }
}
}

// -----

// So many rows would not run at the same time.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x512x256xf32>, %h: tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<60x512x256xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<512x256xf32>, tensor<60x512x256xf32>) -> (tensor<512x256xf32>, tensor<60x512x256xf32>)
  return %r#0, %r#1 : tensor<512x256xf32>, tensor<60x512x256xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<512x256xf32>, %x: tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512x256xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<256x256xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<512x256xf32>, tensor<256x256xf32>, tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512x256xf32>)
    return %r#0, %r#1 : tensor<512x256xf32>, tensor<512x256xf32>
  }
  graph.kernel @step(%h: tensor<512x256xf32>, %w: tensor<256x256xf32> {graph.constant}, %x: tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512x256xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<512x256xf32>, tensor<256x256xf32> -> tensor<512x256xf32>
    %b = arith.addf %a, %x : tensor<512x256xf32>
    %c = math.tanh %b : tensor<512x256xf32>
    graph.return %c, %c : tensor<512x256xf32>, tensor<512x256xf32>
  }
}
}

// -----

// Slices of 36 bytes are not aligned for wide accesses.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x1x9xf32>, %h: tensor<1x9xf32>) -> (tensor<1x9xf32>, tensor<60x1x9xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<1x9xf32>, tensor<60x1x9xf32>) -> (tensor<1x9xf32>, tensor<60x1x9xf32>)
  return %r#0, %r#1 : tensor<1x9xf32>, tensor<60x1x9xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<1x9xf32>, %x: tensor<1x9xf32>) -> (tensor<1x9xf32>, tensor<1x9xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<9x9xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<1x9xf32>, tensor<9x9xf32>, tensor<1x9xf32>) -> (tensor<1x9xf32>, tensor<1x9xf32>)
    return %r#0, %r#1 : tensor<1x9xf32>, tensor<1x9xf32>
  }
  graph.kernel @step(%h: tensor<1x9xf32>, %w: tensor<9x9xf32> {graph.constant}, %x: tensor<1x9xf32>) -> (tensor<1x9xf32>, tensor<1x9xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<1x9xf32>, tensor<9x9xf32> -> tensor<1x9xf32>
    %b = arith.addf %a, %x : tensor<1x9xf32>
    %c = math.tanh %b : tensor<1x9xf32>
    graph.return %c, %c : tensor<1x9xf32>, tensor<1x9xf32>
  }
}
}

// -----

// A row that reads another row's state would have to wait for another cluster.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %r#0, %r#1 : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) attributes {root = #graph.root<matmul>} {
    %o = graph.slice %h offsets affine_map<() -> (1, 0)> strides [-1, 1] : tensor<2x64xf32> -> tensor<2x64xf32>
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %b = arith.addf %a, %o : tensor<2x64xf32>
    %d = arith.addf %b, %x : tensor<2x64xf32>
    %c = math.tanh %d : tensor<2x64xf32>
    graph.return %c, %c : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}

// -----

// Two kernels a step.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    %s:2 = graph.launch @step(%r#0, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %s#0, %s#1 : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %b = arith.addf %a, %x : tensor<2x64xf32>
    %c = math.tanh %b : tensor<2x64xf32>
    graph.return %c, %c : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}

// -----

// A body that gives on what it was given.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %r#0, %x : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %b = arith.addf %a, %x : tensor<2x64xf32>
    %c = math.tanh %b : tensor<2x64xf32>
    graph.return %c, %c : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}

// -----

// A state that is read in two shapes is one argument.
// CHECK-LABEL: "loop|Scan"
// CHECK: graph.launch @step(%{{[^,]*}}, %{{[^,]*}}, %{{[^,)]*}})
// CHECK: graph.kernel @step
// CHECK-SAME: carried = [0], forward = [2]
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %f = graph.reshape %h {graph.node = 0 : i64} : tensor<2x64xf32> -> tensor<128xf32>
    %r = graph.launch @step(%h, %w, %x, %f) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>, tensor<128xf32>) -> tensor<128xf32>
    %s = graph.reshape %r {graph.node = 0 : i64} : tensor<128xf32> -> tensor<2x64xf32>
    return %s, %s : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>, %f: tensor<128xf32>) -> tensor<128xf32> attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %b = arith.addf %a, %x : tensor<2x64xf32>
    %r = graph.reshape %b : tensor<2x64xf32> -> tensor<128xf32>
    %d = arith.addf %r, %f : tensor<128xf32>
    graph.return %d : tensor<128xf32>
  }
}
}

// -----

// An unknown number of rows has kernels of one, two and four rows a program.
// CHECK-LABEL: "loop|Scan"
// CHECK: graph.launch @step
// CHECK-SAME: variants = [#graph.variant<@step_to132 for ()[s0] -> (s0) to 132>, #graph.variant<@step_to264 for ()[s0] -> (s0) to 264>]
// CHECK: graph.kernel @step({{.*}}schedule = #tile.schedule<gemv, tile = [4, 64]
// CHECK: graph.kernel @step_to264({{.*}}schedule = #tile.schedule<gemv, tile = [2, 64]
// CHECK: graph.kernel @step_to132({{.*}}schedule = #tile.schedule<gemv, tile = [1, 64]
module attributes {graph.nodes = ["loop|Scan"], graph.symbols = ["rows"]} {
func.func @main(%x: tensor<60x?x64xf32, affine_map<()[s0] -> (60, s0, 64)>>, %h: tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>) -> (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<60x?x64xf32, affine_map<()[s0] -> (60, s0, 64)>>) {
  %r:2 = flow.loop @body sizes affine_map<()[s0] -> (s0)> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<60x?x64xf32, affine_map<()[s0] -> (60, s0, 64)>>) -> (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<60x?x64xf32, affine_map<()[s0] -> (60, s0, 64)>>)
  return %r#0, %r#1 : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<60x?x64xf32, affine_map<()[s0] -> (60, s0, 64)>>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = ["rows"]} {
  func.func @main(%h: tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, %x: tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>) -> (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<64x64xf32>, tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>) -> (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>)
    return %r#0, %r#1 : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
  }
  graph.kernel @step(%h: tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>) -> (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<64x64xf32> -> tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
    %b = arith.addf %a, %x : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
    %c = math.tanh %b : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
    graph.return %c, %c : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
  }
}
}

// -----

// A schedule that was written by hand is of one step.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %r#0, %r#1 : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
      attributes {root = #graph.root<matmul>, schedule = #tile.schedule<gemv, tile = [1, 2], reduce = [64], warps = 2>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %b = arith.addf %a, %x : tensor<2x64xf32>
    graph.return %b, %b : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}

// -----

// Neighbours that are read two elements apart are those of both rows.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %r#0, %r#1 : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) attributes {root = #graph.root<matmul>} {
    %s = graph.reshape %h : tensor<2x64xf32> -> tensor<64x2xf32>
    %u = graph.transpose %s perm [1, 0] : tensor<64x2xf32> -> tensor<2x64xf32>
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %b = arith.addf %a, %u : tensor<2x64xf32>
    %c = arith.addf %b, %x : tensor<2x64xf32>
    graph.return %c, %c : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}

// -----

// Columns in another order are no multiples of the column's number, even if they stay in their row.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"], graph.symbols = []} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<() -> ()> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = []} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %r#0, %r#1 : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %s = graph.reshape %h : tensor<2x64xf32> -> tensor<2x32x2xf32>
    %p = graph.transpose %s perm [0, 2, 1] : tensor<2x32x2xf32> -> tensor<2x2x32xf32>
    %u = graph.reshape %p : tensor<2x2x32xf32> -> tensor<2x64xf32>
    %b = arith.addf %u, %x : tensor<2x64xf32>
    %c = arith.addf %a, %b : tensor<2x64xf32>
    graph.return %c, %c : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}

// -----

// What a body checks before its steps would be lost.
// CHECK-LABEL: "loop|Scan"
// CHECK: flow.loop
// CHECK-NOT: graph.steps
module attributes {graph.nodes = ["loop|Scan"], graph.symbols = ["n"]} {
func.func @main(%x: tensor<60x2x64xf32>, %h: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>) {
  %r:2 = flow.loop @body sizes affine_map<()[s0] -> (s0)> carried(%h) scanned(%x) captures() reverse_scanned [false] reverse_collected [false] {graph.node = 0 : i64}
      : (tensor<2x64xf32>, tensor<60x2x64xf32>) -> (tensor<2x64xf32>, tensor<60x2x64xf32>)
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<60x2x64xf32>
}
module @body attributes {graph.nodes = ["step|RNN"], graph.repeated, graph.symbols = ["n"], graph.guards = [[affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (7)>, "expected seven", "equal"]]} {
  func.func @main(%h: tensor<2x64xf32>, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
    %w = graph.constant "cff854846941304e8b7412a2afa2969a" : tensor<64x64xf32>
    %r:2 = graph.launch @step(%h, %w, %x) {graph.nodes_of = array<i64: 0>} : (tensor<2x64xf32>, tensor<64x64xf32>, tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    return %r#0, %r#1 : tensor<2x64xf32>, tensor<2x64xf32>
  }
  graph.kernel @step(%h: tensor<2x64xf32>, %w: tensor<64x64xf32> {graph.constant}, %x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) attributes {root = #graph.root<matmul>} {
    %a = graph.contract %h, %w maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] : tensor<2x64xf32>, tensor<64x64xf32> -> tensor<2x64xf32>
    %c = arith.addf %a, %x : tensor<2x64xf32>
    graph.return %c, %c : tensor<2x64xf32>, tensor<2x64xf32>
  }
}
}
