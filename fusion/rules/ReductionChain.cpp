// SPDX-License-Identifier: Apache-2.0
// Reductions over the same rows share a kernel, however many there are: softmax and layer normalization have two.
//
//     reduce <max> -> sub, exp -> reduce <sum> -> div  =>  one kernel that holds its row
//
// On GPUs so do reductions of the same columns, if these are short enough to be held.
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool reductionChain(const Edge &edge) {
  auto reduces = [](RootKind kind) { return kind == RootKind::RowReduction || kind == RootKind::Window; };
  return reduces(edge.producer->geometry.kind) && reduces(edge.consumer->geometry.kind);
}

} // namespace tilewright::fusion
