// SPDX-License-Identifier: Apache-2.0
// The ONNX nodes that operations came from.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace tilewright::fusion {

/// The ONNX node of an operation, an index into the module's graph.nodes; -1 if it has none.
int64_t nodeOf(mlir::Operation *op);

struct NodeLabel {
  llvm::StringRef name, op;
};
/// Name and operator of a node; nullopt if the module's graph.nodes does not have this index.
std::optional<NodeLabel> labelOf(mlir::ModuleOp module, int64_t node);

} // namespace tilewright::fusion
