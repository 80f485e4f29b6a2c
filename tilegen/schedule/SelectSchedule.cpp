// Stage "schedule": each kernel's own schedule if it has one, else the strategy of the target's program model.
#include "tilegen/schedule/SelectSchedule.h"

using namespace mlir;

namespace tilewright {

tile::ScheduleAttr tilegen::selectSchedule(const KernelSpace &space, const TargetDesc &target) {
  return target.model == ProgramModel::Vector ? scheduleForVectors(space, target) : scheduleForBlocks(space, target);
}

LogicalResult selectSchedules(ModuleOp module, const TargetDesc &target) {
  for (auto kernel : module.getOps<graph::KernelOp>()) {
    if (kernel.getScheduleAttr())
      continue;
    FailureOr<tilegen::KernelSpace> space = tilegen::analyzeKernel(kernel);
    if (failed(space))
      return failure();
    kernel.setScheduleAttr(tilegen::selectSchedule(*space, target));
  }
  return success();
}

} // namespace tilewright
