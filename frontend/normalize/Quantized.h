// SPDX-License-Identifier: Apache-2.0
// Recognizes dequantized tensors: the integers, and the parameters applied to them.
//
//     mulf(sitofp(subi(ext q, zero)), scale)      q of i8, zero and scale of one element or one along a dimension
#pragma once

#include "frontend/graph/GraphOps.h"

#include <optional>

namespace tilewright::normalize {

/// A scale or a zero point: one number, or one for each coordinate along dimension `dim` of the integers.
struct QuantizationParameter {
  std::optional<double> number; // if it is one known number; else `value`
  mlir::Value value;            // of rank 0, or of rank 1 along `dim`
  int64_t dim = -1;

  bool isVector() const { return dim >= 0; }
};

/// accesses((integers - zero - offset) * scale)
struct Quantized {
  mlir::Value integers; // of i8
  bool isUnsigned = false;
  llvm::SmallVector<mlir::Operation *> accesses;    // the outermost first
  std::optional<QuantizationParameter> zero, scale; // `zero` only if it is not one known number, which is the offset
  int64_t offset = 0;

  /// The zero point, if it is one known number.
  std::optional<int64_t> knownZero() const { return zero ? std::nullopt : std::optional(offset); }
  bool hasZero() const { return knownZero() != 0; }
};

/// Traces `value`, of f32 or i32, back to the integers it was dequantized from. nullopt if there are none, or if an
/// access on the way fills with a value other than zero.
std::optional<Quantized> quantizedOf(mlir::Value value);

/// The elements of a constant vector or scalar, possibly behind widening casts. nullopt if it is not constant.
std::optional<llvm::SmallVector<double>> knownNumbers(mlir::Value value);

/// The bytes of a constant of i8; empty if they are not available.
llvm::ArrayRef<int8_t> bytesOf(graph::ConstantOp constant);

} // namespace tilewright::normalize
