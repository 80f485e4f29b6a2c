// SPDX-License-Identifier: Apache-2.0
// Index arithmetic as operations of the arith dialect, on words or, element by element, on tiles.
//
// Sums and products are the same for both. A division by a positive number is divui or remui where the dividend is
// known not to be negative: a power of two then is a shift or a mask. Otherwise it is spelled by who reads it:
//
//     Tiles    floordivsi; a - (a floordivsi b) * b
//     Words    divsi, remsi, and a step down where the rest is negative
//
// A tile program is read by people and by every backend, each of which divides tiles in its own way; words are what a
// GPU's threads compute with, and the next reader is LLVM.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright::index {

class ArithEmitter {
public:
  enum class Divisions { Tiles, Words };
  ArithEmitter(mlir::OpBuilder &builder, mlir::Location loc, Divisions divisions)
      : builder(builder), loc(loc), divisions(divisions) {}

  /// A number, or a tile of it.
  mlir::Value constant(mlir::Type type, int64_t value) const;
  mlir::Value add(mlir::Value a, mlir::Value b) const;
  mlir::Value multiply(mlir::Value a, mlir::Value b) const;
  /// a / b rounded down, for b > 0.
  mlir::Value floorDivide(mlir::Value a, mlir::Value b, bool isNonNegative) const;
  /// a - floorDivide(a, b) * b, for b > 0.
  mlir::Value modulo(mlir::Value a, mlir::Value b, bool isNonNegative) const;

private:
  template <typename Op> mlir::Value make(mlir::Value a, mlir::Value b) const;
  /// The remainder of a division that rounds towards 0, and whether that is negative.
  std::pair<mlir::Value, mlir::Value> signedRest(mlir::Value a, mlir::Value b) const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  Divisions divisions;
};

} // namespace tilewright::index
