// SPDX-License-Identifier: Apache-2.0
// Constants that are one number.
#pragma once

#include "mlir/IR/Builders.h"

#include <optional>

namespace tilewright::fusion {

/// The number that all elements of a float constant are, seen through broadcasts, reshapes and widening; nullopt if it
/// is none.
std::optional<double> splatOf(mlir::Value value);

/// A constant like `value`, of floats, whose elements are all `number`, whether or not the sizes are known.
mlir::Value splatLike(mlir::Value value, double number, mlir::OpBuilder &builder);

} // namespace tilewright::fusion
