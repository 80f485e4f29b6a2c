// SPDX-License-Identifier: Apache-2.0
// Signatures, by which two operations with regions are recognized as the same program.
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <vector>

namespace tilewright::graph {

/// An operation's attributes and regions, with values numbered from 0. Two operations of one context have equal
/// signatures if they are equal but for locations, because equal types and attributes are one object.
using Signature = std::vector<uintptr_t>;

/// The signature of `op`, which has no operands, without the attributes named in `without`.
Signature signatureOf(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> without);

} // namespace tilewright::graph
