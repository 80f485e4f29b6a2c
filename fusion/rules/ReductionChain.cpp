// SPDX-License-Identifier: Apache-2.0
// Reductions over the same rows share a kernel, however many there are: softmax and layer normalization have two.
//
//     reduce <max> -> sub, exp -> reduce <sum> -> div  =>  one kernel that holds its row
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool reductionChain(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::RowReduction &&
         edge.consumer->geometry.kind == RootKind::RowReduction;
}

} // namespace tilewright::fusion
