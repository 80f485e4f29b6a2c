// SPDX-License-Identifier: Apache-2.0
// A softmax of rows between two contractions, taken apart into what a kernel needs that sums a few keys at a time.
//
//   scores  = q k                         contract
//   logits  = scale, mask, casts          elementwise
//   weights = exp(logits - f(max))        f, g: elementwise on rows, such as guards for rows that are masked entirely
//   shares  = weights / g(sum)            perhaps 0 where that is not a number, and cast
//   mix     = shares v                    contract
//
// The quotient is the same whatever is subtracted in the exponent, so a row may be summed relative to the largest logit
// so far, and divided once at its end.
#pragma once

#include "fusion/Reason.h"

#include "frontend/graph/GraphOps.h"

#include <variant>

namespace tilewright::fusion {

struct Attention {
  graph::ContractOp scores, mix;
  graph::ReduceOp max, sum;
  mlir::Value logits;           // what `max` reduces
  mlir::Value divisor;          // of a row: g(sum)
  unsigned shares = 0;          // which operand of `mix` is the softmax: 0 or 1
  bool zeroesUndefined = false; // the model replaces shares that are NaN by 0

  mlir::Value sharesOperand() const { return mix->getOperand(shares); }
  mlir::Value valuesOperand() const { return mix->getOperand(1 - shares); }
};

/// `values`, which are mixed, without their conversion to singles, if `scores` multiplies the same halves; null
/// otherwise. Exporters convert them where the mask, and so the softmax, is of singles in a model of halves.
mlir::Value valuesBeforeWidening(graph::ContractOp scores, mlir::Value values);

/// Takes apart what is between two contractions; a refusal with the reason NotSoftmax if it is no softmax of the form
/// above. Does not check again what `analyze` guarantees: that `mix` reads `scores` element by element, and that the
/// rows of the softmax run along one loop.
std::variant<Attention, Refusal> takeApart(graph::ContractOp scores, graph::ContractOp mix);

/// The same for a kernel whose root is attention. Fails with a diagnostic if it has not two contractions, or no softmax
/// between them.
mlir::FailureOr<Attention> takeApart(graph::KernelOp kernel);

} // namespace tilewright::fusion
