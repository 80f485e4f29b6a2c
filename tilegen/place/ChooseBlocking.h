// SPDX-License-Identifier: Apache-2.0
// Blockings of tiles that are loaded, computed and stored by all threads of a block.
#pragma once

#include "tilegen/tile/Layout.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::tile {

/// Tiles that share one layout, that of the largest shape among them.
struct LayoutGroup {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<int64_t> shape; // the largest size in each dimension
  Layout layout;
};

/// Threads hold vectors along the dimension in which most elements are neighbours in memory, as wide as an access can
/// be, and fill the other dimensions from the innermost one on.
Blocking chooseBlocking(const LayoutGroup &group, unsigned lanes, unsigned warps);

/// Some instructions read their fragments only from rows along k. If an operand's rows in memory run across k, each
/// thread loads several neighbours along k too, and writes these to shared memory together: transposed.
void transposeInRegisters(Blocking &blocking, const LayoutGroup &group, DotOp dot, bool isLhs);

/// Where neighbours along k are computed from the same elements (two numbers of four bits are in one byte, and a block
/// of numbers has one scale), a thread holds several of them, so that it loads these elements once. Across k it holds
/// the 16 bytes of one write to shared memory; with more, lanes of other rows would cause bank conflicts.
void holdSharingNeighbours(Blocking &blocking, const LayoutGroup &group, bool isLhs);

/// Windows of neighbouring results overlap. So a thread holds neighbours along the innermost dimension in which windows
/// lie: loads of an element that several of them need become one.
void holdWindowNeighbours(Blocking &blocking, const LayoutGroup &group);

/// Where a tile is read along one dimension and written along another, a thread holds neighbours along both, so that it
/// loads and stores several elements at a time.
void holdTransposedNeighbours(Blocking &blocking, const LayoutGroup &group);

/// Where the sums of all steps of a loop have one operand in registers (tile.step_end), a thread holds what it can of
/// one column, so that few lanes add up a sum, and none computes what is made of several sums.
void holdColumns(Blocking &blocking, const LayoutGroup &group);

} // namespace tilewright::tile
