// SPDX-License-Identifier: Apache-2.0
// Stage "schedule": each kernel's own schedule if it has one, else that of its root for the target's program model.
#include "tilegen/schedule/SelectSchedule.h"

#include "tilegen/place/Place.h"
#include "tilegen/roots/RootTable.h"
#include "tilegen/schedule/Schedules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tilewright {

static tile::ScheduleAttr scheduleOf(const tilegen::KernelSpace &space, const TargetDesc &target) {
  const tilegen::Root &root = tilegen::rootOf(space.root);
  return target.model == ProgramModel::Vector ? root.forVectors(space, target) : root.forBlocks(space, target);
}

FailureOr<tile::ScheduleAttr> tilegen::selectSchedule(graph::KernelOp kernel, const TargetDesc &target) {
  FailureOr<KernelSpace> space = analyzeKernel(kernel);
  if (failed(space))
    return failure();
  return scheduleOf(*space, target);
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

int64_t tilegen::longestHeldRow(const TargetDesc &target) { return target.clusterBlocks * blocks::longestRow; }

std::optional<fusion::SingleWindows> tilegen::singleWindows(const TargetDesc &target, MatmulPrecision precision) {
  bool multiplies = llvm::any_of(target.matrix, [](const MatrixInstruction &instruction) {
    return instruction.warps == 4 && instruction.type == MatrixType::TF32;
  });
  if (!target.bulkCopies || !multiplies || precision == MatmulPrecision::Ieee)
    return std::nullopt;
  // Time relative to gathered windows (docs/performance.md): as pixels, convolutions of 64 columns took 0.63 by tf32x3
  // and 0.50 by tf32; copied, 1.2 and 1.6. With 128 columns, they took 0.77 and 0.92 copied.
  return fusion::SingleWindows{64, 128};
}

/// Adds a copy of `kernel` for sizes up to the variant's bound; returns how a launch names it.
static graph::VariantAttr addVariant(graph::KernelOp kernel, AffineMap size, const tilegen::SizeVariant &variant,
                                     SymbolTable &symbols) {
  graph::KernelOp copy = kernel.clone();
  copy.setSymName((kernel.getSymName() + "_to" + Twine(variant.most)).str());
  copy.setScheduleAttr(variant.schedule);
  symbols.insert(copy, std::next(kernel->getIterator())); // renames it if the name is taken
  return graph::VariantAttr::get(kernel.getContext(), FlatSymbolRefAttr::get(copy.getSymNameAttr()), size,
                                 variant.most);
}

void tilegen::setSchedules(graph::KernelOp kernel, const SizeVariants &schedules, ArrayRef<graph::LaunchOp> launches,
                           SymbolTable &symbols) {
  kernel.setScheduleAttr(schedules.schedule);
  if (schedules.variants.empty())
    return;
  auto names = kernel->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  auto size = AffineMap::get(0, names ? names.size() : 0, schedules.size);
  SmallVector<Attribute> attributes;
  for (const SizeVariant &variant : schedules.variants)
    attributes.push_back(addVariant(kernel, size, variant, symbols));
  for (graph::LaunchOp launch : launches)
    launch.setVariantsAttr(ArrayAttr::get(kernel.getContext(), attributes));
}

static LogicalResult scheduleKernel(graph::KernelOp kernel, ArrayRef<graph::LaunchOp> launches,
                                    const TargetDesc &target, SymbolTable &symbols) {
  FailureOr<tilegen::KernelSpace> space = tilegen::analyzeKernel(kernel);
  if (failed(space))
    return failure();
  auto variants = launches.empty() ? std::nullopt : tilegen::chooseVariants(*space, target);
  tilegen::setSchedules(kernel, variants ? *variants : tilegen::SizeVariants{{}, {}, scheduleOf(*space, target)},
                        launches, symbols);
  return success();
}

LogicalResult selectSchedules(ModuleOp module, const TargetDesc &target) {
  llvm::StringMap<SmallVector<graph::LaunchOp>> launches;
  for (auto main : module.getOps<func::FuncOp>()) // bodies of loops have kernels of their own
    for (auto launch : main.getOps<graph::LaunchOp>())
      launches[launch.getKernel()].push_back(launch);
  SymbolTable symbols(module);
  for (auto kernel : llvm::make_early_inc_range(module.getOps<graph::KernelOp>()))
    if (!kernel.getScheduleAttr() && failed(scheduleKernel(kernel, launches[kernel.getSymName()], target, symbols)))
      return failure();
  return success();
}

} // namespace tilewright
