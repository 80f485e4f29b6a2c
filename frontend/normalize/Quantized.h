// Integers behind floating point: what a dequantized tensor is made of.
//
//     mulf(sitofp(subi(ext q, zero)), scale)      q of i8, zero and scale of one element or one along a dimension
#pragma once

#include "frontend/graph/GraphOps.h"

#include <optional>

namespace tilewright::normalize {

/// One number, or one for each coordinate along `dim` of the integers.
struct QuantizationParameter {
  std::optional<double> number; // known, and the same everywhere; or
  mlir::Value value;            // of rank 0, or of rank 1 along `dim`
  int64_t dim = -1;

  bool isVector() const { return dim >= 0; }
};

/// (integers - zero - offset) * scale, with `accesses` on top of it.
struct Quantized {
  mlir::Value integers; // of i8
  bool isUnsigned = false;
  llvm::SmallVector<mlir::Operation *> accesses;    // the outermost first
  std::optional<QuantizationParameter> zero, scale; // the zero point, where it is not one known number
  int64_t offset = 0;

  /// What is subtracted, if that is one known number.
  std::optional<int64_t> knownZero() const { return zero ? std::nullopt : std::optional(offset); }
  bool hasZero() const { return knownZero() != 0; }
};

/// Follows `value`, of f32 or i32, to the integers that it is computed from. Accesses that fill with anything but zero
/// end the way.
std::optional<Quantized> quantizedOf(mlir::Value value);

/// The elements of a constant vector or scalar, widening casts included; nothing if it is not known.
std::optional<llvm::SmallVector<double>> knownNumbers(mlir::Value value);

/// The bytes of a constant of i8; empty if they are elsewhere.
llvm::ArrayRef<int8_t> bytesOf(graph::ConstantOp constant);

} // namespace tilewright::normalize
