// SPDX-License-Identifier: Apache-2.0
// A contraction takes the elementwise work that follows it: bias, scale, residual, activation, casts, and transposes of
// its result.
//
//     contract -> { elementwise, reshape, transpose }  =>  one kernel that stores the last value only
#include "fusion/rules/Copies.h"
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool contractEpilogue(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::Matmul && edge.consumer->geometry.kind == RootKind::Pointwise &&
         !storesACopy(edge);
}

} // namespace tilewright::fusion
