// SPDX-License-Identifier: Apache-2.0
// Fetches packed weights ahead of their use.
//
//   rows 0..5     panel 0, k = 0, 1, 2, ...     from memory: what is read 2 KiB later is asked for now
//   rows 6..11    panel 0                       from the second-level cache
//   rows 12..17   panel 0
//   rows 0..5     panel 1                       lies behind panel 0
//
// A processor's own streams end at each page of 4 KiB, which a register tile of few rows is through in less time than
// memory takes to answer: products of 16 rows ran at half the speed of memory.
#pragma once

#include "backend/host/emit/Memory.h"

namespace tilewright::host {

class PanelStream {
public:
  /// Of the right side of `op`, for the register tile at `position`.
  PanelStream(Memory &memory, IndexMath &math, tile::DotOp op, const Position &position);

  /// Emits `loop` for the register tile that reads the panel first, and for the others. In the first, `fetch` is to be
  /// called with the position of each step on the right side: it asks for what is read some time later.
  void emit(llvm::function_ref<void(llvm::function_ref<void(const Position &)> fetch)> loop);

private:
  void fetch(const Position &right);

  Memory &memory;
  IndexMath &math;
  tile::LoadOp load;              // null: not packed, nothing is fetched
  int64_t panel = 0, bytes = 0;   // columns, and what they take at each k, or four k of bytes
  llvm::Value *isFirst = nullptr; // the register tile that reads the panel first; null: the only one
};

} // namespace tilewright::host
