// SPDX-License-Identifier: Apache-2.0
// Counts tiles from the outputs of a kernel to its arguments.
#include "fusion/cost/KernelLimits.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

bool fusion::isTooLarge(const Group &a, const Group &b) {
  return a.ops.size() + b.ops.size() > kernelLimits.operations || a.work + b.work > kernelLimits.work;
}

namespace {
/// How a kernel needs a value.
struct Need {
  llvm::SmallDenseSet<uint64_t, 2> paths; // hashes of the sequences of accesses between an output and it
  unsigned reshapes = 0;                  // on the path with the most of them
};
} // namespace

/// Whether `op` reads operand `i` at other coordinates than those of its result.
static bool moves(Operation *op, unsigned i) {
  if (auto access = dyn_cast<graph::AccessOpInterface>(op))
    return op->getOperand(i) == access.getData();
  return isa<graph::ConcatOp, graph::ReduceOp, graph::ContractOp>(op);
}

/// The path to operand `i` of `op`, given the path to its result. Equal accesses of equal paths give equal paths.
static uint64_t throughOperand(Operation *op, unsigned i, uint64_t path) {
  if (!moves(op, i))
    return path;
  return llvm::hash_combine(op->getName().getAsOpaquePointer(), op->hashProperties(), op->getResult(0).getType(), i,
                            path);
}

std::optional<Refusal> fusion::tooManyTiles(ArrayRef<Operation *> ops, const Geometry &geometry) {
  llvm::SmallPtrSet<Operation *, 16> members(ops.begin(), ops.end());
  llvm::DenseMap<Value, Need> needs;
  for (Value output : geometry.outputs)
    needs[output].paths.insert(0);
  llvm::SmallDenseSet<Value> arguments;
  size_t tiles = 0;
  for (Operation *op : llvm::reverse(ops)) {
    Need need;
    for (Value result : op->getResults())
      if (auto found = needs.find(result); found != needs.end()) {
        need.paths.insert_range(found->second.paths);
        need.reshapes = std::max(need.reshapes, found->second.reshapes);
      }
    tiles += need.paths.size();
    need.reshapes += isa<graph::ReshapeOp>(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Operation *producer = operand.getDefiningOp();
      if (producer && isa<arith::ConstantOp>(producer))
        continue;
      if (!producer || !members.contains(producer)) {
        arguments.insert(operand);
        continue;
      }
      Need &below = needs[operand];
      below.reshapes = std::max(below.reshapes, need.reshapes);
      for (uint64_t path : need.paths)
        below.paths.insert(throughOperand(op, i, path));
    }
    if (tiles > kernelLimits.tiles || need.reshapes > kernelLimits.reshapes ||
        arguments.size() > kernelLimits.arguments)
      return Refusal{Reason::TooLarge, op};
  }
  return std::nullopt;
}
