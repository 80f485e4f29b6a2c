// The host backend: tile kernels to position-independent x86-64 machine code, ready to map and call
// (runtime/plan/KernelAbi.h).
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

struct HostOptions {
  std::string cpu = "x86-64-v4"; // an x86-64 microarchitecture level: v3 (AVX2, FMA, F16C) or v4 (AVX-512)
  unsigned vectorBits = 512;     // width of a vector register that code should use
  std::string feature = {}; // beyond the level's: avx512vnni or avxvnni, products of bytes summed by fours; or none
  std::string *llvmText = nullptr;     // receives the optimized LLVM IR, if set
  std::string *assemblyText = nullptr; // receives the assembly, if set
};

struct HostKernelCode {
  std::string name;
  uint64_t entry = 0;          // offset in HostCode::bytes
  uint64_t workspaceBytes = 0; // scratch that each worker thread must provide
};

struct HostCode {
  std::vector<char> bytes; // code, then constants, relocated: needs nothing but execute permission; 64-byte alignment
  std::vector<HostKernelCode> kernels;
};

/// Compiles every tile.kernel of `module` (which stays as it is). Fails with Code::Unsupported for what the backend
/// cannot express.
Expected<HostCode> compileHost(mlir::ModuleOp module, const HostOptions &options);

} // namespace tilewright
