// SPDX-License-Identifier: Apache-2.0
// compileHost: expand math, emit LLVM IR, optimize a little, generate code, link flat; several parts at a time.
//
// Emission already hoists, folds bounds and chooses vectors, so what is left for LLVM's passes is to turn allocas into
// registers and to combine instructions: a tenth of the time of -O3 for the same code.
#include "backend/host/HostBackend.h"

#include "backend/ParallelFor.h"
#include "backend/host/BrainWords.h"
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
/// During its lifetime, LLVM's code generation moves nothing into or out of loops: emission has placed everything
/// already. Two passes are switched off:
///  * Loop strength reduction moves the computation of row pointers back into inner loops, and accumulators are then
///    copied from register to register.
///  * Machine LICM moves the constants of an epilogue (an erf has twenty) out of all loops, where they take the
///    registers of the accumulators. LLVM offers no other handle than its command-line options, which all threads
///    share.
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
  machine.addPassesToEmitFile(manager, stream, nullptr, type);
  manager.run(module);
  return object;
}

namespace {
/// How many kernels are compiled as one LLVM module: enough that setting up LLVM's passes costs little beside them, and
/// few enough that most models have several modules to compile in parallel. It is a constant, so that the code does not
/// depend on `jobs`.
constexpr size_t kernelsOfPart = 8;

struct Part {
  llvm::ArrayRef<tile::KernelOp> kernels;
  HostCode code = {}; // entries are offsets into its own bytes
  Status status = {};
};
} // namespace

/// Buffers are arguments here: loops of steps, with slices of buffers, are of kernels for GPUs.
static Status checkBuffers(tile::KernelOp kernel) {
  Operation *other = nullptr;
  kernel.walk([&](Operation *op) {
    if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<tile::BufferType>))
      other = op;
  });
  return other ? Status(Code::Unsupported,
                        fmt::format("kernel '{}': the host backend cannot emit '{}': only arguments are buffers",
                                    kernel.getSymName().str(), other->getName().getStringRef().str()))
               : Status();
}

/// Emits kernels into `llvmModule`; `code.kernels` gets names and workspaces.
static Status emitKernels(llvm::ArrayRef<tile::KernelOp> kernels, const HostOptions &options, llvm::Module &llvmModule,
                          HostCode &code) {
  for (tile::KernelOp kernel : kernels) {
    TILEWRIGHT_TRY(checkBuffers(kernel));
    OwningOpRef<tile::KernelOp> copy = kernel.clone();
    host::keepPrecision(*copy);
    expandMath(*copy, {.wholeExp2 = options.vectorBits >= 512});
    HostOptions own = options;
    own.repeats |= kernel->getParentOfType<ModuleOp>()->hasAttr(graph::repeatedAttr);
    Expected<uint64_t> workspaceBytes = host::emitKernel(llvmModule, *copy, own);
    if (!workspaceBytes)
      return workspaceBytes.status();
    code.kernels.push_back({kernel.getSymName().str(), 0, *workspaceBytes});
  }
  return Status();
}

/// Compiles one part. Holds `emission` while it uses MLIR, whose context here serves one thread at a time.
static Status compilePart(Part &part, const HostOptions &options, std::mutex &emission) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(options);
  llvm::LLVMContext context;
  llvm::Module llvmModule("tilewright", context);
  llvmModule.setTargetTriple(machine->getTargetTriple());
  llvmModule.setDataLayout(machine->createDataLayout());
  llvmModule.setPICLevel(llvm::PICLevel::BigPIC);
  {
    std::lock_guard lock(emission);
    TILEWRIGHT_TRY(emitKernels(part.kernels, options, llvmModule, part.code));
  }
#ifndef NDEBUG
  std::string broken;
  llvm::raw_string_ostream brokenStream(broken);
  if (llvm::verifyModule(llvmModule, &brokenStream))
    return Status(Code::Internal, "the host backend made invalid LLVM IR: " + broken);
#endif
  optimize(llvmModule, *machine);
  host::storeSingleLanes(llvmModule);
  host::moveBrainsAsWords(llvmModule);
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
  TILEWRIGHT_TRY(image);
  part.code.bytes = std::move(image->bytes);
  for (HostKernelCode &kernel : part.code.kernels)
    kernel.entry = image->symbols.lookup(kernel.name);
  return Status();
}

/// Lays the parts' images one after another. None refers to another.
static HostCode joined(llvm::ArrayRef<Part> parts) {
  HostCode code;
  for (const Part &part : parts) {
    code.bytes.resize(llvm::alignTo(code.bytes.size(), host::imageAlignment));
    for (HostKernelCode kernel : part.code.kernels) {
      kernel.entry += code.bytes.size();
      code.kernels.push_back(std::move(kernel));
    }
    llvm::append_range(code.bytes, part.code.bytes);
  }
  return code;
}

Expected<HostCode> compileHost(ModuleOp module, const HostOptions &options) {
  auto kernels = llvm::to_vector(module.getOps<tile::KernelOp>());
  bool isText = options.llvmText || options.assemblyText; // text is made of one module
  size_t each = isText ? std::max<size_t>(kernels.size(), 1) : kernelsOfPart;
  std::vector<Part> parts;
  for (llvm::ArrayRef<tile::KernelOp> rest = kernels; !rest.empty() || parts.empty();
       rest = rest.drop_front(parts.back().kernels.size()))
    parts.push_back({rest.take_front(each)});

  KeepPlaces keepPlaces;
  std::mutex emission;
  parallelFor(parts.size(), options.jobs,
              [&](size_t i) { parts[i].status = compilePart(parts[i], options, emission); });
  for (const Part &part : parts)
    TILEWRIGHT_TRY(part.status);
  return joined(parts);
}

} // namespace tilewright
