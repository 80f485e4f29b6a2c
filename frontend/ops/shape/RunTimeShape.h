// SPDX-License-Identifier: Apache-2.0
// Forms of Reshape, Slice, Pad and similar operators whose shapes, axes, bounds or paddings are known only at run time.
#pragma once

#include "frontend/sizes/RunTimeSizes.h"

namespace tilewright::ops {

void reshapeWhenRunning(NodeBuilder &b);
void expandWhenRunning(NodeBuilder &b);
void squeezeWhenRunning(NodeBuilder &b);
void unsqueezeWhenRunning(NodeBuilder &b);
void sliceWhenRunning(NodeBuilder &b);
void padWhenRunning(NodeBuilder &b);
/// Pads a dimension of `size` by `low` and `high` elements to `count`: gives, as i64 [count], the coordinate that each
/// padded element reads. In mode `constant`, elements of the padding have coordinates outside. Negative paddings crop.
Term padPositions(NodeBuilder &b, mlir::AffineExpr count, Term low, Term high, Term size, const std::string &mode);
/// Pads dimensions dims[i] of `x` by low[i] and high[i] elements, to counts[i]; `fill` is for mode `constant`.
Term padTo(NodeBuilder &b, Term x, llvm::ArrayRef<int64_t> dims, const Sizes &counts, llvm::ArrayRef<Term> low,
           llvm::ArrayRef<Term> high, const std::string &mode, Term fill);
void rangeWhenRunning(NodeBuilder &b);

} // namespace tilewright::ops
