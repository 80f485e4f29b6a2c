// SPDX-License-Identifier: Apache-2.0
// Limits for the size of a kernel, which bound register use and compile time for any model.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// A kernel of this size is already bound by arithmetic, so a larger one gains nothing, but runs out of registers and
/// takes disproportionately long to compile. Real models stay far below: the largest kernels of the published
/// comparison have 80 operations, work of 100, 55 arguments and 3 reshapes in a row. If a limit prevents a fusion,
/// `--explain-fusion` says "too-large".
struct KernelLimits {
  unsigned operations = 128;
  unsigned work = 512;      // for one element, in additions: 42 exponentials
  unsigned arguments = 128; // tensors read from memory; CUDA has room for 500 pointers
  unsigned tiles = 512;     // values, counted once for each access path: v[i] + v[i + 1] needs two tiles of v
  unsigned reshapes = 6;    // on a path: each that does not cancel doubles the size of the coordinates
};
inline constexpr KernelLimits kernelLimits;

/// Whether both groups together exceed the limit of operations or work.
bool isTooLarge(const Group &a, const Group &b);

/// The refusal of a kernel of `ops` that exceeds the limit of tiles, reshapes or arguments; nullopt if it does not.
std::optional<Refusal> tooManyTiles(llvm::ArrayRef<mlir::Operation *> ops, const Geometry &geometry);

} // namespace tilewright::fusion
