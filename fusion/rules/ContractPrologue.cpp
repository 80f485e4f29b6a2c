// SPDX-License-Identifier: Apache-2.0
// A contraction computes its operands while it reads them, if that is cheap: accesses, casts, and the few operations
// that make numbers of weights stored in few bytes (fusion/cost/CostModel.cpp). This rule also merges work that only
// the epilogue needs, such as a mask.
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool contractPrologue(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::Pointwise && edge.consumer->geometry.kind == RootKind::Matmul;
}

} // namespace tilewright::fusion
