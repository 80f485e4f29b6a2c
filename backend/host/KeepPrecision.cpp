// SPDX-License-Identifier: Apache-2.0
//   %h = arith.truncf %w : f32 to f16
//   tile.dot %h, %v, %acc              ->    tile.dot %w, (arith.extf %v), %acc
#include "backend/host/KeepPrecision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright::host {

void keepPrecision(tile::KernelOp kernel) {
  kernel.walk([](tile::DotOp dot) {
    auto rounded = dot.getLhs().getDefiningOp<arith::TruncFOp>();
    auto right = cast<RankedTensorType>(dot.getRhs().getType());
    if (!rounded || !cast<RankedTensorType>(rounded.getIn().getType()).getElementType().isF32())
      return;
    OpBuilder builder(dot);
    dot.getRhsMutable().assign(
        arith::ExtFOp::create(builder, dot.getLoc(), right.clone(builder.getF32Type()), dot.getRhs()));
    dot.getLhsMutable().assign(rounded.getIn());
    if (rounded->use_empty())
      rounded->erase();
  });
}

} // namespace tilewright::host
