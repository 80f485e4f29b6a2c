// The normalize stage: one spelling for graphs that mean the same, so that what follows depends neither on the exporter
// nor on the order of the model's file.
//
//  * Accesses are composed; transposes sink until they cancel or become part of a contraction's maps (channels-last for
//    whole CNNs); reshapes that split dimensions sink and those that merge them rise, so that elementwise work sees as
//    few loops as possible.
//  * Operands of commutative operations and the operations themselves stand in an order that follows from the graph's
//    structure alone.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace tilewright {

mlir::LogicalResult normalizeGraph(mlir::ModuleOp module);

} // namespace tilewright
