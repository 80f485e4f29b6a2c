// SPDX-License-Identifier: Apache-2.0
// A reduction takes the elementwise work that follows it, on its results and, through a broadcast, on the elements of
// its rows.
//
//     reduce -> { elementwise, broadcast back, reshape, transpose }  =>  one kernel
#include "fusion/rules/Copies.h"
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool reductionEpilogue(const Edge &edge) {
  RootKind producer = edge.producer->geometry.kind;
  return (producer == RootKind::RowReduction || producer == RootKind::Window) &&
         edge.consumer->geometry.kind == RootKind::Pointwise && !storesACopy(edge);
}

} // namespace tilewright::fusion
