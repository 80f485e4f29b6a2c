// SPDX-License-Identifier: Apache-2.0
// The general form of resizing, for what Resize.cpp cannot express as accesses with constant indices.
#pragma once

#include "frontend/sizes/RunTimeSizes.h"

namespace tilewright::ops {

/// floor(size * scale) if the scale is a small fraction with a power of two as denominator; otherwise null.
mlir::AffineExpr scaledSize(mlir::AffineExpr size, double scale);

/// Resizes by an input of scales or by an input of sizes, which need not be known at import.
void resizeWhenRunning(NodeBuilder &b, std::optional<size_t> scalesInput, std::optional<size_t> sizesInput);

} // namespace tilewright::ops
