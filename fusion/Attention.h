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
  unsigned shares = 0;          // the operand of `mix` that the softmax is
  bool zeroesUndefined = false; // shares that are not numbers are 0

  mlir::Value sharesOperand() const { return mix->getOperand(shares); }
  mlir::Value valuesOperand() const { return mix->getOperand(1 - shares); }
};

/// What is between two contractions. Refuses what is no such softmax; what `analyze` guarantees is not checked again:
/// that the second reads the first element by element, along rows of one loop.
std::variant<Attention, Refusal> takeApart(graph::ContractOp scores, graph::ContractOp mix);

/// That of a kernel with the root attention; fails with a diagnostic.
mlir::FailureOr<Attention> takeApart(graph::KernelOp kernel);

} // namespace tilewright::fusion
