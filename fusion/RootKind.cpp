// Geometry of kernels that are already outlined.
#include "fusion/RootKind.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

FailureOr<Geometry> fusion::classify(graph::KernelOp kernel) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front().without_terminator())
    ops.push_back(&op);
  GeometryOrRefusal geometry = analyze(ops);
  if (auto *refusal = std::get_if<Refusal>(&geometry))
    return refusal->at->emitOpError("does not fit into kernel @")
           << kernel.getSymName() << " because " << text(refusal->reason).sentence;
  return std::get<Geometry>(std::move(geometry));
}
