// SPDX-License-Identifier: Apache-2.0
// Filters of convolutions in another form, with zeros for what the form adds.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// The key, in the pool of constants, of a new constant of `count` elements: `placeOf` gives the index of each element
/// of `constant` from its coordinates, and all other elements are zero. If the bytes of `constant` are absent, as in IR
/// without its constants file, so are those of the result; its key is then made from that of `constant` and `form`.
std::string zeroFilled(graph::ConstantOp constant, int64_t count, llvm::StringRef form,
                       llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)> placeOf);

/// For each dimension of operand 0 or 1 of `contract`, or of its result (2), the number of its loop.
llvm::SmallVector<unsigned> loopsOf(graph::ContractOp contract, unsigned operand);

} // namespace tilewright::fusion
