// SPDX-License-Identifier: Apache-2.0
// Tiles that programs compute like the program before them, such as the keys of a head, packed for each block of its
// queries:
//
//   %head = tile.size (d0) -> (d0 floordiv 4)(%program)       the same for four programs in a row
//   %keys = tile.load %k[%head, %c0, %c0]
//
// Programs of one call run in order on one workspace, so such a tile may stay there from one program to the next.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace tilewright::host {

/// The indices that differ between programs and decide what `values` are: a tile, and the ends of its loops. Neighbours
/// along the grid's first dimension agree on these indices; there are none if all programs compute the same. nullopt if
/// the next program's tile is another one, or may be: a tile must be computed elementwise from loads of buffers that
/// the kernel does not write, by indices from outside of loops.
std::optional<llvm::SmallVector<mlir::Value>> indicesIfRepeated(llvm::ArrayRef<mlir::Value> values);

} // namespace tilewright::host
