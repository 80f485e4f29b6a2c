// SPDX-License-Identifier: Apache-2.0
// A product of f32 operands as products of tf32, which are f32 whose last 13 bits are 0.
//
//   x = high + low      high is the nearest tf32, low is x - high, truncated to tf32
//   a * b               a.low * b.high + a.high * b.low + a.high * b.high; a.low * b.low is below 2^-22 of the product
//
// The small products are added first. Matrix units truncate when they add, which is a biased error that grows with k.
// So each instruction's sum begins at 0, and is added to the accumulators by an f32 addition, which rounds to nearest.
// An infinite operand has no low part (infinity - infinity is a NaN), nor has one that rounds to infinity, within 2^-12
// of the largest f32: their products are NaN.
#pragma once

#include "backend/gpu/GpuTarget.h"

namespace tilewright {

/// Rounds one f32 to the nearest tf32: its bits.
using RoundToTf32 = llvm::function_ref<mlir::Value(mlir::Value)>;
/// Adds the product of two fragments of tf32, given as the bits of their elements, to the sums.
using MultiplyTf32 = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    llvm::ArrayRef<mlir::Value> lhs, llvm::ArrayRef<mlir::Value> rhs, llvm::ArrayRef<mlir::Value> acc)>;

/// `acc` plus the product of the vectors `lhs` and `rhs` of f32, as one product of tf32 or three. `multiply` gets the
/// elements in the order of the instruction's registers.
llvm::SmallVector<mlir::Value> multiplySingles(GpuTarget::Builder &b, const tile::Fragments &fragments, mlir::Value lhs,
                                               mlir::Value rhs, llvm::ArrayRef<mlir::Value> acc, RoundToTf32 round,
                                               MultiplyTf32 multiply);

} // namespace tilewright
