// SPDX-License-Identifier: Apache-2.0
// Fetches packed weights ahead of their use.
//
//   rows 0..5     panel 0, k = 0, 1, 2, ...     from memory; asks for what is read a few KiB later
//   rows 6..11    panel 0                       from the second-level cache; asks for an eighth of panel 1
//   rows 12..17   panel 0                       for the next eighth
//   ...
//   rows 0..5     panel 1                       the more rows, the more of it is there
//
// How far ahead pays depends on the processor, so the caller passes it (HostKernelArgs::fetchAhead). The hardware
// prefetcher of an Intel Xeon stops at each page of 4 KiB, and a register tile of few rows reads a page in less time
// than memory takes to answer. A Zen 4 prefetches better by itself, and gets 0: a register tile that has all rows then
// asks for nothing, unless the weights are larger than a cache (docs/performance/host-products.md, "Not to ask at
// all"). While the other rows are multiplied with the panel in the cache, memory would be idle, so each of their
// register tiles prefetches an eighth of the next panel. More than that would stall: a line takes the time of two steps
// of a register tile (docs/performance.md, "Weights fetched ahead").
#pragma once

#include "backend/host/emit/Memory.h"

namespace tilewright::host {

class PanelStream {
public:
  /// Emits the prefetches that go with `count` steps from `k` on. A step is one k, or four of bytes.
  using Fetch = llvm::function_ref<void(Ix k, int64_t count)>;

  /// The stream of the right side of `op`, for the register tile at `position`.
  PanelStream(Memory &memory, KernelFunction &function, tile::DotOp op, const Position &position);

  /// Calls `loop` to emit the loop along k: once for the register tile that reads the panel first, and once for the
  /// others.
  void emit(llvm::function_ref<void(Fetch fetch)> loop);

private:
  void findNextPanel();
  llvm::Value *addressAt(Ix k);
  void fetchAhead(Ix k, int64_t count);
  void fetchNextPanel(Ix k, int64_t count);

  Memory &memory;
  KernelFunction &function;
  IndexMath &math;
  Position position;
  tile::LoadOp load;                // null: not packed, nothing is fetched
  int64_t panel = 0, stepBytes = 0; // columns of a panel, and bytes of a step
  int64_t stepSize = 1;             // k of a step
  llvm::Value *isFirst = nullptr;   // whether this register tile reads the panel first; null: it always does
  Ix pass = nullptr;                // which eighth of the next panel this register tile prefetches
  Ix nextPanel = nullptr;           // distance in bytes from this panel to the next; null: there is none
};

} // namespace tilewright::host
