// SPDX-License-Identifier: Apache-2.0
// How much is fused: the modes of --fuse.
#pragma once

#include "mlir/IR/Operation.h"

#include <optional>

namespace tilewright::fusion {

enum class FusionMode {
  None,     // one kernel for each ONNX node
  Epilogue, // contractions and reductions take the elementwise work that follows them
  All,      // every rule of the table
};

/// Of which elements a target has kernels with two contractions around a softmax.
enum class ChainedProducts { None, Halves, Any };

/// What decides how much is fused.
struct FusionOptions {
  FusionOptions(FusionMode mode, ChainedProducts chains = ChainedProducts::Any) : mode(mode), chains(chains) {}
  FusionMode mode;
  ChainedProducts chains;
};

/// "none", "epilogue" or "all".
std::optional<FusionMode> parseFusionMode(llvm::StringRef name);
llvm::StringRef name(FusionMode mode);

/// Whether a rule that applies from mode `from` on may put `value` and its `user` into one kernel. Inside one ONNX node
/// every rule applies.
bool modeAllows(FusionMode mode, FusionMode from, mlir::Value value, mlir::Operation *user);

} // namespace tilewright::fusion
