// SPDX-License-Identifier: Apache-2.0
// A loop nest of the plan during its emission: the limits of its loops, and its position in those that are open.
#pragma once

#include "backend/host/emit/TileMemory.h"

namespace tilewright::host {

struct OpenNest {
  const Nest *plan;
  llvm::SmallVector<TileInMemory> targets = {}; // by root: the buffer that it is written to; empty for stores
  llvm::SmallVector<Ix> limits = {};            // ends of the loops, by place in the position (at least two)
  Position position = {};                       // in the loops that are open

  bool isRegisterBlocked() const { return !plan->registerBlocked.empty(); }
};

/// Prepares a nest of `kernel` whose loops are not open yet.
OpenNest openNest(const Nest &plan, const KernelPlan &kernel, KernelFunction &function, TileMemory &memory);

/// Whether a later nest can run in the row loops of an earlier one: neither is register-blocked, and their loops but
/// for the columns' have the same ends. A row of the later nest then depends only on the same row of the earlier one:
/// elementwise operations keep rows, and a reduction over rows has another shape.
bool sharesRows(const OpenNest &earlier, const OpenNest &later);

} // namespace tilewright::host
