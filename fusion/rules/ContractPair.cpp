// SPDX-License-Identifier: Apache-2.0
// Two contractions of one left side that meet in an epilogue are one kernel: gate and up of an MLP.
//
//     contract %x, %gate -> { elementwise } ---> { elementwise }  =>  one kernel with two sums, which reads %x once and
//     contract %x, %up --------------------------^                    stores the last value only
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool contractPair(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::Matmul && edge.consumer->geometry.kind == RootKind::Matmul;
}

} // namespace tilewright::fusion
