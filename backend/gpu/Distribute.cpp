// SPDX-License-Identifier: Apache-2.0
// Every placed kernel of a module, distributed by itself.
#include "backend/gpu/Distribute.h"
#include "backend/gpu/KernelDistributor.h"
#include "backend/math/tiles/ApproximateExponentials.h"
#include "backend/math/tiles/NarrowProducts.h"
#include "backend/math/tiles/RowReciprocals.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

FailureOr<OwningOpRef<ModuleOp>> tilewright::distribute(ModuleOp module, GpuTarget &target, InjectedFaults faults) {
  OwningOpRef<ModuleOp> output = ModuleOp::create(module.getLoc());
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    if (!kernel.isPlaced())
      return kernel.emitOpError("expected a placed kernel: run the stage 'place' first");
    narrowProducts(kernel);
    approximateExponentials(kernel);
    divideByRowReciprocals(kernel); // whose comparisons are no smooth uses
    if (failed(KernelDistributor(kernel, *output, target, faults).run()))
      return failure();
  }
  return output;
}
