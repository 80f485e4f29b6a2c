// SPDX-License-Identifier: Apache-2.0
// A contraction whose columns are read in equal parts that meet is one kernel with what reads them: the gates of a
// recurrence, gate and up of an MLP whose weights are one constant.
//
//     contract %x, %w -> { elementwise } -> slice ---> { elementwise }  =>  one kernel with a sum for each part, which
//                                        -> slice ---^                      stores the last value only
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool contractParts(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::Matmul && edge.producer->geometry.more.empty() &&
         edge.consumer->geometry.kind == RootKind::Pointwise && !edge.consumer->onHost;
}

} // namespace tilewright::fusion
