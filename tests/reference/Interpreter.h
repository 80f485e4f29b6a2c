// What graph IR means, executed: each operation by its definition in GraphOps.td, element by element, at any stage from
// import to grouping. Slow on purpose: tests compare handlers, rewrites and kernels with it.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "runtime/Tensor.h"

namespace tilewright::graph {

/// Runs @main of `module` on `inputs`, in the order of its arguments. Floats are computed in double and rounded to the
/// element type after every operation. Fails on sizes that do not fit the arguments, on indices out of range and on
/// operations outside the graph stages.
Expected<std::vector<Tensor>> interpret(mlir::ModuleOp module, std::span<const Tensor> inputs);

} // namespace tilewright::graph
