// SPDX-License-Identifier: Apache-2.0
// From the last operation to the first, so that chains move as a whole.
//
//     %b = graph.broadcast %bias            group 1: %b, %0 = add %x, %b
//     %0 = arith.addf %x, %b           ->   group 2: %b' (a copy), %1 = add %y, %b'
//     %1 = arith.addf %y, %b
#include "fusion/groups/CarryAccesses.h"

#include "fusion/Legality.h"
#include "fusion/cost/CostModel.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

static bool isWideningCast(Operation *op) {
  return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::UIToFPOp, arith::SIToFPOp>(op) &&
         getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth() >
             getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth();
}

/// Whether `op` adds to a coordinate or multiplies it. Unpacking bytes that hold several numbers computes shifts so.
static bool isScaledPosition(Operation *op) {
  return isa<arith::AddIOp, arith::MulIOp>(op) && llvm::all_of(op->getOperands(), [](Value operand) {
           return isa_and_nonnull<graph::IotaOp, arith::ConstantOp>(operand.getDefiningOp());
         });
}

static bool isCarried(Operation *op, Carry what, Machine machine) {
  if (auto transpose = dyn_cast<graph::TransposeOp>(op))
    return what == Carry::Transposes && repeatedStrides(transpose, machine).empty();
  if (isa<graph::GatherOp>(op))
    return false; // its reads are irregular, so do them once
  return isa<graph::AccessOpInterface, graph::IotaOp>(op) || isWideningCast(op) || isScaledPosition(op);
}

static void carry(GroupGraph &graph, FusionMode mode, Operation *op) {
  llvm::MapVector<Group *, SmallVector<OpOperand *>> readers;
  for (OpOperand &use : op->getUses())
    if (Group *reader = graph.groupOf(use.getOwner()))
      readers[reader].push_back(&use);
  for (auto &[reader, uses] : readers) {
    if (llvm::none_of(uses, [&](OpOperand *use) {
          return modeAllows(mode, FusionMode::All, isInsideNode(op->getResult(0), use->getOwner()));
        }))
      continue;
    // The copy is for this group alone: several outputs, or a path through another group, cannot prevent the merge.
    bool isLast = llvm::hasNItems(op->use_begin(), op->use_end(), uses.size());
    Operation *carried = isLast ? op : graph.copyFor(op, uses);
    GeometryOrRefusal geometry = checkUnion(graph, *graph.groupOf(carried), *reader);
    if (auto *legal = std::get_if<Geometry>(&geometry))
      graph.merge(*reader, *graph.groupOf(carried), std::move(*legal));
    else if (carried != op)
      graph.dropCopy(carried, op);
  }
}

void fusion::carryAccesses(GroupGraph &graph, FusionMode mode, Carry what) {
  SmallVector<Operation *> ops = graph.operations();
  for (Operation *op : llvm::reverse(ops))
    if (isCarried(op, what, graph.machine()) && graph.groupOf(op)->ops.size() == 1)
      carry(graph, mode, op);
}
