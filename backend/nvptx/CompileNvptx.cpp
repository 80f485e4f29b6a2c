// SPDX-License-Identifier: Apache-2.0
// Tile kernels to PTX, in process; to a cubin with ptxas where it is installed.
#include "backend/nvptx/CompileNvptx.h"
#include "backend/TemporaryFile.h"
#include "backend/gpu/GenerateCode.h"
#include "backend/nvptx/BoundRegisters.h"
#include "backend/nvptx/NvptxTarget.h"
#include "tilegen/place/Place.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"

#include <fmt/format.h>
#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;
using namespace tilewright;

/// PTX has no instruction for these, LLVM no expansion, and there is no library to call.
static const std::set<std::string> unselectable = {"llvm.exp",  "llvm.exp10", "llvm.log",   "llvm.log2",  "llvm.log10",
                                                   "llvm.pow",  "llvm.powi",  "llvm.sin",   "llvm.cos",   "llvm.tan",
                                                   "llvm.asin", "llvm.acos",  "llvm.atan",  "llvm.atan2", "llvm.sinh",
                                                   "llvm.cosh", "llvm.tanh",  "llvm.frexp", "llvm.ldexp", "llvm.modf"};

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// Joins the texts of several kernels. Each begins with declarations (version, target, constants, shared memory), one a
/// line; equal ones are kept once.
static std::string joinPtx(ArrayRef<std::string> texts) {
  std::string declarations, kernels;
  llvm::StringSet<> seen;
  for (StringRef text : texts) {
    size_t first = std::min(text.find(".visible"), text.size());
    kernels += text.drop_front(first);
    SmallVector<StringRef> lines;
    text.take_front(first).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      if (!line.ltrim().starts_with("//") && seen.insert(line).second)
        declarations += (line + "\n").str();
  }
  return declarations + "\n" + kernels;
}

/// Runs ptxas on `ptx`; the cubin's bytes.
static Expected<std::string> assemble(const std::string &ptx, std::string_view cpu) {
  auto ptxas = llvm::sys::findProgramByName("ptxas");
  if (!ptxas)
    ptxas = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  if (!ptxas)
    return Status(Code::Unsupported, "expected ptxas on the PATH or in /usr/local/cuda/bin because a cubin was asked "
                                     "for; without --cubin the driver assembles");
  auto input = TemporaryFile::create("ptx"), output = TemporaryFile::create("cubin"),
       log = TemporaryFile::create("log");
  for (const auto *file : {&input, &output, &log})
    TILEWRIGHT_TRY(*file);
  TILEWRIGHT_TRY(input->write(ptx));
  std::string arch = "-arch=" + std::string(cpu);
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log->path(), log->path()};
  if (llvm::sys::ExecuteAndWait(*ptxas, {*ptxas, arch, input->path(), "-o", output->path()}, std::nullopt, redirects) ==
      0)
    return output->read();
  Expected<std::string> messages = log->read();
  return Status(Code::Internal,
                fmt::format("ptxas refused the kernels: {}", messages ? *messages : messages.status().message()));
}

/// LLVM's name for the version of PTX that a kernel needs; empty where the target's first version will do. wgmma
/// multiplies signed by unsigned bytes since PTX 8.4 (CUDA 12.4).
static std::string versionOf(ModuleOp placed) {
  bool mixes = placed
                   .walk([](tile::DotOp dot) {
                     const tile::Fragments *fragments = tile::fragmentsOf(dot);
                     bool mixed = fragments && fragments->readsShared() && dot.getLhsUnsigned() != dot.getRhsUnsigned();
                     return mixed ? WalkResult::interrupt() : WalkResult::advance();
                   })
                   .wasInterrupted();
  return mixes ? "+ptx84" : "";
}

Expected<TargetCode> tilewright::compileNvptx(ModuleOp module, const TargetDesc &desc, const NvptxOptions &options) {
  initialize();
  loadDialects(*module.getContext());
  std::string diagnostics;
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [&](Diagnostic &diagnostic) { diagnostics += diagnostic.str() + "\n"; });
  auto failed = [&](StringRef step) {
    return Status(Code::Internal, fmt::format("{}: {}{}", desc.name, step.str(), diagnostics));
  };
  NvptxTarget target(desc);
  if (mlir::failed(tile::placeTiles(module, desc)))
    return failed("placing failed: ");
  auto distributed = distribute(module, target, options.faults);
  if (mlir::failed(distributed) || mlir::failed(convertToLlvm(**distributed, target, options.jobs)))
    return failed("lowering failed: ");
  boundRegisters(module, **distributed, desc);
  Machine machine{"nvptx64-nvidia-cuda", std::string(desc.cpu), versionOf(module), llvm::CodeGenFileType::AssemblyFile,
                  unselectable,          options.llvmText};
  Expected<std::vector<std::string>> texts = generateFunctions(**distributed, machine, options.jobs);
  if (!texts)
    return texts.status();
  Expected<std::string> ptx = joinPtx(*texts);
  if (options.cubin)
    ptx = assemble(*ptx, desc.cpu);
  if (!ptx)
    return ptx.status();
  TargetCode code;
  code.kind = options.cubin ? runtime::CodeKind::Cubin : runtime::CodeKind::Ptx;
  auto *bytes = reinterpret_cast<const std::byte *>(ptx->data());
  code.bytes.assign(bytes, bytes + ptx->size());
  code.kernels = placedFacts(module);
  for (auto &[name, facts] : code.kernels)
    facts.startsEarly = desc.dependentLaunches;
  return code;
}
