// SPDX-License-Identifier: Apache-2.0
// Constants that are one number.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tilewright::fusion {

/// The number that all elements of a float constant are, seen through broadcasts, reshapes and widening; nullopt if it
/// is none.
std::optional<double> splatOf(mlir::Value value);

/// A constant of floats whose elements are all `number`. Where the sizes of `type` are not known it is broadcast: a
/// constant of unknown sizes can be printed but not parsed.
mlir::Value splatOfType(mlir::RankedTensorType type, double number, mlir::Location loc, mlir::OpBuilder &builder);

} // namespace tilewright::fusion
