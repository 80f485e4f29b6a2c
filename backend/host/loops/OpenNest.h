// SPDX-License-Identifier: Apache-2.0
// A loop nest of the plan while it is emitted: its loops' ends and what is known at its position.
#pragma once

#include "backend/host/emit/TileMemory.h"

namespace tilewright::host {

struct OpenNest {
  const Nest *plan;
  llvm::SmallVector<TileInMemory> targets = {}; // of the roots that are buffered, by root
  llvm::SmallVector<Ix> limits = {};            // of the loops, by place in the position: two at least
  Position position = {};                       // in the loops that are open

  bool isRegisterBlocked() const { return !plan->registerBlocked.empty(); }
};

/// Prepares a nest of `kernel` whose loops are not open yet.
OpenNest openNest(const Nest &plan, const KernelPlan &kernel, KernelFunction &function, TileMemory &memory);

/// Whether a later nest can run in the row loops of an earlier one: it goes as far, and reads of a row only what was
/// computed for that row.
bool sharesRows(const OpenNest &earlier, const OpenNest &later);

} // namespace tilewright::host
