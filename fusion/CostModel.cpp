// Costs by counting: how much work would be repeated.
#include "fusion/CostModel.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

/// Additions that one element costs; anything elementwise that is not listed costs one.
struct WorkRow {
  llvm::StringLiteral op;
  unsigned work;
};
constexpr WorkRow workTable[] = {
    {"arith.extf", 0},    {"arith.truncf", 0},  {"arith.extsi", 0},   {"arith.extui", 0},    {"arith.trunci", 0}, {"arith.uitofp", 0},
    {"arith.sitofp", 0},  {"arith.bitcast", 0}, {"arith.divf", 4},    {"arith.divsi", 16},   {"arith.divui", 16}, {"arith.remsi", 16},
    {"arith.remui", 16},  {"arith.remf", 16},   {"math.sqrt", 4},     {"math.rsqrt", 4},     {"math.absf", 1},    {"math.absi", 1},
    {"math.floor", 1},    {"math.ceil", 1},     {"math.round", 1},    {"math.roundeven", 1}, {"math.trunc", 1},   {"math.fma", 1},
    {"math.copysign", 1}, {"graph.gather", 2},  {"graph.concat", 16}, {"graph.iota", 0},
};
constexpr unsigned transcendental = 12; // any other function of the math dialect

/// Limits of repeated work for each element read. They are small because the saving is small: one pass over memory. A contraction
/// reads each element of an operand so often that nothing pays but renaming and conversion.
constexpr unsigned contractOperandLimit = 0;
constexpr unsigned windowOperandLimit = 4;
constexpr unsigned broadcastLimit = 4;

using Members = llvm::SmallPtrSet<Operation *, 16>;

/// The members that `values` are computed from.
llvm::SetVector<Operation *> upstream(const Members &members, ValueRange values) {
  llvm::SetVector<Operation *> found;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && members.contains(op))
      found.insert(op);
  };
  llvm::for_each(values, add);
  for (size_t i = 0; i < found.size(); ++i)
    llvm::for_each(found[i]->getOperands(), add);
  return found;
}

unsigned totalWork(const llvm::SetVector<Operation *> &ops) {
  unsigned work = 0;
  for (Operation *op : ops)
    work += elementWork(op);
  return work;
}

/// True if the broadcast's result has more elements than its operand: by a dimension that is not 1.
bool repeats(graph::BroadcastOp op) {
  auto count = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return graph::productOf(type.getContext(), graph::getSizes(type));
  };
  return count(op.getData()) != count(op.getResult());
}

} // namespace

unsigned fusion::elementWork(Operation *op) {
  static const llvm::StringMap<unsigned> works = [] {
    llvm::StringMap<unsigned> result;
    for (const WorkRow &row : workTable)
      result[row.op] = row.work;
    return result;
  }();
  if (auto found = works.find(op->getName().getStringRef()); found != works.end())
    return found->second;
  if (isa<math::MathDialect>(op->getDialect()))
    return transcendental;
  return isElementwise(op) ? 1 : 0;
}

bool fusion::isTooLarge(const Group &a, const Group &b) {
  return a.ops.size() + b.ops.size() > kernelLimits.operations || a.work + b.work > kernelLimits.work;
}

std::optional<Refusal> fusion::repeatedWork(ArrayRef<Operation *> ops, const Geometry &geometry) {
  Members members(ops.begin(), ops.end());
  if (geometry.kind == RootKind::Matmul || geometry.kind == RootKind::Window) {
    unsigned limit = geometry.kind == RootKind::Matmul ? contractOperandLimit : windowOperandLimit;
    if (totalWork(upstream(members, geometry.root->getOperands())) > limit)
      return Refusal{Reason::RepeatsWork, geometry.root};
  }
  for (Operation *op : ops)
    if (auto broadcast = dyn_cast<graph::BroadcastOp>(op); broadcast && repeats(broadcast)) {
      llvm::SetVector<Operation *> repeated = upstream(members, broadcast.getData());
      // What follows a reduction of this kernel is computed once a row and kept.
      bool keptByRow = llvm::any_of(repeated, [](Operation *member) { return isa<graph::ReduceOp>(member); });
      if (!keptByRow && totalWork(repeated) > broadcastLimit)
        return Refusal{Reason::RepeatsWork, op};
    }
  return std::nullopt;
}
