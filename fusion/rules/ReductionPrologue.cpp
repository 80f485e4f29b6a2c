// SPDX-License-Identifier: Apache-2.0
// A reduction computes its input while it reads it.
//
//     { elementwise, accesses } -> reduce  =>  one kernel; the input is also stored if others read it
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool reductionPrologue(const Edge &edge) {
  RootKind consumer = edge.consumer->geometry.kind;
  return edge.producer->geometry.kind == RootKind::Pointwise &&
         (consumer == RootKind::RowReduction || consumer == RootKind::Window);
}

} // namespace tilewright::fusion
