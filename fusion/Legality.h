// SPDX-License-Identifier: Apache-2.0
// Whether two groups may be one kernel. The rules and the report ask only here.
#pragma once

#include "fusion/FusionMode.h"
#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// The geometry of the union, or the first reason against it. Checked in this order: data-dependent work, size,
/// geometry, repeated work, convexity.
GeometryOrRefusal checkUnion(const GroupGraph &graph, const Group &producer, const Group &consumer);

/// What can be said of a kernel's operations alone, in program order: their geometry, or the first reason against it.
GeometryOrRefusal checkKernel(llvm::ArrayRef<mlir::Operation *> ops, Machine machine);

/// The same for the three groups of an attention, where `mix` reads `softmax`, and `softmax` reads `scores`.
GeometryOrRefusal checkAttention(const FusionOptions &options, const Group &scores, const Group &softmax,
                                 const Group &mix);

} // namespace tilewright::fusion
