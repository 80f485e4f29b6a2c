// SPDX-License-Identifier: Apache-2.0
// Shares of a placed tile (tile::shareType): which register of the tile each register of a share is.
#include "tilegen/tile/TileLayouts.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright::tile;

namespace {

class ClusterShares : public testing::Test {
protected:
  ClusterShares() { context_.loadDialect<TileDialect>(); }

  RankedTensorType tileType(ArrayRef<int64_t> sizes, const Layout &layout) {
    return withLayout(RankedTensorType::get(sizes, Float32Type::get(&context_)), layout);
  }

  /// Every thread holds in the registers of a share what the share's layout says, moved to where the share begins.
  void expectShares(RankedTensorType tile, unsigned dim, int64_t parts) {
    std::optional<RankedTensorType> share = shareType(tile, dim, parts);
    ASSERT_TRUE(share);
    EXPECT_EQ(cutDim(tile, *share, parts), dim);
    Layout whole = layoutOf(tile), ofShare = layoutOf(*share);
    TileShape shape(tile.getShape()), shapeOfShare(share->getShape());
    for (int64_t number = 0; number < parts; ++number) {
      SmallVector<unsigned> registers = registersOfShare(tile, dim, parts, number);
      ASSERT_EQ(registers.size(), ofShare.registers());
      for (auto [r, inTile] : llvm::enumerate(registers))
        for (uint32_t warp = 0; warp < 1u << whole.warp.size(); ++warp)
          for (uint32_t lane = 0; lane < 1u << whole.lane.size(); ++lane) {
            uint32_t at = whole.element(inTile, lane, warp), atShare = ofShare.element(r, lane, warp);
            for (unsigned d = 0; d < shape.rank(); ++d) {
              int64_t first = d == dim ? number * share->getDimSize(dim) : 0;
              ASSERT_EQ(shape.coordinate(at, d), shapeOfShare.coordinate(atShare, d) + first);
            }
          }
    }
  }

  MLIRContext context_;
};

// The accumulators of a matrix instruction of four warps: 64 x 32, of which a thread holds two rows of 2 by 4 columns.
const Layout accumulators = {{1, 256, 8, 16}, {2, 4, 32, 64, 128}, {512, 1024}};

TEST_F(ClusterShares, ColumnsInRegisters) {
  RankedTensorType tile = tileType({64, 32}, accumulators);
  expectShares(tile, 1, 2);
  expectShares(tile, 1, 4);
  EXPECT_FALSE(shareType(tile, 1, 8)); // lanes hold them
  EXPECT_FALSE(shareType(tile, 0, 2)); // warps hold them
}

TEST_F(ClusterShares, RowsInRegisters) {
  Layout transposed = {{32, 8, 256, 512}, {64, 128, 1, 2, 4}, {16, 1024}};
  RankedTensorType tile = tileType({64, 32}, transposed);
  EXPECT_FALSE(shareType(tile, 0, 2));
  EXPECT_FALSE(shareType(tile, 1, 2));
  Layout rows = {{32, 8, 512, 1024}, {64, 128, 1, 2, 4}, {16, 256}};
  expectShares(tileType({64, 32}, rows), 0, 2);
  expectShares(tileType({64, 32}, rows), 0, 4);
}

TEST_F(ClusterShares, WhatIsNotCut) {
  RankedTensorType tile = tileType({64, 32}, accumulators);
  EXPECT_FALSE(shareType(tile, 1, 64)); // fewer elements than parts
  // A register bit that toggles two bits of the index would put a share's elements into different registers.
  EXPECT_FALSE(shareType(tileType({64, 32}, {{1, 256, 8, 24}, {2, 4, 32, 64, 128}, {512, 1024}}), 1, 2));
  EXPECT_FALSE(cutDim(tile, tile, 2));
}

} // namespace
