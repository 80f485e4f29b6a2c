// SPDX-License-Identifier: Apache-2.0
// The host backend: tile kernels to position-independent x86-64 machine code, ready to map and call
// (runtime/plan/KernelAbi.h).
#pragma once

#include "backend/host/HostOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

struct HostKernelCode {
  std::string name;
  uint64_t entry = 0;          // offset in HostCode::bytes
  uint64_t workspaceBytes = 0; // scratch that each worker thread must provide
};

struct HostCode {
  std::vector<char> bytes; // code, then constants, relocated: needs nothing but execute permission; 64-byte alignment
  std::vector<HostKernelCode> kernels;
};

/// Compiles every tile.kernel of `module` (which stays as it is). Fails with Code::Unsupported for operations that the
/// backend cannot express.
Expected<HostCode> compileHost(mlir::ModuleOp module, const HostOptions &options);

} // namespace tilewright
