// SPDX-License-Identifier: Apache-2.0
// Which targets a case is for, and how its placed kernel is launched with given sizes: what the plan says in artifacts
// (backend/plan/PlanSteps.cpp), for tests that have no plan.
#pragma once

#include "tests/device/Cases.h"

#include "tilegen/TargetDesc.h"
#include "tilegen/tile/TileOps.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tilewright::test {

/// A tensor map with its numbers; fastest dimension first.
struct PlacedTensorMap {
  size_t buffer = 0; // argument of the kernel
  int64_t start = 0;
  std::vector<int64_t> sizes, strides, box, lower, upper, steps;
  bool rounded = false;
};

/// Memory that the kernel takes behind its buffers.
struct PlacedWorkspace {
  size_t bytes = 0;
  bool zeroed = false;
};

struct PlacedLaunch {
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::vector<PlacedTensorMap> maps;
  std::vector<PlacedWorkspace> workspaces;
  int64_t clusterBlocks = 1;

  /// Has placing changed the number of programs? Blocks may take several, or several a tile.
  bool hasOwnGrid() const { return !maps.empty() || !workspaces.empty() || clusterBlocks > 1; }
};

/// Has the target the matrix units and the copy engine that the case is for?
bool isFor(const DeviceCase &c, const TargetDesc &target);

/// `symbols`: the kernel's scalars.
PlacedLaunch launchOf(tile::KernelOp kernel, const std::vector<int64_t> &symbols);

} // namespace tilewright::test
