// Counts what a kernel would hold, from its outputs to its arguments.
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
/// Where in a kernel a value is needed.
struct Need {
  llvm::SmallDenseSet<uint64_t, 2> places; // hashes of the accesses that lead from an output to it
  unsigned reshapes = 0;                   // on the path with the most of them
};
} // namespace

/// Whether operand `i` of `op` is read at other coordinates than the result has.
static bool moves(Operation *op, unsigned i) {
  if (auto access = dyn_cast<graph::AccessOpInterface>(op))
    return op->getOperand(i) == access.getData();
  return isa<graph::ConcatOp, graph::ReduceOp, graph::ContractOp>(op);
}

/// The place of operand `i` of `op` where its result is at `place`: equal accesses of equal places are one.
static uint64_t throughOperand(Operation *op, unsigned i, uint64_t place) {
  if (!moves(op, i))
    return place;
  return llvm::hash_combine(op->getName().getAsOpaquePointer(), op->hashProperties(), op->getResult(0).getType(), i,
                            place);
}

std::optional<Refusal> fusion::tooManyPlaces(ArrayRef<Operation *> ops, const Geometry &geometry) {
  llvm::SmallPtrSet<Operation *, 16> members(ops.begin(), ops.end());
  llvm::DenseMap<Value, Need> needs;
  for (Value output : geometry.outputs)
    needs[output].places.insert(0);
  llvm::SmallDenseSet<Value> arguments;
  size_t tiles = 0;
  for (Operation *op : llvm::reverse(ops)) {
    Need need;
    for (Value result : op->getResults())
      if (auto found = needs.find(result); found != needs.end()) {
        need.places.insert_range(found->second.places);
        need.reshapes = std::max(need.reshapes, found->second.reshapes);
      }
    tiles += need.places.size();
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
      for (uint64_t place : need.places)
        below.places.insert(throughOperand(op, i, place));
    }
    if (tiles > kernelLimits.tiles || need.reshapes > kernelLimits.reshapes ||
        arguments.size() > kernelLimits.arguments)
      return Refusal{Reason::TooLarge, op};
  }
  return std::nullopt;
}
