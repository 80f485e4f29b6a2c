// SPDX-License-Identifier: Apache-2.0
#include "tests/device/PlacedLaunch.h"

#include "frontend/graph/Sizes.h"
#include "tilegen/place/Place.h"

using namespace mlir;

namespace tilewright::test {

bool isFor(const DeviceCase &c, const TargetDesc &target) {
  constexpr int64_t sharedOfWideTiles = 128 << 10;
  return (!c.chainsTf32 || tile::chainsSingles(tile::placeFacts(target))) && (!c.roundsTf32 || target.bulkCopies) &&
         (!c.takesWideTiles || target.sharedBytes >= sharedOfWideTiles) &&
         (!c.needsClusters || target.clusterBlocks > 0);
}

PlacedLaunch launchOf(tile::KernelOp kernel, const std::vector<int64_t> &symbols) {
  auto values = [&](AffineMap map) {
    std::vector<int64_t> numbers;
    for (AffineExpr expr : map.getResults())
      numbers.push_back(graph::evaluate(expr, {}, symbols));
    return numbers;
  };
  PlacedLaunch launch;
  llvm::copy(values(kernel.getGrid()), launch.grid.begin());
  launch.clusterBlocks = kernel.getClusterBlocks();
  for (auto map : kernel.getBody().getOps<tile::TensorMapOp>()) {
    PlacedTensorMap &entry = launch.maps.emplace_back();
    entry.buffer = cast<BlockArgument>(map.getBuffer()).getArgNumber();
    entry.start = values(map.getStart())[0];
    entry.sizes = values(map.getSizes());
    entry.strides = values(map.getStrides());
    entry.box.assign(map.getType().getBox().begin(), map.getType().getBox().end());
    entry.rounded = map.getRounded();
    entry.lower = map.getLower().vec(), entry.upper = map.getUpper().vec(), entry.steps = map.getSteps().vec();
  }
  for (auto workspace : kernel.getBody().getOps<tile::WorkspaceOp>()) {
    int64_t bytes = workspace.getType().getElementType().getIntOrFloatBitWidth() / 8;
    for (int64_t size : values(workspace.getType().getSizes()))
      bytes *= size;
    launch.workspaces.push_back({size_t(bytes), workspace.getZeroed()});
  }
  return launch;
}

} // namespace tilewright::test
