// SPDX-License-Identifier: Apache-2.0
// Names the sizes that a kernel reads, in the order in which it reads them.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::tilegen {

/// Makes a quotient a symbol of `kernel` if the kernel reads what is divided nowhere else, and numbers the symbols by
/// where they come first. Kernels that are the same for other sizes become the same text:
///
///   tile.kernel @a(%x: !tile.buffer<f32, ()[s0, s1] -> (s1, (s0 + 7) floordiv 8)>, %s0: index, %s1: index)
///       attributes {symbols = affine_map<()[s0, s1, s2] -> (s0, s2)>, ...}
///
///   tile.kernel @a(%x: !tile.buffer<f32, ()[s0, s1] -> (s0, s1)>, %s0: index, %s1: index)
///       attributes {symbols = affine_map<()[s0, s1, s2] -> (s2, (s0 + 7) floordiv 8)>, ...}
///
/// What reads a kernel after its emission takes each symbol to be at least 1, so a quotient that is 0 where its symbols
/// are 1 keeps its form.
void nameSizes(tile::KernelOp kernel);

} // namespace tilewright::tilegen
