// SPDX-License-Identifier: Apache-2.0
// Splitting and joining attention heads, for all forms of attention operators.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

/// [batch, sequence, heads * size] to [batch, heads, sequence, size]. A tensor of rank 4 already has that form.
Term byHeads(NodeBuilder &b, Term x, int64_t heads);

/// The reverse, unless the result has `rank` 4.
Term fromHeads(NodeBuilder &b, Term x, int64_t rank);

/// Repeats each key head for every query head that shares it (grouped-query attention).
Term shareHeads(NodeBuilder &b, Term x, mlir::AffineExpr heads);

} // namespace tilewright::ops
