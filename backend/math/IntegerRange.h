// SPDX-License-Identifier: Apache-2.0
// Between which numbers the elements of a tile of integers lie, from what computes them.
#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace tilewright {

struct IntegerRange {
  int64_t low, high;
};

/// Nothing where only the type limits them and that is wider than 16 bits. Integers of a tile have no sign of their
/// own: who reads them says whether they are unsigned, and gets the numbers that it sees. A negative number that was
/// extended with its sign has no range for a reader without one.
std::optional<IntegerRange> integerRange(mlir::Value tile, bool isUnsigned);

} // namespace tilewright
