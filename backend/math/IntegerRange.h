// SPDX-License-Identifier: Apache-2.0
// Between which numbers the elements of a tile of integers lie, from what computes them.
#pragma once

#include "mlir/IR/Value.h"

#include <optional>

namespace tilewright {

struct IntegerRange {
  int64_t low, high;
};

/// Nothing where only the type limits them and that is wider than 16 bits. A tile's integers have no sign of their own:
/// who reads them says whether they are unsigned.
std::optional<IntegerRange> integerRange(mlir::Value tile, bool isUnsigned);

} // namespace tilewright
