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

/// Which softmaxes become one kernel with the contractions before and behind them: what the target can, and what pays.
enum class AttentionFusion {
  None,
  Large,  // those whose scores would leave a core's caches, and that have rows enough to share their keys
  Halves, // those of f16 or bf16
  Floats, // those of f16, bf16 or f32, and those of halves whose softmax is of f32
  All,
};

/// What programs run on: a core computes one after the other, the multiprocessors of a GPU hundreds at a time.
enum class Machine { Cpu, Gpu };

/// The least columns of a convolution of singles for its windows to be laid out for a copy engine
/// (windows/SingleWindows.h): as pixels that the engine walks, or, where it cannot, copied to memory before.
struct SingleWindows {
  int64_t pixelColumns, copiedColumns;
};

/// What decides how much is fused.
struct FusionOptions {
  FusionOptions(FusionMode mode, AttentionFusion attention = AttentionFusion::All, Machine machine = Machine::Gpu)
      : mode(mode), attention(attention), machine(machine) {}
  FusionMode mode;
  AttentionFusion attention;
  Machine machine;
  std::optional<SingleWindows> windows = std::nullopt; // nullopt: windows of singles are gathered
  int64_t longestHeldRow = 0; // elements that blocks of a cluster hold together; 0: the target has no clusters
  bool walksPixels = false;   // the copy engine walks pixels, so few channels become rows (windows/FewChannels.h)
};

/// From "none", "large", "halves", "floats" or "all"; nullopt for any other name.
std::optional<AttentionFusion> parseAttentionFusion(llvm::StringRef name);

/// From "none", "epilogue" or "all"; nullopt for any other name.
std::optional<FusionMode> parseFusionMode(llvm::StringRef name);
llvm::StringRef name(FusionMode mode);

/// Whether `value`, a result of an operation, and its `user` are of one ONNX node. Inside of a node every rule applies,
/// whatever the mode.
bool isInsideNode(mlir::Value value, mlir::Operation *user);

/// Whether a rule that applies from mode `from` on may put a value and its user into one kernel.
inline bool modeAllows(FusionMode mode, FusionMode from, bool insideNode) { return mode >= from || insideNode; }

} // namespace tilewright::fusion
