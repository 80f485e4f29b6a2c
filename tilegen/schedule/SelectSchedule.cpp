// SPDX-License-Identifier: Apache-2.0
// Stage "schedule": each kernel's own schedule if it has one, else that of its root for the target's program model.
#include "tilegen/schedule/SelectSchedule.h"

#include "tilegen/place/Place.h"

#include "tilegen/roots/RootTable.h"

using namespace mlir;

namespace tilewright {

FailureOr<tile::ScheduleAttr> tilegen::selectSchedule(graph::KernelOp kernel, const TargetDesc &target) {
  FailureOr<KernelSpace> space = analyzeKernel(kernel);
  if (failed(space))
    return failure();
  const Root &root = rootOf(space->root);
  return target.model == ProgramModel::Vector ? root.forVectors(*space, target) : root.forBlocks(*space, target);
}

fusion::AttentionFusion tilegen::attentionFusion(const TargetDesc &target, MatmulPrecision precision) {
  if (target.model == ProgramModel::Vector)
    return fusion::AttentionFusion::Large;
  tile::PlaceFacts facts = tile::placeFacts(target);
  if (!tile::chainsHalves(facts))
    return fusion::AttentionFusion::None;
  return tile::chainsSingles(facts) && precision != MatmulPrecision::Ieee ? fusion::AttentionFusion::Floats
                                                                          : fusion::AttentionFusion::Halves;
}

LogicalResult selectSchedules(ModuleOp module, const TargetDesc &target) {
  for (auto kernel : module.getOps<graph::KernelOp>()) {
    if (kernel.getScheduleAttr())
      continue;
    FailureOr<tile::ScheduleAttr> schedule = tilegen::selectSchedule(kernel, target);
    if (failed(schedule))
      return failure();
    kernel.setScheduleAttr(*schedule);
  }
  return success();
}

} // namespace tilewright
