// SPDX-License-Identifier: Apache-2.0
// One tile kernel to one LLVM function: a plan, then code for each of its steps.
//
//   store y[r, c..c+63]  <-  mulf  <-  load x[r, c..c+63]
//                                  <-  broadcast <- reduce (buffered: computed once per row)
//
// Every nest of the plan asks for the values that it stores, a register tile at a time; what computes a value asks for
// its operands in turn.
#pragma once

#include "backend/host/HostOptions.h"
#include "runtime/Status.h"
#include "tilegen/tile/TileOps.h"

#include "llvm/IR/Module.h"

namespace tilewright::host {

/// Adds the function to `module`. Returns the number of bytes of workspace that a call needs. Fails with
/// Code::Unsupported for operations that the backend cannot express.
Expected<uint64_t> emitKernel(llvm::Module &module, tile::KernelOp kernel, const HostOptions &options);

} // namespace tilewright::host
