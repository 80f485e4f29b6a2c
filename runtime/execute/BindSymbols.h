// From the shapes of the inputs to the values of the symbols.
#pragma once

#include "runtime/plan/Plan.h"

namespace tilewright::runtime {

/// A tensor somewhere: what callers pass in and out.
struct TensorView {
  DType type = DType::F32;
  Shape shape;
  void *data = nullptr;
  bool onDevice = false; // `data` is an address of the context's device instead of host memory
  Tensor object = {};    // strings, sequences and their like, instead of `data`
};

/// The value of each symbol: `given` for the first of a body's, ExprValues::unknown for those that a step binds.
/// Code::Usage, with one sentence that names the input and both numbers, if the inputs do not fit the plan or each
/// other.
Expected<std::vector<int64_t>> bindSymbols(const Plan &plan, std::span<const TensorView> inputs,
                                           std::span<const int64_t> given = {});

/// Code::Usage unless type, rank and signs of the sizes are those of input `expected`.
Status checkTypeAndRank(const Plan &plan, const Value &expected, const TensorView &given);

/// "batch x 4", for messages.
std::string describeDims(const Plan &plan, const Value &value);

} // namespace tilewright::runtime
