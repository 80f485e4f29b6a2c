// SPDX-License-Identifier: Apache-2.0
// Filters of convolutions in another form, with zeros for what the form adds.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The key of a constant of `count` elements, those of `constant` where `placeOf` says of their coordinates, and zeros
/// elsewhere. Where the bytes of `constant` are absent, as in text without its constants file, so are those that the
/// key stands for; `form` tells it from those of other forms.
std::string zeroFilled(graph::ConstantOp constant, int64_t count, llvm::StringRef form,
                       llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)> placeOf);

/// Which loop of `contract` each dimension of an operand is; 2 is the result.
llvm::SmallVector<unsigned> loopsOf(graph::ContractOp contract, unsigned operand);

} // namespace tilewright::fusion
