// A contraction computes its operands as it reads them, where that is cheap: accesses, casts, a scale. Work that only
// its epilogue needs (a mask, say) comes in by the same door.
#include "fusion/rules/RuleTable.h"

using namespace tilewright::fusion;

bool tilewright::fusion::contractPrologue(const Edge &edge) {
  return edge.producer->geometry.kind == RootKind::Pointwise && edge.consumer->geometry.kind == RootKind::Matmul;
}
