// SPDX-License-Identifier: Apache-2.0
// Functions and divisions as arithmetic, as passes.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "backend/math/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "backend/math/Passes.h.inc"

} // namespace tilewright
