// SPDX-License-Identifier: Apache-2.0
// The stage "normalize" as a pass.
#pragma once

#include "frontend/graph/GraphOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright::normalize {

#define GEN_PASS_DECL
#include "frontend/normalize/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "frontend/normalize/Passes.h.inc"

} // namespace tilewright::normalize
