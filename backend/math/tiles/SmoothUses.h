// SPDX-License-Identifier: Apache-2.0
// Where the elements of a tile go: which errors in them matter.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright {

/// What a value's last uses round it to.
enum class RoundedTo {
  Halves, ///< f16 or bf16
  Floats, ///< those, or f32 in memory
};

/// Whether all that is computed from `value` is smooth, so that a small error in it stays small, and ends by being
/// rounded as `end` says. Comparisons, conversions to integers and roundings to integers are not smooth: there a small
/// error may choose another result. What this does not know is not smooth either.
bool isUsedSmoothly(mlir::Value value, RoundedTo end);

} // namespace tilewright
