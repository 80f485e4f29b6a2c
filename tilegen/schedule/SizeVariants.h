// SPDX-License-Identifier: Apache-2.0
// Schedules of a kernel for several ranges of a size that is only known when running: a product of one row wants
// another program than one of a thousand.
//
//   rows of a product of halves, 1,024 by 1,024, on sm_90a
//   1           2 to 128    129 to 512  513 to 1,024  1,025 to 2,048  more
//   gemv        16x32       64x64       64x128        128x128         128x128 in turns
#pragma once

#include "tilegen/TargetDesc.h"
#include "tilegen/space/KernelSpace.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tilegen {

/// A schedule for sizes that are larger than the bound of the variant before, and at most `most`.
struct SizeVariant {
  int64_t most;
  tile::ScheduleAttr schedule;
};

struct SizeVariants {
  mlir::AffineExpr size;                      // of the module's symbols
  llvm::SmallVector<SizeVariant, 4> variants; // in the order of their bounds; may be empty
  tile::ScheduleAttr schedule;                // beyond them
};

/// The schedules of a kernel for ranges of its one unknown size. nullopt for kernels with a single schedule. Nearly all
/// kernels whose programs are one thread have one, because such programs cut sizes when running.
std::optional<SizeVariants> chooseVariants(const KernelSpace &space, const TargetDesc &target);

} // namespace tilewright::tilegen
