// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/gpu/SimtDevice.h"

#include <algorithm>

namespace tilewright::test {

SimtDevice *device;

constexpr std::byte poison{0xff};

SimtDevice::SimtDevice(const PlacedLaunch &launch, BlockOrder order) : order_(order) {
  for (const PlacedWorkspace &placed : launch.workspaces) {
    std::vector<std::byte> memory(placed.bytes, placed.zeroed ? std::byte{} : poison);
    workspaces_.push_back({placed.zeroed, memory, memory, memory});
  }
}

std::vector<uint64_t> SimtDevice::arguments() {
  std::vector<uint64_t> addresses;
  for (Workspace &workspace : workspaces_)
    addresses.push_back(reinterpret_cast<uint64_t>(workspace.seen.data()));
  return addresses;
}

//===- What a block sees ------------------------------------------------------------------------------------------===//

void SimtDevice::hideOthers() {
  for (Workspace &workspace : workspaces_)
    if (!workspace.zeroed) {
      std::ranges::fill(workspace.seen, poison);
      workspace.unchanged = workspace.seen;
    }
}

void SimtDevice::fence() {
  for (Workspace &workspace : workspaces_) {
    if (workspace.zeroed) // counters are not in a block's view
      continue;
    for (size_t i = 0; i < workspace.seen.size(); ++i)
      if (workspace.seen[i] != workspace.unchanged[i])
        workspace.published[i] = workspace.seen[i];
    std::ranges::copy(workspace.published, workspace.seen.begin());
    workspace.unchanged = workspace.seen;
  }
  reach(hasCounted_ ? BlockOrder::WaitsBehindCount : BlockOrder::WaitsBeforeCount);
}

int32_t SimtDevice::countUpTo(int32_t *address, int32_t most) {
  hasCounted_ = true;
  int32_t before = *address;
  *address = before >= most ? 0 : before + 1;
  reach(BlockOrder::WaitsAtCount);
  return before;
}

void SimtDevice::reach(BlockOrder point) {
  if (order_ != point || hasWaited_)
    return;
  block->waits = hasWaited_ = true;
  block->yield();
}

SimtDevice::View SimtDevice::takeView() {
  View view;
  for (Workspace &workspace : workspaces_)
    view.emplace_back(workspace.seen, workspace.unchanged);
  return view;
}

void SimtDevice::giveView(View view) {
  for (size_t i = 0; i < view.size(); ++i)
    if (!workspaces_[i].zeroed) {
      std::ranges::copy(view[i].first, workspaces_[i].seen.begin());
      workspaces_[i].unchanged = view[i].second;
    }
}

//===- Blocks -----------------------------------------------------------------------------------------------------===//

/// Each thread of the block runs until it must wait. False if all have ended, or the block waits for all others.
static bool runRound(RunningBlock &state) {
  bool running = false;
  block = &state;
  for (unsigned i = 0; i < state.fibers.size(); ++i) {
    unsigned t = state.startsWithFirst ? i : state.fibers.size() - 1 - i;
    if (!state.fibers[t]->done) {
      running = true;
      state.current = t;
      state.fibers[t]->context.resume();
      state.progress += state.fibers[t]->done;
      if (state.waits)
        return false;
    }
  }
  return running;
}

/// A block of a cluster runs until it can't go on without the others, as if these started late; in it whole warps take
/// turns, the last one first. False if all that are left wait for what does not come.
static bool runOn(const std::vector<RunningBlock *> &cluster) {
  constexpr int patience = 3; // rounds in which nothing happens
  auto progress = [&] {
    uint64_t all = 0;
    for (const RunningBlock *state : cluster)
      all += state->progress;
    return all;
  };
  for (int idle = 0; idle < patience; ++idle) {
    bool running = false;
    uint64_t before = progress();
    for (RunningBlock *state : cluster)
      for (uint64_t reached = ~uint64_t(0); reached != state->progress && !state->waits;) {
        reached = state->progress;
        running |= runRound(*state);
      }
    if (!running)
      return true;
    if (progress() != before)
      idle = -1;
  }
  return false;
}

bool SimtDevice::runBlocks(std::array<int64_t, 3> grid, int64_t blocksOfCluster,
                           const std::function<std::unique_ptr<RunningBlock>()> &make,
                           const std::function<void(RunningBlock &)> &start) {
  std::vector<std::unique_ptr<RunningBlock>> states;
  for (int64_t i = 0; i < blocksOfCluster; ++i)
    states.push_back(make());
  std::unique_ptr<RunningBlock> waiting;
  View viewOfWaiting;
  int64_t clusters = grid[0] * grid[1] * grid[2] / blocksOfCluster;
  for (int64_t i = 0; i < clusters; ++i) {
    int64_t number = (order_ == BlockOrder::Descending ? clusters - 1 - i : i) * blocksOfCluster;
    std::vector<RunningBlock *> cluster;
    for (const auto &state : states)
      cluster.push_back(state.get());
    for (RunningBlock *state : cluster) {
      state->id = {uint32_t(number % grid[0]), uint32_t(number / grid[0] % grid[1]),
                   uint32_t(number / grid[0] / grid[1])};
      state->cluster = cluster;
      state->startsWithFirst = order_ == BlockOrder::FirstThreadsFirst;
      start(*state);
      ++number;
    }
    hideOthers();
    if (!runOn(cluster))
      return false;
    for (const RunningBlock *state : cluster)
      overwritten_ |= state->overwritten || state->touchedEarly;
    if (states.front()->waits) {
      viewOfWaiting = takeView();
      waiting = std::exchange(states.front(), make());
    }
  }
  if (!waiting)
    return true;
  giveView(std::move(viewOfWaiting));
  waiting->waits = false;
  bool ended = runOn({waiting.get()});
  overwritten_ |= waiting->overwritten || waiting->touchedEarly;
  return ended;
}

bool SimtDevice::isBroken() const {
  return overwritten_ || std::ranges::any_of(workspaces_, [](const Workspace &workspace) {
           return workspace.zeroed &&
                  std::ranges::any_of(workspace.seen, [](std::byte byte) { return byte != std::byte{}; });
         });
}

} // namespace tilewright::test
