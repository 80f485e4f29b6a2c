// SPDX-License-Identifier: Apache-2.0
// Names the sizes that a kernel reads, in the order in which it reads them.
#pragma once

#include "tilegen/tile/TileOps.h"

namespace tilewright::tilegen {

/// Makes each quotient of symbols a symbol of `kernel`, if the kernel does not read the symbols in it anywhere else,
/// and numbers the symbols in the order of their first use. Kernels that differ only in their sizes become the same
/// text:
///
///   tile.kernel @a(%x: !tile.buffer<f32, ()[s0, s1] -> (s1, (s0 + 7) floordiv 8)>, %s0: index, %s1: index)
///       attributes {symbols = affine_map<()[s0, s1, s2] -> (s0, s2)>, ...}
///
///   tile.kernel @a(%x: !tile.buffer<f32, ()[s0, s1] -> (s0, s1)>, %s0: index, %s1: index)
///       attributes {symbols = affine_map<()[s0, s1, s2] -> (s2, (s0 + 7) floordiv 8)>, ...}
///
/// Later steps rely on each symbol being at least 1, so a quotient that is 0 where its symbols are 1 stays as it is.
void nameSizes(tile::KernelOp kernel);

} // namespace tilewright::tilegen
