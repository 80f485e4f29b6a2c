// SPDX-License-Identifier: Apache-2.0
// The memory that blocks of the imitated GPU share beside their kernel's buffers, and the order in which they run.
//
// Without a fence a block sees nothing of what others write to a workspace, and they nothing of what it writes: it has
// a view of its own, which starts poisoned, as if everything were still on its way. A fence brings what the block has
// written to the device, and what the device has to the block.
#pragma once

#include "tests/backend/gpu/SimtBlock.h"
#include "tests/device/PlacedLaunch.h"

#include <span>

namespace tilewright::test {

/// In which order the blocks of a grid run. Of a block's threads, the last one runs first; in FirstThreadsFirst, the
/// first one. In the last three, the first block to come so far goes on when all others have ended: behind its first
/// fence, behind its first count, and behind the fence after that.
enum class BlockOrder { Ascending, FirstThreadsFirst, Descending, WaitsBeforeCount, WaitsAtCount, WaitsBehindCount };

class SimtDevice {
public:
  SimtDevice(const PlacedLaunch &launch, BlockOrder order);

  /// What is passed to the kernel behind its buffers.
  std::vector<uint64_t> arguments();
  /// Runs `start` and what it leaves to do for every block of the grid, those of a cluster at the same time, which are
  /// neighbours along x; false if a block hangs. Blocks of clusters do not wait for all others (BlockOrder).
  bool runBlocks(std::array<int64_t, 3> grid, int64_t blocksOfCluster,
                 const std::function<std::unique_ptr<RunningBlock>()> &make,
                 const std::function<void(RunningBlock &)> &start);
  /// Did some block do what no block may?
  bool isBroken() const;

  /// The verbs.
  void fence();
  int32_t countUpTo(int32_t *address, int32_t most);
  void askFor(const std::byte *line) { asked_.push_back(line); }

  /// The addresses for which threads have asked ahead, in no particular order.
  const std::vector<const std::byte *> &asked() const { return asked_; }

private:
  struct Workspace {
    bool zeroed;
    std::vector<std::byte> seen;      // by the block that runs; its address is the kernel's
    std::vector<std::byte> unchanged; // what the block has not written is as here
    std::vector<std::byte> published;
  };
  using View = std::vector<std::pair<std::vector<std::byte>, std::vector<std::byte>>>;
  void reach(BlockOrder point);
  void hideOthers();
  View takeView();
  void giveView(View view);

  BlockOrder order_;
  std::vector<Workspace> workspaces_;
  std::vector<const std::byte *> asked_;
  bool hasCounted_ = false, hasWaited_ = false, overwritten_ = false;
};

/// One at a time.
extern SimtDevice *device;

} // namespace tilewright::test
