// SPDX-License-Identifier: Apache-2.0
#include "backend/math/tiles/ApproximateExponentials.h"

#include "backend/math/tiles/SmoothUses.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tilewright {

void approximateExponentials(tile::KernelOp kernel) {
  kernel.walk([](math::ExpOp exponential) {
    if (getElementTypeOrSelf(exponential.getType()).isF32() &&
        isUsedSmoothly(exponential.getResult(), RoundedTo::Halves))
      exponential.setFastmath(exponential.getFastmath() | arith::FastMathFlags::afn);
  });
}

} // namespace tilewright
