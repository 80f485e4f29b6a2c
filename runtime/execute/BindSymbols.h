// SPDX-License-Identifier: Apache-2.0
// Binds symbols to the shapes of the inputs.
#pragma once

#include "runtime/plan/Plan.h"

namespace tilewright::runtime {

/// A tensor that a caller passes in or out, in host or device memory.
struct TensorView {
  DType type = DType::F32;
  Shape shape;
  void *data = nullptr;
  bool onDevice = false; // `data` is an address on the context's device
  Tensor object = {};    // for strings, sequences, optionals and maps, instead of `data`
};

/// The value of each symbol. `given` are the values of a body's first symbols. Symbols that a step binds have the value
/// ExprValues::unknown. Code::Usage, with a sentence that names the input and both numbers, if the inputs do not fit
/// the plan or each other.
Expected<std::vector<int64_t>> bindSymbols(const Plan &plan, std::span<const TensorView> inputs,
                                           std::span<const int64_t> given = {});

/// Code::Usage unless type and rank are those of input `expected` and no size is negative.
Status checkTypeAndRank(const Plan &plan, const Value &expected, const TensorView &given);

/// "[batch, 4]", for messages.
std::string describeDims(const Plan &plan, const Value &value);

} // namespace tilewright::runtime
