// SPDX-License-Identifier: Apache-2.0
// Fetches packed weights ahead of their use.
//
//   rows 0..5     panel 0, k = 0, 1, 2, ...     from memory; asks for what is read a few KiB later
//   rows 6..11    panel 0                       from the second-level cache; asks for an eighth of panel 1
//   rows 12..17   panel 0                       for the next eighth
//   ...
//   rows 0..5     panel 1                       the more rows, the more of it is there
//
// How far ahead pays is a fact of the processor, so the caller says it (HostKernelArgs::fetchAhead). The streams of an
// Intel Xeon end at each page of 4 KiB, which a register tile of few rows is through in less time than memory takes to
// answer; a Zen 4 streams better by itself, and gets 0. While other rows are multiplied with what is in the cache,
// memory would be idle. An eighth of a panel is as much as there is time for: a line takes the time of two steps of a
// register tile, and whoever asks for more waits (docs/performance.md, "Weights fetched ahead").
#pragma once

#include "backend/host/emit/Memory.h"

namespace tilewright::host {

class PanelStream {
public:
  /// Asks for what is needed beside `count` steps from `k` on; a step is one k, or four of bytes.
  using Fetch = llvm::function_ref<void(Ix k, int64_t count)>;

  /// Of the right side of `op`, for the register tile at `position`.
  PanelStream(Memory &memory, KernelFunction &function, tile::DotOp op, const Position &position);

  /// Emits `loop` for the register tile that reads the panel first, and for the others.
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
  llvm::Value *isFirst = nullptr;   // the register tile that reads the panel first; null: the only one
  Ix pass = nullptr;                // which eighth of the next panel this register tile asks for
  Ix nextPanel = nullptr;           // bytes from a place in this panel to the same in the next; null: there is none
};

} // namespace tilewright::host
