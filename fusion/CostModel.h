// What fusion costs and saves, from sizes alone: nothing is measured when compiling.
#pragma once

#include "fusion/FusionGroup.h"

namespace tilewright::fusion {

/// Work of one element of `op`, in additions: 0 for what only renames or converts.
unsigned elementWork(mlir::Operation *op);

/// Limits of one kernel. A chain as long as this already does more arithmetic than its reads and writes take, so a longer one gains nothing,
/// while registers run short and a code generator's time grows faster than the code. No model of the tables comes near (`--explain-fusion`
/// would say so): their largest kernels hold 69 operations, or work of 90.
struct KernelLimits {
  unsigned operations = 128;
  unsigned work = 512; // of one element, in additions: 42 functions like tanh
};
inline constexpr KernelLimits kernelLimits;

/// Whether both groups together would be more than one kernel should hold.
bool isTooLarge(const Group &a, const Group &b);

/// Why a kernel of `ops` with `geometry` would repeat work that memory should hold instead; null if it would not.
///  * What feeds a contraction is computed again for every tile of the other operand's loop.
///  * What feeds a window is computed again for every window that covers it.
///  * What is read by slices, gathers, pads and concatenations is computed again by each, wherever it is read.
///  * What is read through a broadcast is computed again for every repetition.
std::optional<Refusal> repeatedWork(llvm::ArrayRef<mlir::Operation *> ops, const Geometry &geometry);

} // namespace tilewright::fusion
