// SPDX-License-Identifier: Apache-2.0
// What folding a node would cost: bounds from its operator and the shapes of its inputs, all of them constants.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright {

struct FoldBound {
  double elements;   // of the largest result, at most
  double operations; // multiplications beyond one for each of these elements, which only contractions have
  double most;       // elements of a result that is folded: fewer where a small model may ask for a large one
};

/// The bound for `builder`'s node. Without a rule for its operator, a result has at most as many elements as the
/// product of all inputs' numbers of elements.
FoldBound foldBound(NodeBuilder &builder);

/// Whether results of this size are computed when compiling: 2^26 elements, 2^20 of an operator that grows, or 2^22 of
/// a gather of more elements than its data has.
bool isSmallEnough(const FoldBound &bound);

/// How many multiplications all folded contractions of a model may take: a second of the reference's time, which
/// makes about 5e9 of them a second on one core.
constexpr double mostFoldedOperations = 4294967296.0;

} // namespace tilewright
