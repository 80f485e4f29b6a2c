// SPDX-License-Identifier: Apache-2.0
//   %h = arith.truncf %w : f32 to f16
//   tile.dot %h, %v, %acc              ->    tile.dot %w, (arith.extf %v), %acc
//   tile.dot %v, %h, %acc              ->    tile.dot (arith.extf %v), %w, %acc
#include "backend/host/KeepPrecision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright::host {

void keepPrecision(tile::KernelOp kernel) {
  auto roundedFrom = [](Value operand) {
    auto rounded = operand.getDefiningOp<arith::TruncFOp>();
    bool isSingle = rounded && cast<RankedTensorType>(rounded.getIn().getType()).getElementType().isF32();
    return isSingle ? rounded.getIn() : Value();
  };
  kernel.walk([&](tile::DotOp dot) {
    OpOperand *sides[] = {&dot.getLhsMutable(), &dot.getRhsMutable()};
    if (llvm::none_of(sides, [&](OpOperand *side) { return roundedFrom(side->get()) != nullptr; }))
      return;
    OpBuilder builder(dot);
    for (OpOperand *side : sides) {
      Value value = side->get(), exact = roundedFrom(value);
      auto type = cast<RankedTensorType>(value.getType());
      side->set(exact ? exact : arith::ExtFOp::create(builder, dot.getLoc(), type.clone(builder.getF32Type()), value));
      if (Operation *rounding = exact ? value.getDefiningOp() : nullptr; rounding && rounding->use_empty())
        rounding->erase();
    }
  });
}

} // namespace tilewright::host
