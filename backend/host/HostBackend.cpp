// SPDX-License-Identifier: Apache-2.0
// compileHost: expand math, emit LLVM IR, optimize a little, generate code, link flat.
//
// Emission already hoists, folds bounds and chooses vectors, so what is left for LLVM's passes is to turn allocas into
// registers and to combine instructions: a tenth of the time of -O3 for the same code.
#include "backend/host/HostBackend.h"

#include "backend/host/FlatLink.h"
#include "backend/host/KeepPrecision.h"
#include "backend/host/KernelEmitter.h"
#include "backend/host/SingleLaneStores.h"
#include "backend/math/MathExpansion.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;

namespace tilewright {

// One round of instcombine is enough here; that a second would find something is no error.
static constexpr const char *passes = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

static std::unique_ptr<llvm::TargetMachine> createMachine(const HostOptions &options) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, options.cpu, options.featureText(), llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager manager;
  llvm::cantFail(builder.parsePassPipeline(manager, passes));
  manager.run(module, modules);
}

namespace {
/// Turns code generation's own ideas of what belongs into a loop off while it lives: emission has placed everything
/// already.
///  * Loop strength reduction moves the computation of row pointers back into inner loops, and accumulators then travel
///    from register to register.
///  * Machine LICM moves the constants of an epilogue (an erf has twenty) out of all loops, where they take the
///    registers of the accumulators. LLVM offers no other handle than its command-line options.
class KeepPlaces {
public:
  KeepPlaces() {
    for (llvm::StringRef name : {"disable-lsr", "disable-machine-licm"})
      if (auto *option = static_cast<llvm::cl::opt<bool> *>(llvm::cl::getRegisteredOptions().lookup(name))) {
        before.push_back({option, *option});
        option->setValue(true);
      }
  }
  ~KeepPlaces() {
    for (auto [option, value] : before)
      option->setValue(value);
  }
  KeepPlaces(const KeepPlaces &) = delete;

private:
  llvm::SmallVector<std::pair<llvm::cl::opt<bool> *, bool>> before;
};
} // namespace

static llvm::SmallVector<char, 0> generate(llvm::Module &module, llvm::TargetMachine &machine,
                                           llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager manager;
  KeepPlaces keepPlaces;
  machine.addPassesToEmitFile(manager, stream, nullptr, type);
  manager.run(module);
  return object;
}

/// Emits every kernel into `llvmModule`; `code.kernels` gets names and workspaces.
static Status emitKernels(ModuleOp module, const HostOptions &options, llvm::Module &llvmModule, HostCode &code) {
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    OwningOpRef<tile::KernelOp> copy = kernel.clone();
    host::keepPrecision(*copy);
    expandMath(*copy, {.wholeExp2 = options.vectorBits >= 512});
    Expected<uint64_t> workspaceBytes = host::emitKernel(llvmModule, *copy, options);
    if (!workspaceBytes)
      return workspaceBytes.status();
    code.kernels.push_back({kernel.getSymName().str(), 0, *workspaceBytes});
  }
  return Status();
}

Expected<HostCode> compileHost(ModuleOp module, const HostOptions &options) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(options);
  llvm::LLVMContext context;
  llvm::Module llvmModule("tilewright", context);
  llvmModule.setTargetTriple(machine->getTargetTriple());
  llvmModule.setDataLayout(machine->createDataLayout());
  llvmModule.setPICLevel(llvm::PICLevel::BigPIC);

  HostCode code;
  if (Status status = emitKernels(module, options, llvmModule, code); !status)
    return status;
#ifndef NDEBUG
  std::string broken;
  llvm::raw_string_ostream brokenStream(broken);
  if (llvm::verifyModule(llvmModule, &brokenStream))
    return Status(Code::Internal, "the host backend made invalid LLVM IR: " + broken);
#endif
  optimize(llvmModule, *machine);
  host::storeSingleLanes(llvmModule);
  if (options.llvmText) {
    llvm::raw_string_ostream stream(*options.llvmText);
    llvmModule.print(stream, nullptr);
  }
  if (options.assemblyText) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(llvmModule); // code generation changes what it reads
    llvm::SmallVector<char, 0> text = generate(*copy, *machine, llvm::CodeGenFileType::AssemblyFile);
    options.assemblyText->assign(text.begin(), text.end());
  }
  llvm::SmallVector<char, 0> object = generate(llvmModule, *machine, llvm::CodeGenFileType::ObjectFile);
  Expected<host::FlatImage> image =
      host::linkFlat(llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "host"));
  if (!image)
    return image.status();
  code.bytes = std::move(image->bytes);
  for (HostKernelCode &kernel : code.kernels)
    kernel.entry = image->symbols.lookup(kernel.name);
  return code;
}

} // namespace tilewright
