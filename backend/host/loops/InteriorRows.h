// SPDX-License-Identifier: Apache-2.0
// The rows for which a window surely lies inside of its image, where the image's size is a symbol.
//
//   guard 0 <= 2 * row + kx - 1 < w, with kx in [0, 3)      holds for every kx where 1 <= row < (w - 2) floordiv 2 + 1
//
// Register tiles of such rows read without a comparison; the few rows before and after keep their guards.
#pragma once

#include "backend/host/emit/Addresses.h"
#include "backend/host/loops/OpenNest.h"

namespace tilewright::host {

/// Rows [first, end) of a nest for which `guards` hold at all other coordinates. `first` is null if there are no such
/// guards.
struct InteriorRows {
  Ix first = nullptr, end = nullptr;
  llvm::DenseSet<GuardedDim> guards;
};

InteriorRows interiorOf(const OpenNest &nest, KernelFunction &function);

} // namespace tilewright::host
