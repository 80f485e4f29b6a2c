// SPDX-License-Identifier: Apache-2.0
// Names of modes, and what they allow.
#include "fusion/FusionMode.h"

#include "fusion/OnnxNodes.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

std::optional<FusionMode> fusion::parseFusionMode(StringRef name) {
  return llvm::StringSwitch<std::optional<FusionMode>>(name)
      .Case("none", FusionMode::None)
      .Case("epilogue", FusionMode::Epilogue)
      .Case("all", FusionMode::All)
      .Default(std::nullopt);
}

std::optional<AttentionFusion> fusion::parseAttentionFusion(StringRef name) {
  return llvm::StringSwitch<std::optional<AttentionFusion>>(name)
      .Case("none", AttentionFusion::None)
      .Case("large", AttentionFusion::Large)
      .Case("halves", AttentionFusion::Halves)
      .Case("floats", AttentionFusion::Floats)
      .Case("all", AttentionFusion::All)
      .Default(std::nullopt);
}

llvm::StringRef fusion::name(FusionMode mode) {
  constexpr llvm::StringLiteral names[] = {"none", "epilogue", "all"};
  return names[static_cast<size_t>(mode)];
}

bool fusion::isInsideNode(Value value, Operation *user) {
  int64_t node = nodeOf(user);
  return node >= 0 && nodeOf(value.getDefiningOp()) == node;
}
