// SPDX-License-Identifier: Apache-2.0
// A range of the elements of a tile of integers, derived from the operations that compute them.
#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace tilewright {

struct IntegerRange {
  int64_t low, high; // inclusive
};

/// The range of the elements, read as unsigned or as signed integers (`isUnsigned`; tiles are signless). Both ends are
/// included. nullopt if only the type limits them and has more than 16 bits; or if they are read as unsigned, but are
/// sign-extended numbers that may be negative.
std::optional<IntegerRange> integerRange(mlir::Value tile, bool isUnsigned);

} // namespace tilewright
