// SPDX-License-Identifier: Apache-2.0
// The roots: what each kind of kernel has of its own, one row each. Everything else in tilegen is the same for all.
#pragma once

#include "tilegen/TargetDesc.h"
#include "tilegen/emit/TileEmitter.h"
#include "tilegen/space/KernelSpace.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tilegen {

struct Root {
  using Schedule = tile::ScheduleAttr (*)(const KernelSpace &space, const TargetDesc &target);

  graph::RootKind kind;
  /// Other roots of kernels that this one computes too: a gemv computes a matmul.
  llvm::ArrayRef<graph::RootKind> computes;
  /// The iteration space of a kernel with this root. `as` is the root of the kernel's schedule, if it has one already.
  /// Fails with a diagnostic at the operation that does not fit.
  mlir::FailureOr<KernelSpace> (*analyze)(graph::KernelOp kernel, std::optional<graph::RootKind> as);
  /// The schedule for a program that is one thread with vector registers, and for one that is a block of threads. Null
  /// for a root that is only chosen by another one's schedules.
  Schedule forVectors, forBlocks;
  /// The estimated time of a block schedule, in seconds; null for roots without estimates.
  std::optional<double> (*estimateForBlocks)(const KernelSpace &space, tile::ScheduleAttr schedule,
                                             const TargetDesc &target);
  /// Fills the body of a tile.kernel whose loops, tile sizes and offsets are set.
  mlir::LogicalResult (*emit)(TileEmitter &emitter, tile::ScheduleAttr schedule);
};

llvm::ArrayRef<Root> allRoots();
const Root &rootOf(graph::RootKind kind);

/// The root that fusion set on the kernel. In a kernel written by hand, which has none: by the contraction or reduction
/// in its body, else pointwise.
graph::RootKind rootKindOf(graph::KernelOp kernel);

/// The iteration space of a kernel, by the row of its root; `as` is the root of its schedule, if it has one. Fails with
/// a diagnostic.
mlir::FailureOr<KernelSpace> analyzeKernel(graph::KernelOp kernel, std::optional<graph::RootKind> as = std::nullopt);

} // namespace tilewright::tilegen
