// SPDX-License-Identifier: Apache-2.0
// A contraction computes its operands while it reads them, if that is cheap: accesses and casts. This rule also merges
// work that only the epilogue needs, such as a mask.
#include "fusion/rules/RuleTable.h"

using namespace tilewright::fusion;

bool tilewright::fusion::contractPrologue(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::Pointwise && edge.consumer->geometry.kind == RootKind::Matmul;
}
