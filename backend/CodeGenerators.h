// Tile IR to machine code: one generator for each family of targets, found by the family's name in TargetDesc.
#pragma once

#include "backend/TargetCode.h"
#include "runtime/Status.h"
#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

/// Code for every tile.kernel of `module`, which is left as it was.
Expected<TargetCode> generateCode(mlir::ModuleOp module, const TargetDesc &target);

/// The same as text for a person: assembly or PTX.
Expected<std::string> generateAssembly(mlir::ModuleOp module, const TargetDesc &target);

} // namespace tilewright
