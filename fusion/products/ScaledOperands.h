// SPDX-License-Identifier: Apache-2.0
// Operands of contractions that are an input, or a concatenation, multiplied by a number: exporters scale query and
// key before the scores. The number moves behind the contraction:
//
//     %s = contract (mulf %q, 0.35), (mulf (concat %cache, %k), 0.35)  ->  %s = mulf (contract %q, (concat ...)), 0.125
//
// Otherwise it is a kernel of its own, which reads and writes the whole operand, for operands take no arithmetic. An
// epilogue multiplies for nothing, and a softmax takes the number with its exponential (keys/ScaledLogits.h). Where
// something computes the operand, a product or other elementwise work, or stores it anyway, the number is already part
// of that.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright::fusion {

void moveScalesOfOperands(mlir::func::FuncOp main);

} // namespace tilewright::fusion
