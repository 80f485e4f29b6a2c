// SPDX-License-Identifier: Apache-2.0
// The stages of this folder as passes.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "tilegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tilegen/Passes.h.inc"

} // namespace tilewright
