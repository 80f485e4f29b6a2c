// SPDX-License-Identifier: Apache-2.0
// The pipeline: Compiler::runStages is its table of contents.
#include "backend/Pipeline.h"

#include "backend/CodeLibrary.h"
#include "backend/Dialects.h"
#include "backend/StageDiagnostics.h"
#include "backend/StageDump.h"
#include "backend/VerifyStage.h"
#include "backend/plan/BuildPlan.h"
#include "frontend/normalize/Normalize.h"
#include "fusion/FusionReport.h"
#include "fusion/groups/FormGroups.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Version.h"
#include "runtime/artifact/OutputFile.h"
#include "tilegen/TargetDesc.h"
#include "tilegen/emit/EmitTiles.h"
#include "tilegen/schedule/SelectSchedule.h"
#include "tilegen/steps/StepKernels.h"
#include "tilegen/steps/StepSchedules.h"

#include "mlir/IR/MLIRContext.h"

#include <filesystem>
#include <fmt/format.h>

using namespace mlir;
namespace fs = std::filesystem;

namespace tilewright {

//===- Targets and modes ------------------------------------------------------------------------------------------===//

static fusion::FusionMode fusionMode(PlanMode mode) {
  return mode == PlanMode::All        ? fusion::FusionMode::All
         : mode == PlanMode::Epilogue ? fusion::FusionMode::Epilogue
                                      : fusion::FusionMode::None;
}

/// "host" is the last row that the machine at hand can run; everything else is a row by its name.
static Expected<const TargetDesc *> resolveTarget(const std::string &name) {
  const TargetDesc *best = nullptr;
  for (const TargetDesc &row : targets())
    if (row.backend == Backend::Host && runtime::checkCpuFeatures(requirementsOf(row), std::string(row.name)).ok())
      best = &row;
  return name == "host" && best ? Expected<const TargetDesc *>(best) : findTarget(name);
}

/// The target's name in the plan: "host" for all rows of the host, because the plan's requirements name the features
/// that the code needs.
static std::string planTarget(const TargetDesc &target) {
  return target.backend == Backend::Host ? "host" : std::string(target.name);
}

//===- Bodies -----------------------------------------------------------------------------------------------------===//

/// Runs `visit` on a module and on each body inside of it, every one by itself: passes know nothing of modules in
/// modules.
static LogicalResult forEachModule(ModuleOp module, llvm::function_ref<LogicalResult(ModuleOp)> visit) {
  SmallVector<ModuleOp> bodies(module.getOps<ModuleOp>());
  for (ModuleOp body : bodies)
    body->remove();
  LogicalResult result = visit(module);
  for (ModuleOp body : bodies) {
    if (succeeded(result))
      result = forEachModule(body, visit);
    module.push_back(body);
  }
  return result;
}

//===- The compiler -----------------------------------------------------------------------------------------------===//

namespace {

/// The memory that CompiledModel's bytes are in: the context (weights), packed constants, and code.
struct CompiledStorage {
  std::unique_ptr<MLIRContext> context;
  runtime::Contents contents;
  std::unique_ptr<PlanConstants> constants;
  CodeLibrary code{contents.code};
};

/// What a plan assumes of the sizes. A mode's first plan is Usual. Its second is Broadcasting
/// (ImportOptions::broadcastWhenRunning) or Equal (sizesAreEqual).
enum class Sizes { Usual, Broadcasting, Equal };

/// One module on its way through the stages.
struct Compilation {
  explicit Compilation(PlanMode mode, const TargetDesc *target = nullptr) : mode(mode), target(target) {}
  std::string subfolder() const { return target ? fmt::format("{}-{}", target->name, name(mode)) : ""; }

  PlanMode mode;
  const TargetDesc *target; // null for the stages that all targets share
  Sizes sizes = Sizes::Usual;
  std::string suffix;   // of the plan's mode
  bool isDumped = true; // a mode's second plan is not: its stages would overwrite the first's
  OwningOpRef<ModuleOp> module;
  PlanRequest request; // filled by Stage::Code
};

} // namespace

/// `sizes`: those of the plan that could not be made.
static std::string whatIsRefused(const ImportReport &report, Sizes sizes, const Status &why) {
  if (sizes == Sizes::Equal)
    return fmt::format("sizes that give another rank are refused: {}", why.message());
  const std::vector<std::string> &given = report.assumedEqual;
  return fmt::format("sizes that broadcast are taken to be equal, 1 beside another is refused ({}): {}",
                     (given.empty() ? report.assumedEqualLate : given).front(), why.message());
}

class Compiler {
public:
  explicit Compiler(const CompileOptions &options) : options(options) {
    DialectRegistry registry;
    registerDialects(registry);
    registerFrontendDialects(registry);
    storage = std::make_shared<CompiledStorage>();
    storage->context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    storage->context->loadAllAvailableDialects();
    storage->constants = std::make_unique<PlanConstants>(storage->contents.constants);
    if (fs::path(options.modelPath).extension() == ".mlir")
      resumed = options.modelPath;
  }

  Expected<CompiledModel> compile();
  Expected<std::string> emit(Stage last);

private:
  Status runStages(Compilation &compilation, Stage last);
  Status finish(const Compilation &compilation, Stage stage) const;

  Status import(Compilation &compilation);
  Status readResumed(Compilation &compilation);
  Status importOnnx(Compilation &compilation);
  Status group(Compilation &compilation);
  Status generateLlvm(Compilation &compilation);
  Status generate(Compilation &compilation);

  Status checkResumable(const Compilation &compilation, Stage last) const;
  Status addPlan(Compilation compilation);
  Expected<bool> addPlanOf(Sizes sizes, const TargetDesc &target, PlanMode mode);
  void addPlanOfOtherSizes(const TargetDesc &target, PlanMode mode);
  Expected<std::string> textOf(const Compilation &compilation, Stage stage);

  const CompileOptions &options;
  std::string resumed;    // the stage's file that this compile resumes from; empty for an ONNX model
  bool makesPlan = false; // false: makes the text of a stage
  std::shared_ptr<CompiledStorage> storage;
  CompiledModel model;
  std::map<bool, ImportReport> reports; // of the imports with Sizes::Usual, by whether all nodes run as reference
  /// Modules of second plans, normalized, by (all as reference, sizes). Null if the plan would equal the first one.
  std::map<std::pair<bool, Sizes>, OwningOpRef<ModuleOp>> otherSizes;
};

/// From the model to code: each stage from where the module stands to `last` is announced, run, verified and dumped.
Status Compiler::runStages(Compilation &compilation, Stage last) {
  auto each = [&](Stage stage, llvm::function_ref<LogicalResult(ModuleOp)> pass) -> Status {
    StageDiagnostics diagnostics(*storage->context);
    return succeeded(forEachModule(*compilation.module, pass)) ? Status() : diagnostics.failure(stage, resumed);
  };
  struct Step {
    Stage stage;
    std::function<Status()> run;
  };
  const TargetDesc *target = compilation.target;
  auto schedule = [&](ModuleOp part) {
    setTextAttribute(part, matmulPrecisionAttr, name(options.matmulPrecision));
    return selectSchedules(part, *target);
  };
  const Step steps[] = {
      {Stage::Import, [&] { return import(compilation); }},
      {Stage::Normalize, [&] { return each(Stage::Normalize, [](ModuleOp part) { return normalizeGraph(part); }); }},
      {Stage::Group, [&] { return group(compilation); }},
      {Stage::Schedule,
       [&]() -> Status {
         StageDiagnostics diagnostics(*storage->context);
         if (failed(formStepKernels(*compilation.module, *target)))
           return diagnostics.failure(Stage::Schedule, resumed);
         return each(Stage::Schedule, schedule);
       }},
      {Stage::Tile, [&] { return each(Stage::Tile, [&](ModuleOp part) { return emitTiles(part, *target); }); }},
      {Stage::Place, [&] { return each(Stage::Place, [&](ModuleOp part) { return placeKernels(part, *target); }); }},
      {Stage::Llvm, [&] { return generateLlvm(compilation); }},
      {Stage::Code, [&] { return generate(compilation); }},
  };
  for (const Step &step : steps) {
    if (step.stage > last || (compilation.module && step.stage <= stageOf(*compilation.module)))
      continue;
    if (options.progress && step.stage != Stage::Llvm) // it is a part of Stage::Code, which announces itself
      options.progress(name(step.stage));
    TILEWRIGHT_TRY(step.run());
    if (!compilation.module) // importOnnx found that this plan would equal the first one
      return {};
    if (step.stage < Stage::Llvm)
      TILEWRIGHT_TRY(finish(compilation, step.stage));
  }
  return {};
}

/// Marks the module as having been through `stage`, verifies it, and dumps it where that is asked for. Does nothing for
/// a module that was read from a file and is past `stage` already.
Status Compiler::finish(const Compilation &compilation, Stage stage) const {
  ModuleOp module = *compilation.module;
  if (stageOf(module) > stage)
    return {};
  setTextAttribute(module, stage_attr::stage, name(stage));
  if (stage == Stage::Group)
    setTextAttribute(module, stage_attr::mode, name(compilation.mode));
  if (stage == Stage::Schedule)
    setTextAttribute(module, stage_attr::target, compilation.target->name);
  StageDiagnostics diagnostics(*storage->context);
  if (failed(verifyAfter(module, stage)))
    return diagnostics.failure(stage, resumed);
  if (options.dumpFolder.empty() || !compilation.isDumped)
    return {};
  return writeStage(module, options.dumpFolder, stageFile(options.dumpFolder, compilation.subfolder(), stage));
}

//===- Import -----------------------------------------------------------------------------------------------------===//

Status Compiler::import(Compilation &compilation) {
  return resumed.empty() ? importOnnx(compilation) : readResumed(compilation);
}

/// The IR of a stage from an earlier run.
Status Compiler::readResumed(Compilation &compilation) {
  auto module = readStage(*storage->context, resumed);
  TILEWRIGHT_TRY(module);
  if (compilation.mode == PlanMode::Reference)
    return {
        Code::Usage,
        fmt::format("{}: the reference runs the nodes of an ONNX model, which a stage no longer has: give the model",
                    resumed)};
  // Early stages fold constants and a plan holds them; the text of a later stage only names them.
  if (makesPlan || stageOf(**module) < Stage::Group)
    TILEWRIGHT_TRY(checkConstants(**module, resumed));
  compilation.module = std::move(*module);
  return {};
}

Status Compiler::importOnnx(Compilation &compilation) {
  bool asReference = compilation.mode == PlanMode::Reference;
  Sizes sizes = compilation.sizes;
  MLIRContext &context = *storage->context;
  ImportOptions import = options.import;
  import.allAsReference |= asReference;
  if (tilegen::runSteps(options.targets))
    import.loopedWeights = tilegen::mostStepWeights;
  import.togetherWeights = tilegen::mostWeightsTogether(options.targets);
  ImportReport &usual = reports[asReference];
  if (sizes != Sizes::Usual) {
    (sizes == Sizes::Equal ? import.sizesAreEqual : import.broadcastWhenRunning) = true;
    import.namesAreShared = usual.namesAreShared;
  }
  ImportReport report;
  auto module = options.modelBytes
                    ? importModelBytes(context, *options.modelBytes, fs::path(options.modelPath).parent_path().string(),
                                       import, &report)
                    : importModel(context, options.modelPath, import, &report);
  TILEWRIGHT_TRY(module);
  if (sizes == Sizes::Equal)
    for (const SizeChoice &choice : report.choices)
      if (!asReference && llvm::is_contained(usual.choices, choice))
        model.importReport_.warnings.push_back(choice.sentence);
  if (sizes == Sizes::Equal && report.choices == usual.choices)
    return {};
  if (!asReference && sizes == Sizes::Usual)
    model.importReport_ = report;
  if (sizes == Sizes::Usual)
    usual = std::move(report);
  compilation.module = std::move(*module);
  setTextAttribute(*compilation.module, stage_attr::model, fs::path(options.modelPath).stem().string());
  return {};
}

//===- Group ------------------------------------------------------------------------------------------------------===//

Status Compiler::group(Compilation &compilation) {
  fusion::FusionReport report;
  StageDiagnostics diagnostics(*storage->context);
  fusion::FusionOptions how{fusionMode(compilation.mode),
                            tilegen::attentionFusion(*compilation.target, options.matmulPrecision),
                            compilation.target->backend == Backend::Host ? fusion::Machine::Cpu : fusion::Machine::Gpu};
  how.windows = tilegen::singleWindows(*compilation.target, options.matmulPrecision);
  how.longestHeldRow = tilegen::longestHeldRow(*compilation.target);
  how.walksPixels = compilation.target->bulkCopies;
  LogicalResult formed = forEachModule(*compilation.module, [&](ModuleOp part) {
    fusion::FusionReport own;
    LogicalResult formed = fusion::formGroups(part, how, &own);
    report.append(std::move(own));
    return formed;
  });
  if (failed(formed))
    return diagnostics.failure(Stage::Group, resumed);
  if (options.explainsFusion && compilation.mode == options.modes.front())
    model.fusionReport_ = report.text();
  setTextAttribute(*compilation.module, stage_attr::report, report.json());
  return {};
}

//===- Code -------------------------------------------------------------------------------------------------------===//

/// Dumps LLVM's IR as text, where dumps are asked for. Code generation does not read it: it starts from the tile
/// programs.
Status Compiler::generateLlvm(Compilation &compilation) {
  if (options.dumpFolder.empty() || !compilation.isDumped)
    return {};
  Expected<std::string> text = textOf(compilation, Stage::Llvm);
  TILEWRIGHT_TRY(text);
  return writeFile(stageFile(options.dumpFolder, compilation.subfolder(), Stage::Llvm), *text);
}

/// The text of Stage::Llvm (LLVM's IR) or Stage::Code (assembly or PTX).
Expected<std::string> Compiler::textOf(const Compilation &compilation, Stage stage) {
  std::string all;
  Status status;
  OwningOpRef<ModuleOp> copy = ModuleOp(*compilation.module).clone();
  LogicalResult generated = forEachModule(*copy, [&](ModuleOp part) {
    Expected<CodeText> text = generateText(part, *compilation.target, {.codeObjectVersion = options.codeObjectVersion});
    if (!text)
      return status = text.status(), failure();
    all += stage == Stage::Llvm ? text->llvm : text->assembly;
    return success();
  });
  return succeeded(generated) ? Expected<std::string>(std::move(all)) : status;
}

Status Compiler::generate(Compilation &compilation) {
  PlanRequest &request = compilation.request;
  request.target = planTarget(*compilation.target);
  request.mode = fmt::format("{}{}", name(compilation.mode), compilation.suffix);
  CodeOptions how{options.cubin, options.codeObjectVersion, options.jobs};
  Status status;
  LogicalResult generated = forEachModule(*compilation.module, [&](ModuleOp part) {
    status = storage->code.generate(part, *compilation.target, how, request);
    return success(status.ok());
  });
  if (succeeded(generated))
    return {};
  return resumed.empty() || status.code() != Code::Internal
             ? status
             : Status(Code::Malformed, fmt::format("{}: no code can be made of it: {}", resumed, status.message()));
}

//===- Plans ------------------------------------------------------------------------------------------------------===//

/// Code::Usage if the options contradict what the module was already grouped, scheduled or placed for, or ask for an
/// earlier stage than the module's.
Status Compiler::checkResumable(const Compilation &compilation, Stage last) const {
  ModuleOp module = *compilation.module;
  if (std::string grouped = textAttribute(module, stage_attr::mode);
      !grouped.empty() && grouped != name(compilation.mode))
    return {Code::Usage,
            fmt::format("{} was grouped with --fuse={}, and cannot be resumed with --fuse={}; stages before group can",
                        options.modelPath, grouped, name(compilation.mode))};
  std::string scheduled = textAttribute(module, stage_attr::target); // a schedule for one GPU may be used for another
  const TargetDesc &target = *compilation.target;
  Expected<const TargetDesc *> before =
      scheduled.empty() ? Expected<const TargetDesc *>(&target) : findTarget(scheduled);
  TILEWRIGHT_TRY(before);
  bool isOther = stageOf(module) >= Stage::Place
                     ? *before != &target
                     : ((*before)->backend == Backend::Host) != (target.backend == Backend::Host);
  if (isOther)
    return {Code::Usage,
            fmt::format("{} was {} for {}, and cannot be resumed for {}: give --target {}, or a stage before {}",
                        options.modelPath, stageOf(module) >= Stage::Place ? "placed" : "scheduled", scheduled,
                        target.name, scheduled, stageOf(module) >= Stage::Place ? "place" : "schedule")};
  if (stageOf(module) > last)
    return {Code::Usage, fmt::format("{} has been through stage {} already, which comes after {}", options.modelPath,
                                     name(stageOf(module)), name(last))};
  return {};
}

Status Compiler::addPlan(Compilation compilation) {
  TILEWRIGHT_TRY(checkResumable(compilation, Stage::Code));
  TILEWRIGHT_TRY(runStages(compilation, Stage::Code));
  ModuleOp module = *compilation.module;
  Expected<runtime::Plan> plan = buildPlan(module, compilation.request, *storage->constants);
  if (!plan)
    return plan.status();
  storage->contents.plans.push_back(std::move(*plan));
  if (compilation.mode == options.modes.front())
    model.fusionReportJson_ = textAttribute(module, stage_attr::report);
  storage->contents.metadata.modelName = textAttribute(module, stage_attr::model);
  return {};
}

/// Adds a plan of a mode for sizes that its first one refuses. False if it would equal the first one.
Expected<bool> Compiler::addPlanOf(Sizes sizes, const TargetDesc &target, PlanMode mode) {
  auto [entry, isNew] = otherSizes.try_emplace({mode == PlanMode::Reference, sizes});
  if (isNew) {
    Compilation shared(mode);
    shared.sizes = sizes, shared.isDumped = false;
    TILEWRIGHT_TRY(runStages(shared, Stage::Normalize));
    entry->second = std::move(shared.module);
  }
  if (!entry->second)
    return false;
  Compilation plan(mode, &target);
  plan.suffix = runtime::broadcastingSuffix, plan.isDumped = false;
  plan.module = entry->second->clone();
  TILEWRIGHT_TRY(addPlan(std::move(plan)));
  return true;
}

/// Adds a mode's second plan, or a warning why there is none. It is the first of these: if the first plan takes two
/// sizes to be equal that a broadcast would allow to differ (one is 1), the plan for those; if a rank depends on
/// whether sizes are equal, the plan for the other rank; if broadcast sizes that only running tells are taken to be
/// equal, the plan for those.
void Compiler::addPlanOfOtherSizes(const TargetDesc &target, PlanMode mode) {
  std::string report = std::move(model.fusionReport_), json = std::move(model.fusionReportJson_);
  const ImportReport &usual = reports[mode == PlanMode::Reference];
  SmallVector<Sizes> wanted;
  if (!usual.assumedEqual.empty())
    wanted = {Sizes::Broadcasting};
  else if (!usual.choices.empty())
    wanted = {Sizes::Equal};
  if (!usual.assumedEqualLate.empty() && !llvm::is_contained(wanted, Sizes::Broadcasting))
    wanted.push_back(Sizes::Broadcasting);
  for (Sizes sizes : wanted) {
    Expected<bool> added = addPlanOf(sizes, target, mode);
    if (!added)
      model.importReport_.warnings.push_back(whatIsRefused(usual, sizes, added.status()));
    else if (*added)
      break;
  }
  model.fusionReport_ = std::move(report), model.fusionReportJson_ = std::move(json);
}

Expected<CompiledModel> Compiler::compile() {
  makesPlan = true;
  OwningOpRef<ModuleOp> compiled, reference; // imported and normalized once each
  size_t references = llvm::count(options.modes, PlanMode::Reference) * options.targets.size();
  size_t others = options.modes.size() * options.targets.size() - references;
  for (const std::string &targetName : options.targets)
    for (PlanMode mode : options.modes) {
      OwningOpRef<ModuleOp> &imported = mode == PlanMode::Reference ? reference : compiled;
      bool isLast = --(mode == PlanMode::Reference ? references : others) == 0;
      if (!imported) {
        Compilation shared(mode);
        TILEWRIGHT_TRY(runStages(shared, Stage::Normalize));
        imported = std::move(shared.module);
      }
      Expected<const TargetDesc *> target = resolveTarget(targetName);
      TILEWRIGHT_TRY(target);
      Compilation plan(mode, *target);
      plan.module = isLast ? std::move(imported) : OwningOpRef<ModuleOp>(imported->clone());
      TILEWRIGHT_TRY(addPlan(std::move(plan)));
      addPlanOfOtherSizes(**target, mode);
    }
  storage->contents.metadata.compilerVersion = version();
  for (const std::string &target : options.targets)
    storage->contents.metadata.options.emplace_back("target", (*resolveTarget(target))->name);
  storage->contents.report = model.fusionReportJson_;
  model.contents_ = std::shared_ptr<runtime::Contents>(storage, &storage->contents);
  return std::move(model);
}

Expected<std::string> Compiler::emit(Stage last) {
  Compilation compilation(options.modes.front());
  TILEWRIGHT_TRY(runStages(compilation, std::min(last, Stage::Normalize)));
  Expected<const TargetDesc *> target = resolveTarget(options.targets.front());
  TILEWRIGHT_TRY(target);
  compilation.target = *target;
  TILEWRIGHT_TRY(checkResumable(compilation, last));
  TILEWRIGHT_TRY(runStages(compilation, std::min(last, Stage::Place)));
  if (last > Stage::Place)
    return textOf(compilation, last);
  std::string text;
  llvm::raw_string_ostream(text) << *compilation.module;
  return text;
}

Expected<CompiledModel> compileModel(const CompileOptions &options) { return Compiler(options).compile(); }

Expected<std::string> emitStage(const CompileOptions &options, Stage stage) { return Compiler(options).emit(stage); }

} // namespace tilewright
