// SPDX-License-Identifier: Apache-2.0
#include "fusion/products/ScaledOperands.h"

#include "fusion/Replacement.h"
#include "fusion/keys/ScaledLogits.h"
#include "fusion/keys/Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

/// What an operand is `factor` times of. `scaled` and `unscaled` have one type, and the operand is an access of
/// `scaled`, or that itself.
struct ScaledOperand {
  Value scaled, unscaled;
  Operation *multiplication;
  double factor;
};

} // namespace

static bool movesElements(Operation *op) {
  return isa_and_nonnull<graph::ReshapeOp, graph::TransposeOp, graph::BroadcastOp, graph::SliceOp>(op);
}

/// Whether the value is an input, a concatenation, which an attention reads in place, or an access of one. A
/// concatenation that something else reads, such as a cache that is an output, is stored by a kernel anyway, and that
/// stores the scaled one beside it.
static bool isMemory(Value value) {
  while (movesElements(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return isa<BlockArgument>(value) || (value.getDefiningOp<graph::ConcatOp>() && value.hasOneUse());
}

/// Follows an operand that nothing else reads back over accesses and rounding to a multiplication by a number.
static std::optional<ScaledOperand> scaledOperand(Value operand) {
  while (operand.hasOneUse() && movesElements(operand.getDefiningOp()))
    operand = operand.getDefiningOp()->getOperand(0);
  if (!operand.hasOneUse())
    return std::nullopt;
  auto rounded = operand.getDefiningOp<arith::TruncFOp>();
  Value product = rounded ? rounded.getIn() : operand;
  auto [unscaled, factor] = withoutFactor(product);
  if (!unscaled || !product.hasOneUse())
    return std::nullopt;
  if (auto widened = unscaled.getDefiningOp<arith::ExtFOp>(); widened && rounded)
    unscaled = widened.getIn();
  if (unscaled.getType() != operand.getType() || !isMemory(unscaled))
    return std::nullopt;
  return ScaledOperand{operand, unscaled, product.getDefiningOp(), factor};
}

/// Convolutions keep their scales: the kernel that scales an image often changes its layout too, and without it
/// nothing was gained on an H200.
static bool isConvolution(graph::ContractOp contract) {
  return llvm::any_of(contract->getOperands(), [](Value operand) {
    while (movesElements(operand.getDefiningOp()))
      operand = operand.getDefiningOp()->getOperand(0);
    return operand.getDefiningOp<graph::WindowOp>() != nullptr;
  });
}

/// Multiplies the contraction's result.
static void scaleResult(graph::ContractOp contract, ArrayRef<ScaledOperand> operands) {
  double factor = 1;
  SmallVector<Operation *> multiplications;
  for (const ScaledOperand &operand : operands) {
    factor *= operand.factor;
    multiplications.push_back(operand.multiplication);
  }
  OpBuilder builder(contract->getContext());
  builder.setInsertionPointAfter(contract);
  Value result = contract.getResult();
  Location loc = multiplications.front()->getLoc();
  Value number = splatOfType(cast<RankedTensorType>(result.getType()), factor, loc, builder);
  Operation *scaled = arith::MulFOp::create(builder, loc, result, number);
  result.replaceAllUsesExcept(nameAfter(scaled, multiplications)->getResult(0), scaled);
}

void fusion::moveScalesOfOperands(func::FuncOp main) {
  for (auto contract : llvm::make_early_inc_range(main.front().getOps<graph::ContractOp>())) {
    SmallVector<ScaledOperand> operands;
    for (Value operand : contract->getOperands())
      if (std::optional<ScaledOperand> scaled = scaledOperand(operand))
        operands.push_back(*scaled);
    if (operands.empty() || isConvolution(contract))
      continue;
    scaleResult(contract, operands);
    for (ScaledOperand &operand : operands) {
      operand.scaled.replaceAllUsesWith(operand.unscaled);
      eraseDead(operand.scaled.getDefiningOp());
    }
  }
}
