// From placed tile kernels to one thread's program.
#pragma once

#include "backend/gpu/GpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright {

/// Faults that a careful test suite must notice when they are built in on purpose.
struct InjectedFaults {
  bool dropMasks = false;    // stores ignore their bounds
  bool dropBarriers = false; // no barrier is emitted
};

/// A module with one llvm.func for each tile.kernel of `module`, whose bodies are llvm, scf, vector, arith and math.
///
/// Each tile becomes, in each thread, one scalar for every register of its layout: the tile's operations are cloned on
/// scalars.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> distribute(mlir::ModuleOp module, GpuTarget &target,
                                                              InjectedFaults faults = {});

} // namespace tilewright
