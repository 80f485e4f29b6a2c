// SPDX-License-Identifier: Apache-2.0
// Offsets of loads are computed for every program, so that nothing has to be assumed about how programs are numbered.
#include "tilegen/place/roles/ClusterSharing.h"

#include "frontend/graph/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {

constexpr int64_t mostPrograms = 1 << 16; // that are looked at: some milliseconds

/// Index values of one program.
class ProgramValues {
public:
  explicit ProgramValues(int64_t program) : program_(program) {}
  /// None for what is not computed from the program's number and constants alone.
  std::optional<int64_t> of(Value value);

private:
  std::optional<int64_t> compute(Operation *op);
  std::optional<int64_t> ordered(OrderedProgramOp op);
  std::optional<int64_t> evaluate(AffineMap map, ValueRange operands);

  int64_t program_;
  llvm::DenseMap<Value, std::optional<int64_t>> known_;
};

} // namespace

std::optional<int64_t> ProgramValues::of(Value value) {
  if (auto constant = getConstantIntValue(value))
    return constant;
  auto found = known_.find(value);
  if (found != known_.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  return known_[value] = op ? compute(op) : std::nullopt;
}

std::optional<int64_t> ProgramValues::evaluate(AffineMap map, ValueRange operands) {
  SmallVector<int64_t> values;
  for (Value operand : operands) {
    std::optional<int64_t> number = of(operand);
    if (!number)
      return std::nullopt;
    values.push_back(*number);
  }
  if (map.getNumSymbols())
    return std::nullopt;
  return tilewright::graph::evaluate(map.getResult(0), values, {});
}

/// As backend/gpu/contract/DistributeRoles.cpp computes it.
std::optional<int64_t> ProgramValues::ordered(OrderedProgramOp op) {
  std::optional<int64_t> index = of(op.getIndex()), rows = evaluate(op.getRows(), {}),
                         columns = evaluate(op.getColumns(), {});
  if (!index || !rows || !columns)
    return std::nullopt;
  int64_t most = op.getGroup(), programs = *columns * most, within = *index % programs,
          firstRow = *index / programs * most, height = std::min(*rows - firstRow, most);
  return (firstRow + within % height) * *columns + within / height;
}

std::optional<int64_t> ProgramValues::compute(Operation *op) {
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return id.getDim() == 0 ? program_ : 0;
  if (auto size = dyn_cast<SizeOp>(op))
    return evaluate(size.getExpr(), size.getOperands());
  if (auto order = dyn_cast<OrderedProgramOp>(op))
    return ordered(order);
  if (!isa<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> left = of(op->getOperand(0)), right = of(op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *left + *right : *left * *right;
}

SmallVector<bool> tilewright::tile::readAlike(KernelOp kernel, const RolePlan &plan, int64_t blocks) {
  SmallVector<bool> alike(plan.copied.size(), false);
  auto programs = dyn_cast<AffineConstantExpr>(kernel.getGrid().getResult(0));
  if (!programs || programs.getValue() % blocks || programs.getValue() > mostPrograms)
    return alike;
  alike.assign(plan.copied.size(), true);
  Value position = scf::ForOp(plan.loop).getInductionVar();
  for (int64_t first = 0; first < programs.getValue(); first += blocks) {
    ProgramValues ofFirst(first);
    for (int64_t program = first + 1; program < first + blocks; ++program) {
      ProgramValues ofOther(program);
      for (auto [copied, isAlike] : llvm::zip(plan.copied, alike))
        isAlike = isAlike && llvm::all_of(LoadOp(copied.load).getOffsets(), [&](Value offset) {
                    std::optional<int64_t> here = ofFirst.of(offset);
                    return offset == position || (here && here == ofOther.of(offset));
                  });
    }
  }
  return alike;
}
