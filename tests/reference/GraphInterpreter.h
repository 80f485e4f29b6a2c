// SPDX-License-Identifier: Apache-2.0
// Graph IR at any stage from import to grouping, executed element by element by the definitions in GraphOps.td. It is
// slow on purpose: tests compare handlers, rewrites and kernels with it.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "runtime/Tensor.h"
#include "tests/reference/Dense.h"

namespace tilewright::graph {

/// Runs @main of `module` on `inputs`, in the order of its arguments. Floats are computed in double and rounded to the
/// element type after every operation. Fails on sizes that do not fit the arguments, on indices out of range and on
/// operations that are not of the graph stages.
Expected<std::vector<Tensor>> interpret(mlir::ModuleOp module, std::span<const Tensor> inputs);

/// Runs one kernel, with `symbols` as values of the module's symbols. Floats are not rounded, so that a kernel in
/// another form can be compared up to the errors of double.
Expected<std::vector<tests::Dense>> interpretKernel(KernelOp kernel, const std::vector<tests::Dense> &inputs,
                                                    llvm::ArrayRef<int64_t> symbols);

} // namespace tilewright::graph
