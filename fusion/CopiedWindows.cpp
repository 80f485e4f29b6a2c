// SPDX-License-Identifier: Apache-2.0
#include "fusion/CopiedWindows.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

/// What pays on an H100 (docs/performance.md): 2^27 multiplications took 0.9 to 1.3 times as long. A large image is
/// copied as many times as a window has elements.
constexpr int64_t leastMultiplications = 1 << 28, mostBytes = 1 << 30, bytesOfRow = 16;

/// The product of the sizes of `operand` in those loops that map `without` does not name.
static int64_t iterations(graph::ContractOp op, unsigned operand, std::optional<unsigned> without) {
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(op->getOperand(operand).getType()).getShape();
  int64_t count = 1;
  for (auto [loop, size] : llvm::zip_equal(op.getMap(operand).getResults(), sizes))
    if (!without || !op.getMap(*without).isFunctionOfDim(cast<AffineDimExpr>(loop).getPosition()))
      count *= size;
  return count;
}

static bool isCopied(graph::WindowOp window, int64_t leastColumns) {
  constexpr int64_t bytesOfSingle = 4;
  auto type = cast<RankedTensorType>(window.getType());
  bool isImage = window.getDims().front() <= 2; // no groups beside the batch and the channels
  if (!type.getElementType().isF32() || !type.hasStaticShape() || !isImage || !window->hasOneUse())
    return false;
  OpOperand &use = *window->use_begin();
  auto contract = dyn_cast<graph::ContractOp>(use.getOwner());
  if (!contract || !cast<RankedTensorType>(contract.getType()).hasStaticShape())
    return false;
  unsigned side = use.getOperandNumber();
  if (matchPattern(contract->getOperand(1 - side), m_Constant())) // one number: there is nothing to bring
    return false;
  int64_t elements = iterations(contract, side, std::nullopt), columns = iterations(contract, 1 - side, side),
          row = iterations(contract, side, 2);
  return columns >= leastColumns && row * bytesOfSingle % bytesOfRow == 0 && elements <= mostBytes / bytesOfSingle &&
         elements >= leastMultiplications / columns;
}

void fusion::copyWindows(func::FuncOp main, int64_t leastColumns) {
  for (auto window : main.front().getOps<graph::WindowOp>())
    if (isCopied(window, leastColumns))
      window.setCopied(true);
}
