// SPDX-License-Identifier: Apache-2.0
// Elementwise work and accesses form one kernel as long as all outputs have equally many elements: chains, diamonds,
// several outputs.
#include "fusion/rules/RuleTable.h"

namespace tilewright::fusion {

bool pointwiseChain(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::Pointwise && edge.consumer->geometry.kind == RootKind::Pointwise;
}

} // namespace tilewright::fusion
