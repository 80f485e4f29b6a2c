// SPDX-License-Identifier: Apache-2.0
// Constants that are one number.
#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace tilewright::fusion {

/// The number that all elements of a float constant are, seen through broadcasts, reshapes and widening; nullopt if it
/// is none.
std::optional<double> splatOf(mlir::Value value);

} // namespace tilewright::fusion
