// One invalid case for each rule of backend/VerifyStage.cpp, in the rules' order.
// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --tilewright-stage-verify

// expected-error@+1 {{expected graph.mode to be a mode of --fuse because grouping is over}}
module attributes {graph.stage = "group"} {
}

// -----

// expected-error@+1 {{expected graph.target to be a known target because schedules are for one}}
module attributes {graph.stage = "schedule", graph.mode = "all", graph.target = "soup"} {
}

// -----

// expected-error@+1 {{expected guards on symbols that the module has in graph.symbols}}
module attributes {graph.stage = "normalize", graph.symbols = ["n"],
                   graph.guards = [[affine_map<()[s0] -> (16)>, affine_map<()[s0, s1] -> (s1)>, "sizes", "equal"]]} {
}

// -----

// expected-error@+1 {{expected definitions of and by symbols that the module has in graph.symbols}}
module attributes {graph.stage = "normalize", graph.symbols = ["n"],
                   graph.definitions = [[1, "min", affine_map<()[s0] -> (s0)>, affine_map<() -> (8)>]]} {
}

// -----

module attributes {graph.stage = "normalize", graph.symbols = ["n"]} {
  func.func @main(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>) {
    // expected-error@+1 {{expected sizes in symbols that the module has in graph.symbols}}
    %y = graph.iota dim 0 {graph.node = 0 : i64} : tensor<?xi64, affine_map<()[s0, s1] -> (s1)>>
    return
  }
}

// -----

module attributes {graph.stage = "normalize"} {
  func.func @main(%x: tensor<8x4xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{expected graph.node because every operation is of an ONNX node}}
    %s = graph.reduce <sum> %x axes [1] : tensor<8x4xf32> -> tensor<8xf32>
    return %s : tensor<8xf32>
  }
}

// -----

module attributes {graph.stage = "normalize"} {
  // expected-error@+1 {{expected no graph.kernel before the stage group}}
  graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
    graph.return %x : tensor<8xf32>
  }
}

// -----

module attributes {graph.stage = "normalize"} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{expected no graph.launch before the stage group}}
    %y = graph.launch @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
  tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} { tile.return }
}

// -----

module attributes {graph.stage = "group", graph.mode = "all"} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{expected work to be in kernels because grouping is over}}
    %y = math.exp %x : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// -----

module attributes {graph.stage = "group", graph.mode = "all"} {
  // expected-error@+1 {{expected a root because fusion sets it}}
  graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
    graph.return %x : tensor<8xf32>
  }
}

// -----

module attributes {graph.stage = "group", graph.mode = "all"} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{expected the name of a graph.kernel}}
    %y = graph.launch @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
  tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} { tile.return }
}

// -----

module attributes {graph.stage = "schedule", graph.mode = "all", graph.target = "sm_80"} {
  // expected-error@+1 {{expected a schedule because the stage schedule is over}}
  graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> attributes {root = #graph.root<pointwise>} {
    graph.return %x : tensor<8xf32>
  }
}

// -----

module attributes {graph.stage = "tile", graph.mode = "all", graph.target = "sm_80"} {
  // expected-error@+1 {{expected no graph.kernel after the stage tile}}
  graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> attributes {root = #graph.root<pointwise>} {
    graph.return %x : tensor<8xf32>
  }
}

// -----

module attributes {graph.stage = "group", graph.mode = "all"} {
  // expected-error@+1 {{expected no tile.kernel before the stage tile}}
  tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>} { tile.return }
}

// -----

module attributes {graph.stage = "tile", graph.mode = "all", graph.target = "sm_80"} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{expected the name of a tile.kernel}}
    %y = graph.launch @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
  graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> attributes {root = #graph.root<pointwise>} {
    graph.return %x : tensor<8xf32>
  }
}

// -----

module attributes {graph.stage = "tile", graph.mode = "all", graph.target = "sm_80"} {
  // expected-error@+1 {{expected a schedule, which placing and code follow}}
  tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, symbols = affine_map<() -> ()>} { tile.return }
}

// -----

module attributes {graph.stage = "tile", graph.mode = "all", graph.target = "sm_80"} {
  // expected-error@+1 {{expected symbols, the sizes that the kernel takes, in the module's symbols}}
  tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [8]>} { tile.return }
}

// -----

module attributes {graph.stage = "tile", graph.mode = "all", graph.target = "sm_80"} {
  // expected-error@+1 {{expected no threads and shared_bytes before the stage place}}
  tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [8]>, symbols = affine_map<() -> ()>, threads = 32 : i64, shared_bytes = 0 : i64} { tile.return }
}

// -----

module attributes {graph.stage = "place", graph.mode = "all", graph.target = "sm_80"} {
  // expected-error@+1 {{expected threads and shared_bytes because the stage place is over}}
  tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [8]>, symbols = affine_map<() -> ()>} { tile.return }
}

// -----

// A host's programs are not placed.
module attributes {graph.stage = "place", graph.mode = "all", graph.target = "x86-64-v4"} {
  tile.kernel @k() attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [8]>, symbols = affine_map<() -> ()>} { tile.return }
}
