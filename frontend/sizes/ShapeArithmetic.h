// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic: computes the contents of small integer tensors as expressions in symbols, so that none of it
// reaches the IR.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright {

/// Computes the contents of output 0 from those of the inputs, if the operator is shape arithmetic and they are known.
bool followShapeArithmetic(NodeBuilder &builder);

} // namespace tilewright
