// SPDX-License-Identifier: Apache-2.0
// Stage "schedule": tile sizes and resources for every kernel, from its loops and the target's facts.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "fusion/FusionMode.h"
#include "tilegen/TargetDesc.h"
#include "tilegen/schedule/SizeVariants.h"
#include "tilegen/tile/MatmulPrecision.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Sets `schedule` on every graph.kernel that has none; one that is there already (edited by hand) is kept. Adds
/// kernels for ranges of unknown sizes, and names them in the attribute `variants` of the launches. Fails with a
/// diagnostic.
mlir::LogicalResult selectSchedules(mlir::ModuleOp module, const TargetDesc &target);

namespace tilegen {

/// Which attentions become one kernel for this target, with products of f32 as `precision` says. Blocks of threads have
/// no caches that scores could stay in.
fusion::AttentionFusion attentionFusion(const TargetDesc &target, MatmulPrecision precision);

/// The elements of a row that the blocks of a cluster hold together; 0 if the target has no clusters.
int64_t longestHeldRow(const TargetDesc &target);

/// The least columns for which laying out large windows of singles for a copy engine pays (fusion/FusionMode.h).
/// nullopt if the target has no engine, or no instruction for what it brings.
std::optional<fusion::SingleWindows> singleWindows(const TargetDesc &target, MatmulPrecision precision);

/// Sets the schedule of a kernel. If there are variants, adds a copy of the kernel for each, and names them in its
/// launches.
void setSchedules(graph::KernelOp kernel, const SizeVariants &schedules, llvm::ArrayRef<graph::LaunchOp> launches,
                  mlir::SymbolTable &symbols);

/// The schedule of one kernel, or a diagnostic. Nothing is measured: the same kernel and target give the same schedule.
mlir::FailureOr<tile::ScheduleAttr> selectSchedule(graph::KernelOp kernel, const TargetDesc &target);

} // namespace tilegen
} // namespace tilewright
