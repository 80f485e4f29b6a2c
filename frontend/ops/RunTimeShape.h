// Operators of Shape.cpp whose shapes, axes, bounds or paddings only running tells.
#pragma once

#include "frontend/sizes/RunTimeSizes.h"

namespace tilewright::ops {

void reshapeWhenRunning(NodeBuilder &b);
void expandWhenRunning(NodeBuilder &b);
void squeezeWhenRunning(NodeBuilder &b);
void unsqueezeWhenRunning(NodeBuilder &b);
void sliceWhenRunning(NodeBuilder &b);
void padWhenRunning(NodeBuilder &b);
/// Where the `count` coordinates of a dimension of `size`, with `low` and `high` elements more in front and behind,
/// read in it: i64 [count]. What `constant` fills lies outside. Negative paddings crop.
Term padPositions(NodeBuilder &b, mlir::AffineExpr count, Term low, Term high, Term size, const std::string &mode);
void rangeWhenRunning(NodeBuilder &b);

} // namespace tilewright::ops
