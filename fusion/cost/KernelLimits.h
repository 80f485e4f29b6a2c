// How much one kernel may hold, so that its registers and the time to compile it stay bounded whatever the model is.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// A chain as long as this already does more arithmetic than its reads and writes take, so a longer one gains nothing,
/// while registers run short and a code generator's time grows faster than the code. Real models stay far below: the
/// largest kernels of the tables hold 80 operations, work of 100, 55 arguments, and 3 reshapes in a row. Where a limit
/// ended a kernel, `--explain-fusion` says "too-large".
struct KernelLimits {
  unsigned operations = 128;
  unsigned work = 512;      // of one element, in additions: 42 exponentials
  unsigned arguments = 128; // tensors read from memory; CUDA has room for 500 pointers
  unsigned tiles =
      512; // values, each counted once for every place that accesses lead to: v[i] + v[i + 1] needs v twice
  unsigned reshapes = 6; // on a path. Those that do not cancel make coordinates that double with each
};
inline constexpr KernelLimits kernelLimits;

/// Whether both groups together hold more operations or work than one kernel should.
bool isTooLarge(const Group &a, const Group &b);

/// Why a kernel of `ops` with `geometry` would be too large by what it reads and where; null if it would not.
std::optional<Refusal> tooManyPlaces(llvm::ArrayRef<mlir::Operation *> ops, const Geometry &geometry);

} // namespace tilewright::fusion
