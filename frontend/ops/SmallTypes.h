// Types that are only stored, floats of 8 and 4 bits and integers of 4 and 2, as numbers to compute with.
#pragma once

#include "frontend/NodeBuilder.h"

namespace tilewright::ops {

/// Floats of 8 or 4 bits.
bool isSmallFloat(DType type);
/// Small floats as f32, narrow integers as those of 8 bits; anything else as it is. The type is the one to convert from.
std::pair<Term, DType> decoded(NodeBuilder &b, Term x, DType type);
/// f32 rounded to a small float; what is too large becomes its largest number if `saturate`.
Term encoded(NodeBuilder &b, Term x, DType type, bool saturate);

} // namespace tilewright::ops
