// SPDX-License-Identifier: Apache-2.0
// The general form of resizing, for what Resize.cpp cannot express as accesses with constant indices.
#pragma once

#include "frontend/sizes/RunTimeSizes.h"

namespace tilewright::ops {

/// Positions this close to the middle of two elements are taken to be in the middle, as ONNX Runtime takes them.
constexpr double nearMiddle = 1e-6;

/// floor(size * scale), in float32 as all shape inference computes it: 10 * 0.7f is then 7.
double scaledSize(int64_t size, float scale);
/// floor(size * scale) if the scale is a small fraction with a power of two as denominator; otherwise null.
mlir::AffineExpr scaledSize(mlir::AffineExpr size, double scale);

/// The whole positions nearest to positions in float32, by `nearest_mode`. They may be outside of the source.
Term nearestIndex(NodeBuilder &b, const std::string &mode, Term position);

/// Resizes by an input of scales or by an input of sizes, which need not be known at import.
void resizeWhenRunning(NodeBuilder &b, std::optional<size_t> scalesInput, std::optional<size_t> sizesInput);

} // namespace tilewright::ops
