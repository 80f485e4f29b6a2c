// What every spelling of attention needs: heads apart and together again.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

/// [batch, sequence, heads * size] as [batch, heads, sequence, size]; a tensor of rank 4 has that form already.
Term byHeads(NodeBuilder &b, Term x, int64_t heads);

/// And back, unless the result has `rank` 4.
Term fromHeads(NodeBuilder &b, Term x, int64_t rank);

/// Each key head once for every query head that shares it.
Term shareHeads(NodeBuilder &b, Term x, mlir::AffineExpr heads);

} // namespace tilewright::ops
