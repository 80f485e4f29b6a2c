// The general way to resize, for what Resize.cpp does not do by accesses with constant indices.
#pragma once

#include "frontend/sizes/RunTimeSizes.h"

namespace tilewright::ops {

/// Resizes by the input that holds scales, or by the one that holds sizes, whether they are known or not.
void resizeWhenRunning(NodeBuilder &b, std::optional<size_t> scalesInput, std::optional<size_t> sizesInput);

} // namespace tilewright::ops
