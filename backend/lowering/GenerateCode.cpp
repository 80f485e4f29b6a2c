// The way from a distributed module to machine code, the same for every GPU.
#include "backend/lowering/GenerateCode.h"

#include "backend/lowering/ReciprocalDivisions.h"

#include "tilegen/tile/TileOps.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace tilewright;

void tilewright::loadDialects(MLIRContext &context) {
  context.loadDialect<LLVM::LLVMDialect, arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
}

LogicalResult tilewright::convertToLlvm(ModuleOp module, GpuTarget &target) {
  markReciprocalDivisions(module);
  expandMath(module, target.nativeMath());
  target.lowerMath(module);
  PassManager passes(module.getContext());
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return passes.run(module);
}

std::map<std::string, KernelFacts> tilewright::placedFacts(ModuleOp placed) {
  std::map<std::string, KernelFacts> facts;
  for (auto kernel : placed.getOps<tile::KernelOp>()) {
    KernelFacts &row = facts[kernel.getSymName().str()];
    row.block = {static_cast<uint32_t>(kernel->getAttrOfType<IntegerAttr>("threads").getInt()), 1, 1};
    row.dynamicSharedBytes = kernel->getAttrOfType<IntegerAttr>("shared_bytes").getInt();
  }
  return facts;
}

//===- LLVM -----------------------------------------------------------------------------------------------------------===//

/// A call that the backend would abort on, as a sentence.
static Status checkSelectable(const llvm::Module &module, const Machine &machine) {
  for (const llvm::Function &function : module) {
    if (!function.isDeclaration() || function.use_empty())
      continue;
    if (!function.isIntrinsic())
      return {Code::Internal, fmt::format("expected code for {} without calls, got one of '{}'", machine.cpu, function.getName().str())};
    std::string name = llvm::Intrinsic::getBaseName(function.getIntrinsicID()).str();
    if (machine.unselectable.contains(name))
      return {Code::Internal, fmt::format("expected only functions that {} computes, got '{}'; it must be expanded before", machine.cpu, function.getName().str())};
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
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
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

Expected<std::string> tilewright::generateCode(ModuleOp source, const Machine &settings) {
  MLIRContext *context = source.getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(source, llvmContext);
  if (!module)
    return Status(Code::Internal, "expected a module of the LLVM dialect, got one that does not translate to LLVM IR");
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(settings, error);
  if (!machine)
    return Status(Code::Internal, fmt::format("expected LLVM to know {}: {}", settings.triple, error));
  module->setTargetTriple(llvm::Triple(settings.triple));
  module->setDataLayout(machine->createDataLayout());
  if (Status status = checkSelectable(*module, settings); !status)
    return status;
  optimize(*module, *machine);
  if (Status status = checkSelectable(*module, settings); !status) // the optimizer makes new calls
    return status;
  if (settings.llvmText)
    llvm::raw_string_ostream(*settings.llvmText) << *module;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, settings.output))
    return Status(Code::Internal, fmt::format("expected LLVM to write files for {}", settings.triple));
  passes.run(*module);
  return std::string(bytes.begin(), bytes.end());
}
