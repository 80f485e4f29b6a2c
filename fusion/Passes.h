// SPDX-License-Identifier: Apache-2.0
// The stage "group" as a pass.
#pragma once

#include "frontend/graph/GraphOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright::fusion {

#define GEN_PASS_DECL
#include "fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "fusion/Passes.h.inc"

} // namespace tilewright::fusion
