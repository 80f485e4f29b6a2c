// SPDX-License-Identifier: Apache-2.0
// The way from a distributed module to machine code, the same for every GPU.
#include "backend/gpu/GenerateCode.h"

#include "backend/ParallelFor.h"
#include "backend/math/ReciprocalDivisions.h"

#include "tilegen/tile/TileOps.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace tilewright;

void tilewright::loadDialects(MLIRContext &context) {
  context.loadDialect<LLVM::LLVMDialect, arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect,
                      scf::SCFDialect, vector::VectorDialect>();
}

void tilewright::addLlvmConversions(OpPassManager &passes) {
  OpPassManager &functions =
      passes.nest<LLVM::LLVMFuncOp>(); // one by one, as many at a time as the context has threads
  functions.addPass(createCSEPass());
  functions.addPass(createSCFToControlFlowPass());
  functions.addPass(createConvertVectorToLLVMPass());
  functions.addPass(createConvertMathToLLVMPass());
  functions.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addNestedPass<LLVM::LLVMFuncOp>(createReconcileUnrealizedCastsPass());
}

namespace {
/// Lets the context use `count` threads during this object's lifetime. Otherwise its multithreading is disabled, which
/// makes the context cheaper.
class ContextThreads {
public:
  ContextThreads(MLIRContext &context, unsigned count) : context(context), pool(llvm::hardware_concurrency(count)) {
    context.setThreadPool(pool);
  }
  ~ContextThreads() { context.disableMultithreading(); }

private:
  MLIRContext &context;
  llvm::DefaultThreadPool pool;
};
} // namespace

LogicalResult tilewright::convertToLlvm(ModuleOp module, GpuTarget &target, unsigned jobs) {
  std::optional<ContextThreads> threads;
  if (jobs > 1 && !module.getContext()->isMultithreadingEnabled())
    threads.emplace(*module.getContext(), jobs);
  markReciprocalDivisions(module);
  expandMath(module, target.nativeMath());
  target.lowerMath(module);
  PassManager passes(module.getContext());
  addLlvmConversions(passes);
  return passes.run(module);
}

std::map<std::string, KernelFacts> tilewright::placedFacts(ModuleOp placed) {
  std::map<std::string, KernelFacts> facts;
  for (auto kernel : placed.getOps<tile::KernelOp>()) {
    KernelFacts &row = facts[kernel.getSymName().str()];
    row.block = {static_cast<uint32_t>(*kernel.getThreads()), 1, 1};
    row.cluster = {static_cast<uint32_t>(kernel.getClusterBlocks()), 1, 1};
    row.dynamicSharedBytes = *kernel.getSharedBytes();
  }
  return facts;
}

//===- LLVM -------------------------------------------------------------------------------------------------------===//

/// Refuses, by a sentence, calls on which LLVM's backend would abort.
static Status checkSelectable(const llvm::Module &module, const Machine &machine) {
  for (const llvm::Function &function : module) {
    if (!function.isDeclaration() || function.use_empty())
      continue;
    if (!function.isIntrinsic())
      return {Code::Internal, fmt::format("expected code for {} without calls, got one of '{}'", machine.cpu,
                                          function.getName().str())};
    std::string name = llvm::Intrinsic::getBaseName(function.getIntrinsicID()).str();
    if (machine.unselectable.contains(name))
      return {Code::Internal,
              fmt::format("expected only functions that {} computes, got '{}'; it must be expanded before", machine.cpu,
                          function.getName().str())};
  }
  return {};
}

static std::unique_ptr<llvm::TargetMachine> createMachine(const Machine &machine, std::string &error) {
  llvm::Triple triple(machine.triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast; // contraction only
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_, std::nullopt, machine.effort));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false; // tiles are unrolled already; loops over k carry a pipeline
  tuning.SLPVectorization = false;
  tuning.LoopVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

namespace {
/// An LLVM module in a context of its own, so that each thread can have one.
struct Unit {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  Status status;
  std::string code, llvmText;
};
} // namespace

/// Inline assembly such as wgmma synchronizes the threads of one or several warps, so LLVM must not copy it into the
/// arms of a branch: it is marked as convergent.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
        call->setConvergent();
}

static Expected<std::unique_ptr<Unit>> translate(ModuleOp source) {
  auto unit = std::make_unique<Unit>();
  unit->module = translateModuleToLLVMIR(source, unit->context);
  if (!unit->module)
    return Status(Code::Internal, "expected a module of the LLVM dialect, got one that does not translate to LLVM IR");
  markConvergent(*unit->module);
  return unit;
}

/// Kernels do not write to parameters that they get by value, so these need no copy in local memory.
static void markParameters(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Argument &argument : function.args())
      if (argument.hasByValAttr())
        argument.addAttr(llvm::Attribute::get(module.getContext(), "nvvm.grid_constant"));
}

static Status compile(Unit &unit, const Machine &settings) {
  llvm::Module &module = *unit.module;
  markParameters(module);
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(settings, error);
  if (!machine)
    return Status(Code::Internal, fmt::format("expected LLVM to know {}: {}", settings.triple, error));
  module.setTargetTriple(llvm::Triple(settings.triple));
  module.setDataLayout(machine->createDataLayout());
  for (const auto &[name, value] : settings.moduleFlags)
    module.addModuleFlag(llvm::Module::Error, name, value);
  if (Status status = checkSelectable(module, settings); !status)
    return status;
  optimize(module, *machine);
  if (Status status = checkSelectable(module, settings); !status) // the optimizer makes new calls
    return status;
  if (settings.llvmText)
    llvm::raw_string_ostream(unit.llvmText) << module;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, settings.output))
    return Status(Code::Internal, fmt::format("expected LLVM to write files for {}", settings.triple));
  passes.run(module);
  unit.code.assign(bytes.begin(), bytes.end());
  return {};
}

/// Compiles all units, `jobs` at a time, and gathers what they made in their order.
static Expected<std::vector<std::string>> compileAll(ArrayRef<std::unique_ptr<Unit>> units, const Machine &settings,
                                                     unsigned jobs) {
  parallelFor(units.size(), jobs, [&](size_t i) { units[i]->status = compile(*units[i], settings); });
  std::vector<std::string> codes;
  for (const std::unique_ptr<Unit> &unit : units) {
    if (!unit->status)
      return unit->status;
    if (settings.llvmText)
      *settings.llvmText += unit->llvmText;
    codes.push_back(std::move(unit->code));
  }
  return codes;
}

static void registerTranslations(MLIRContext *context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
}

/// A module with `function` and what it names.
static OwningOpRef<ModuleOp> extract(LLVM::LLVMFuncOp function, ModuleOp source) {
  OwningOpRef<ModuleOp> part = ModuleOp::create(source.getLoc());
  (*part)->setAttrs(source->getAttrDictionary());
  OpBuilder builder = OpBuilder::atBlockEnd(part->getBody());
  llvm::SmallSetVector<Operation *, 4> named;
  if (auto uses = SymbolTable::getSymbolUses(function))
    for (const SymbolTable::SymbolUse &use : *uses)
      named.insert(source.lookupSymbol(use.getSymbolRef().getLeafReference()));
  named.remove(function);
  for (Operation *symbol : named)
    builder.clone(*symbol);
  builder.clone(*function);
  return part;
}

Expected<std::string> tilewright::generateCode(ModuleOp source, const Machine &settings) {
  registerTranslations(source.getContext());
  Expected<std::unique_ptr<Unit>> unit = translate(source);
  if (!unit)
    return unit.status();
  Expected<std::vector<std::string>> codes = compileAll(*unit, settings, 1);
  return codes ? Expected<std::string>(std::move(codes->front())) : codes.status();
}

Expected<std::vector<std::string>> tilewright::generateFunctions(ModuleOp source, const Machine &settings,
                                                                 unsigned jobs) {
  registerTranslations(source.getContext());
  std::vector<std::unique_ptr<Unit>> units;
  for (auto function : source.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    Expected<std::unique_ptr<Unit>> unit = translate(*extract(function, source));
    if (!unit)
      return unit.status();
    units.push_back(std::move(*unit));
  }
  return compileAll(units, settings, jobs);
}
