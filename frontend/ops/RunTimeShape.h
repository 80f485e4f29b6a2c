// Operators of Shape.cpp whose shapes, axes, bounds or paddings only running tells.
#pragma once

#include "frontend/RunTimeSizes.h"

namespace tilewright::ops {

void reshapeWhenRunning(NodeBuilder &b);
void expandWhenRunning(NodeBuilder &b);
void squeezeWhenRunning(NodeBuilder &b);
void unsqueezeWhenRunning(NodeBuilder &b);
void sliceWhenRunning(NodeBuilder &b);
void padWhenRunning(NodeBuilder &b);
void rangeWhenRunning(NodeBuilder &b);

} // namespace tilewright::ops
