// SPDX-License-Identifier: Apache-2.0
// Products seen as factors and a constant, however they are nested.
#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace tilewright {

/// The number that `value` is, in all of its elements; nullopt if it is not a constant float.
std::optional<double> constantOf(mlir::Value value);

/// A value times a constant.
struct ScaledValue {
  mlir::Value value;
  double constant;
};

/// The factors of `value` if it is a product with a constant, or a quotient by one, else nullopt. The constant may be
/// any number, also an infinity or a NaN.
std::optional<ScaledValue> scaledValue(mlir::Value value);

/// What a product multiplies some value by.
struct Factors {
  double constant;
  llvm::SmallVector<mlir::Value> factors;
};

/// The other factors of `product`, if `x` is a factor of it, else nullopt. Products within it are looked through where
/// nothing else uses them.
std::optional<Factors> factorsBeside(mlir::Value x, mlir::Value product);

} // namespace tilewright
