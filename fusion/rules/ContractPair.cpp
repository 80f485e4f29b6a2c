// SPDX-License-Identifier: Apache-2.0
// Two kernels whose contractions have one left side and meet in an epilogue are one: gate and up of an MLP.
//
//     contract %x, %gate -> { elementwise } ---> { elementwise }  =>  one kernel with two sums, which reads %x once and
//     contract %x, %up --------------------------^                    stores the last value only
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool contractPair(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::Matmul && edge.consumer->geometry.kind == RootKind::Matmul;
}

} // namespace tilewright::fusion
