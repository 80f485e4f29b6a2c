// SPDX-License-Identifier: Apache-2.0
// From placed tile kernels to one thread's program.
#pragma once

#include "backend/gpu/GpuTarget.h"
#include "backend/gpu/InjectedFaults.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright {

/// A module with one llvm.func for each tile.kernel of `module`, whose bodies are llvm, scf, vector, arith and math.
///
/// Each tile becomes, in each thread, one scalar for every register of its layout: the tile's operations are cloned on
/// scalars.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> distribute(mlir::ModuleOp module, GpuTarget &target,
                                                              InjectedFaults faults = {});

} // namespace tilewright
