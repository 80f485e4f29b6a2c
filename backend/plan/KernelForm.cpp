// SPDX-License-Identifier: Apache-2.0
#include "backend/plan/KernelForm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tilewright {

/// Sizes above 1; those of the batch are 1 in most kernels.
static std::string sizesText(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shown(llvm::make_filter_range(sizes, [](int64_t size) { return size > 1; }));
  return shown.empty() ? "1" : fmt::format("{}", fmt::join(shown, "x"));
}

std::string formOf(tile::KernelOp kernel) {
  tile::ScheduleAttr schedule = kernel.getScheduleAttr();
  if (!schedule)
    return "";
  std::string text =
      fmt::format("{} {}", graph::stringifyRootKind(schedule.getRoot()).str(), sizesText(schedule.getTile()));
  if (!schedule.getReduce().empty())
    text += fmt::format(", sums by {}{}", sizesText(schedule.getReduce()), schedule.getUnrolled() ? " unrolled" : "");
  if (!schedule.isOfBlock())
    text += fmt::format(", registers {}", sizesText(schedule.getRegisters()));
  else
    text += fmt::format(", {} warp{}", schedule.getWarps(), schedule.getWarps() == 1 ? "" : "s");
  if (schedule.getStages() > 1)
    text += fmt::format(", {} stages", schedule.getStages());
  if (!kernel.getBody().getOps<tile::RolesOp>().empty())
    text += schedule.getGroups() > 1 ? fmt::format(", {} groups, copy engine", schedule.getGroups()) : ", copy engine";
  bool repeats = kernel.walk([](tile::StepEndOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (repeats)
    text += ", a loop of steps";
  bool isShared = !kernel.getBody().getOps<tile::WorkspaceOp>().empty();
  if (isShared && schedule.getRoot() == graph::RootKind::Attention)
    text += fmt::format(", keys split by {}", schedule.getParts());
  else if (isShared)
    text += fmt::format(", sums shared by {}", schedule.getParts());
  else if (int64_t blocks = kernel.getClusterBlocks(); blocks > 1 && repeats)
    text += fmt::format(" in clusters of {}", blocks);
  else if (blocks > 1)
    text += fmt::format(", {} shared by {} in a cluster",
                        schedule.getRoot() == graph::RootKind::RowReduction ? "rows" : "sums", blocks);
  if (schedule.getMatrix())
    text += ", matrix unit";
  if (schedule.getPack())
    text += fmt::format(", panels of {}", schedule.getPack());
  return text;
}

} // namespace tilewright
