// SPDX-License-Identifier: Apache-2.0
// Tile kernels to AMD's code objects, in process: LLVM writes the object, lld links it.
#include "backend/amdgcn/CompileAmdgcn.h"
#include "backend/amdgcn/AmdgcnTarget.h"
#include "backend/amdgcn/LinkObject.h"
#include "backend/gpu/GenerateCode.h"
#include "tilegen/place/Place.h"

#include "mlir/IR/Diagnostics.h"

#include <fmt/format.h>
#include <mutex>
#include <set>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

using namespace mlir;
using namespace tilewright;

/// Functions without an instruction, for which LLVM would call a library.
static const std::set<std::string> unselectable = {"llvm.pow",  "llvm.powi", "llvm.tan",   "llvm.asin",
                                                   "llvm.acos", "llvm.atan", "llvm.atan2", "llvm.sinh",
                                                   "llvm.cosh", "llvm.tanh", "llvm.modf"};

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
}

static Expected<std::string> generate(ModuleOp module, const TargetDesc &desc, const AmdgcnOptions &options,
                                      llvm::CodeGenFileType output) {
  initialize();
  loadDialects(*module.getContext());
  std::string diagnostics;
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [&](Diagnostic &diagnostic) { diagnostics += diagnostic.str() + "\n"; });
  auto failed = [&](StringRef step) {
    return Status(Code::Internal, fmt::format("{}: {}{}", desc.name, step.str(), diagnostics));
  };
  AmdgcnTarget target(desc.warpWidth);
  if (mlir::failed(tile::placeTiles(module, desc)))
    return failed("placing failed: ");
  auto distributed = distribute(module, target, options.faults);
  if (mlir::failed(distributed) || mlir::failed(convertToLlvm(**distributed, target)))
    return failed("lowering failed: ");
  uint32_t version = options.codeObjectVersion * 100; // as LLVM numbers them
  return generateCode(**distributed, {"amdgcn-amd-amdhsa",
                                      std::string(desc.cpu),
                                      "",
                                      output,
                                      unselectable,
                                      options.llvmText,
                                      {{"amdhsa_code_object_version", version}}});
}

Expected<std::string> tilewright::assemblyAmdgcn(ModuleOp module, const TargetDesc &desc,
                                                 const AmdgcnOptions &options) {
  return generate(module, desc, options, llvm::CodeGenFileType::AssemblyFile);
}

Expected<TargetCode> tilewright::compileAmdgcn(ModuleOp module, const TargetDesc &desc, const AmdgcnOptions &options) {
  Expected<std::string> object = generate(module, desc, options, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.status();
  Expected<std::string> linked = linkObject(*object);
  if (!linked)
    return linked.status();
  TargetCode code;
  code.kind = runtime::CodeKind::Hsaco;
  auto *bytes = reinterpret_cast<const std::byte *>(linked->data());
  code.bytes.assign(bytes, bytes + linked->size());
  code.kernels = placedFacts(module);
  for (auto &[name, facts] : code.kernels)
    std::swap(facts.staticSharedBytes, facts.dynamicSharedBytes); // the code object declares LDS
  return code;
}
