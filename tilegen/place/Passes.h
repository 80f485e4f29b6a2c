// SPDX-License-Identifier: Apache-2.0
// The stage "place" and its steps as passes.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright::tile {

#define GEN_PASS_DECL
#include "tilegen/place/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tilegen/place/Passes.h.inc"

} // namespace tilewright::tile
