// The pipeline, as a table of contents: import, normalize, group, schedule, tile, code, plan.
#include "backend/Pipeline.h"

#include "backend/plan/BuildPlan.h"
#include "backend/CodeGenerators.h"
#include "backend/Dialects.h"
#include "backend/StageDump.h"
#include "frontend/normalize/Normalize.h"
#include "fusion/groups/FormGroups.h"
#include "fusion/FusionReport.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Version.h"
#include "tilegen/emit/EmitTiles.h"
#include "tilegen/schedule/SelectSchedule.h"
#include "tilegen/TargetDesc.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/SaveAndRestore.h"

#include <deque>
#include <filesystem>
#include <fmt/format.h>

using namespace mlir;
namespace fs = std::filesystem;

namespace tilewright {

//===- Names ------------------------------------------------------------------------------------------------------===//

static constexpr std::pair<std::string_view, Stage> stageNames[] = {
    {"import", Stage::Import}, {"normalize", Stage::Normalize}, {"group", Stage::Group}, {"schedule", Stage::Schedule},
    {"tile", Stage::Tile},     {"place", Stage::Place},         {"llvm", Stage::Llvm},   {"code", Stage::Code},
};
static constexpr std::pair<std::string_view, PlanMode> modeNames[] = {{"reference", PlanMode::Reference},
                                                                      {"none", PlanMode::None},
                                                                      {"epilogue", PlanMode::Epilogue},
                                                                      {"all", PlanMode::All}};

template <typename Rows, typename Key> static std::string_view nameIn(const Rows &rows, Key key) {
  for (const auto &[name, value] : rows)
    if (value == key)
      return name;
  return "";
}

template <typename Key, typename Rows> static std::optional<Key> parseIn(const Rows &rows, std::string_view text) {
  for (const auto &[name, value] : rows)
    if (name == text)
      return value;
  return std::nullopt;
}

std::string_view name(Stage stage) { return nameIn(stageNames, stage); }
std::optional<Stage> parseStage(std::string_view name) { return parseIn<Stage>(stageNames, name); }
std::string_view name(PlanMode mode) { return nameIn(modeNames, mode); }
std::optional<PlanMode> parsePlanMode(std::string_view name) { return parseIn<PlanMode>(modeNames, name); }

static fusion::FusionMode fusionMode(PlanMode mode) {
  return mode == PlanMode::All        ? fusion::FusionMode::All
         : mode == PlanMode::Epilogue ? fusion::FusionMode::Epilogue
                                      : fusion::FusionMode::None;
}

/// "host" is the last row that the machine at hand can run; everything else is a row by its name.
static Expected<const TargetDesc *> resolveTarget(const std::string &name) {
  const TargetDesc *best = nullptr;
  for (const TargetDesc &row : targets()) {
    std::vector<std::string> needs = {std::string(row.cpu)};
    if (!row.feature.empty())
      needs.emplace_back(row.feature);
    if (row.backend == Backend::Host && runtime::checkCpuFeatures(needs, std::string(row.name)).ok())
      best = &row;
  }
  return name == "host" && best ? Expected<const TargetDesc *>(best) : findTarget(name);
}

/// What the plan calls it: host code says what it needs by its requirements.
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

//===- Where a module stands --------------------------------------------------------------------------------------===//

static constexpr StringLiteral modelAttr = "graph.model", stageAttr = "graph.stage", modeAttr = "graph.mode",
                               targetAttr = "graph.target", reportAttr = "graph.report";

static std::string textAttribute(ModuleOp module, StringRef name) {
  auto text = module->getAttrOfType<StringAttr>(name);
  return text ? text.str() : std::string();
}

/// The last stage that the module has been through. IR written by hand says nothing, and is normalized first.
static Stage stageOf(ModuleOp module) { return parseStage(textAttribute(module, stageAttr)).value_or(Stage::Import); }

static bool isStage(const std::string &path) { return fs::path(path).extension() == ".mlir"; }

//===- Diagnostics ------------------------------------------------------------------------------------------------===//

/// The ONNX node that a location came from.
static std::string nodeName(Location location) {
  std::string name;
  location->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner)) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

namespace {

/// Collects the errors of a stage; the first is what a person reads.
class Diagnostics {
public:
  explicit Diagnostics(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !first.empty())
            return success();
          std::string node = nodeName(diagnostic.getLocation());
          first = node.empty() ? diagnostic.str() : fmt::format("node '{}': {}", node, diagnostic.str());
          return success();
        }) {}

  Status failure(std::string_view stage) const {
    return Status(Code::Internal, fmt::format("{} failed, which is a bug of the compiler: {}", stage,
                                              first.empty() ? "it gave no reason" : first));
  }

private:
  ScopedDiagnosticHandler handler;
  std::string first;
};

} // namespace

//===- The compiler -----------------------------------------------------------------------------------------------===//

/// What CompiledModel's bytes live in: the context (weights), made constants, and code.
namespace {
struct CompiledStorage {
  std::unique_ptr<MLIRContext> context;
  runtime::Contents contents;
  std::unique_ptr<PlanConstants> constants;
  std::deque<TargetCode> code;
};
} // namespace

static std::string whatIsRefused(const ImportReport &report, const Status &why) {
  return report.assumedEqual.empty()
             ? fmt::format("sizes that give another rank are refused: {}", why.message())
             : fmt::format("sizes that broadcast are taken to be equal, 1 beside another is refused ({}): {}",
                           report.assumedEqual.front(), why.message());
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
  }

  Expected<CompiledModel> compile();
  Expected<std::string> emit(Stage last);

private:
  void begin(std::string_view what) const {
    if (options.progress)
      options.progress(what);
  }
  /// What a plan takes for granted of the sizes, beginning with the first plan of a mode.
  enum class Sizes { Usual, Broadcasting, Equal };
  Expected<OwningOpRef<ModuleOp>> import(PlanMode mode, Sizes sizes = Sizes::Usual);
  Status checkResumable(ModuleOp module, const TargetDesc &target, PlanMode mode, Stage last) const;
  Status lower(ModuleOp module, const TargetDesc &target, PlanMode mode, Stage last);
  Status addPlan(ModuleOp imported, const std::string &targetName, PlanMode mode, std::string_view suffix = "");
  Status addPlanOfOtherSizes(const std::string &target, PlanMode mode);
  Expected<OwningOpRef<ModuleOp>> normalize(OwningOpRef<ModuleOp> module);
  void keepReport(ModuleOp module, PlanMode mode, const fusion::FusionReport &report);
  Status finish(ModuleOp module, Stage stage, const std::string &subfolder) const;

  const CompileOptions &options;
  std::shared_ptr<CompiledStorage> storage;
  CompiledModel model;
  std::map<bool, ImportReport> reports; // of the first imports: as reference or not
  std::map<std::pair<bool, Sizes>, OwningOpRef<ModuleOp>>
      otherSizes;               // imported once each, null where it would be no other plan
  std::optional<Stage> emitted; // where the IR of a stage is all that is wanted
  bool isDumped = true; // what is compiled now: a mode's second plan is not, its stages would overwrite the first's
};

/// A model imported and normalized, or the IR of a stage from an earlier run.
Expected<OwningOpRef<ModuleOp>> Compiler::import(PlanMode mode, Sizes sizes) {
  begin("import");
  MLIRContext &context = *storage->context;
  if (isStage(options.modelPath)) {
    auto module = readStage(context, options.modelPath);
    TILEWRIGHT_TRY(module);
    if ((**module)->hasAttr(stageAttr) && !parseStage(textAttribute(**module, stageAttr)))
      return Status(Code::Malformed, fmt::format("{}: expected the name of a stage as the module's {}",
                                                 options.modelPath, stageAttr.str()));
    if (mode == PlanMode::Reference)
      return Status(
          Code::Usage,
          fmt::format("{}: the reference runs the nodes of an ONNX model, which a stage no longer has: give the model",
                      options.modelPath));
    if (stageOf(**module) != Stage::Import)
      return module;
    return normalize(std::move(*module));
  }
  ImportOptions import = options.import;
  import.allAsReference |= mode == PlanMode::Reference;
  ImportReport &usual = reports[mode == PlanMode::Reference];
  if (sizes != Sizes::Usual)
    (sizes == Sizes::Equal ? import.sizesAreEqual : import.broadcastWhenRunning) = true;
  ImportReport report;
  auto module = options.modelBytes
                    ? importModelBytes(context, *options.modelBytes, fs::path(options.modelPath).parent_path().string(),
                                       import, &report)
                    : importModel(context, options.modelPath, import, &report);
  if (!module)
    return module.status();
  if (sizes == Sizes::Equal)
    for (const SizeChoice &choice : report.choices)
      if (mode != PlanMode::Reference && llvm::is_contained(usual.choices, choice))
        model.importReport_.warnings.push_back(choice.sentence);
  if (sizes == Sizes::Equal && report.choices == usual.choices)
    return OwningOpRef<ModuleOp>();
  if (mode != PlanMode::Reference && sizes == Sizes::Usual)
    model.importReport_ = report;
  if (sizes == Sizes::Usual)
    usual = std::move(report);
  Diagnostics diagnostics(context);
  if (failed(verify(**module)))
    return diagnostics.failure("import");
  (**module)->setAttr(modelAttr, StringAttr::get(&context, fs::path(options.modelPath).stem().string()));
  TILEWRIGHT_TRY(finish(**module, Stage::Import, ""));
  return normalize(std::move(*module));
}

Expected<OwningOpRef<ModuleOp>> Compiler::normalize(OwningOpRef<ModuleOp> module) {
  if (emitted == Stage::Import)
    return module;
  begin("normalize");
  Diagnostics diagnostics(*storage->context);
  if (failed(forEachModule(*module, [](ModuleOp part) { return normalizeGraph(part); })) || failed(verify(*module)))
    return diagnostics.failure("normalize");
  TILEWRIGHT_TRY(finish(*module, Stage::Normalize, ""));
  return module;
}

/// Marks the module as having been through `stage`, and dumps it where that is asked for.
Status Compiler::finish(ModuleOp module, Stage stage, const std::string &subfolder) const {
  module->setAttr(stageAttr, StringAttr::get(module.getContext(), name(stage)));
  if (options.dumpFolder.empty() || !isDumped)
    return {};
  return writeStage(module, options.dumpFolder, subfolder, fmt::format("{}-{}", static_cast<int>(stage), name(stage)));
}

/// What an earlier run has decided stays decided.
Status Compiler::checkResumable(ModuleOp module, const TargetDesc &target, PlanMode mode, Stage last) const {
  if (std::string grouped = textAttribute(module, modeAttr); !grouped.empty() && grouped != name(mode))
    return {Code::Usage,
            fmt::format("{} was grouped with --fuse={}, and cannot be resumed with --fuse={}; stages before group can",
                        options.modelPath, grouped, name(mode))};
  std::string scheduled = textAttribute(module, targetAttr); // GPUs may take each other's schedules
  Expected<const TargetDesc *> before =
      scheduled.empty() ? Expected<const TargetDesc *>(&target) : findTarget(scheduled);
  TILEWRIGHT_TRY(before);
  if (((*before)->backend == Backend::Host) != (target.backend == Backend::Host))
    return {Code::Usage,
            fmt::format(
                "{} was scheduled for {}, and cannot be resumed for {}: give --target {}, or a stage before schedule",
                options.modelPath, scheduled, target.name, scheduled)};
  if (stageOf(module) > last)
    return {Code::Usage, fmt::format("{} has been through stage {} already, which comes after {}", options.modelPath,
                                     name(stageOf(module)), name(last))};
  return {};
}

/// Group, schedule, tile: from normalized graph IR to tile kernels, beginning where the module stands and stopping
/// after `last`.
Status Compiler::lower(ModuleOp module, const TargetDesc &target, PlanMode mode, Stage last) {
  TILEWRIGHT_TRY(checkResumable(module, target, mode, last));
  Diagnostics diagnostics(*storage->context);
  struct Step {
    Stage stage;
    std::function<LogicalResult(ModuleOp)> run;
  };
  fusion::FusionReport report;
  const Step steps[] = {
      {Stage::Group,
       [&](ModuleOp part) {
         fusion::FusionReport own;
         LogicalResult formed = fusion::formGroups(part, fusionMode(mode), &own);
         report.append(std::move(own));
         return formed;
       }},
      {Stage::Schedule, [&](ModuleOp part) { return selectSchedules(part, target); }},
      {Stage::Tile, [&](ModuleOp part) { return emitTiles(part, target); }},
  };
  for (const Step &step : steps) {
    if (step.stage > last || step.stage <= stageOf(module))
      continue;
    begin(name(step.stage));
    if (failed(forEachModule(module, step.run)) || failed(verify(module)))
      return diagnostics.failure(name(step.stage));
    if (step.stage == Stage::Group)
      keepReport(module, mode, report);
    if (step.stage == Stage::Schedule)
      module->setAttr(targetAttr, StringAttr::get(module.getContext(), target.name));
    TILEWRIGHT_TRY(finish(module, step.stage, fmt::format("{}-{}", target.name, name(mode))));
  }
  return {};
}

void Compiler::keepReport(ModuleOp module, PlanMode mode, const fusion::FusionReport &report) {
  if (mode == options.modes.front())
    model.fusionReport_ = report.text();
  module->setAttr(modeAttr, StringAttr::get(module.getContext(), name(mode)));
  module->setAttr(reportAttr, StringAttr::get(module.getContext(), report.json()));
}

Status Compiler::addPlan(ModuleOp imported, const std::string &targetName, PlanMode mode, std::string_view suffix) {
  Expected<const TargetDesc *> target = resolveTarget(targetName);
  if (!target)
    return target.status();
  OwningOpRef<ModuleOp> module = imported.clone();
  TILEWRIGHT_TRY(lower(*module, **target, mode, Stage::Tile));
  begin("code");
  Diagnostics diagnostics(*storage->context);
  PlanRequest request;
  request.target = planTarget(**target), request.mode = fmt::format("{}{}", name(mode), suffix);
  Status status;
  auto generate = [&](ModuleOp part) {
    Expected<TargetCode> code = generateCode(part, **target, {options.cubin, options.codeObjectVersion, options.jobs});
    if (!code)
      return status = code.status(), failure();
    TargetCode &kept = storage->code.emplace_back(std::move(*code));
    request.requirements = kept.requirements;
    request.code[part] = {static_cast<uint32_t>(storage->contents.code.size()), &kept};
    if (part == *module || !kept.kernels.empty())
      storage->contents.code.push_back({kept.kind, request.target, kept.symbols, kept.bytes});
    return success();
  };
  if (failed(forEachModule(*module, generate)))
    return status;
  Expected<runtime::Plan> plan = buildPlan(*module, request, *storage->constants);
  if (!plan)
    return plan.status();
  storage->contents.plans.push_back(std::move(*plan));
  if (mode == options.modes.front())
    model.fusionReportJson_ = textAttribute(*module, reportAttr);
  storage->contents.metadata.modelName = textAttribute(*module, modelAttr);
  return {};
}

/// The second plan of a mode, for sizes that the first one refuses: those of 1 where it takes two to be equal, or else
/// those that give another rank.
Status Compiler::addPlanOfOtherSizes(const std::string &target, PlanMode mode) {
  llvm::SaveAndRestore silent(isDumped, false);
  std::string report = model.fusionReport_, json = model.fusionReportJson_;
  auto add = [&](Sizes sizes) -> Status {
    auto [entry, isNew] = otherSizes.try_emplace({mode == PlanMode::Reference, sizes});
    if (isNew) {
      auto module = import(mode, sizes);
      if (!module)
        return module.status();
      entry->second = std::move(*module);
    }
    return entry->second ? addPlan(*entry->second, target, mode, runtime::broadcastingSuffix) : Status();
  };
  Status status;
  const ImportReport &usual = reports[mode == PlanMode::Reference];
  if (!usual.assumedEqual.empty())
    status = add(Sizes::Broadcasting);
  else if (!usual.choices.empty())
    status = add(Sizes::Equal);
  model.fusionReport_ = std::move(report), model.fusionReportJson_ = std::move(json);
  return status;
}

Expected<CompiledModel> Compiler::compile() {
  OwningOpRef<ModuleOp> compiled, reference; // imported once each
  for (const std::string &target : options.targets)
    for (PlanMode mode : options.modes) {
      OwningOpRef<ModuleOp> &imported = mode == PlanMode::Reference ? reference : compiled;
      if (!imported) {
        auto module = import(mode);
        if (!module)
          return module.status();
        imported = std::move(*module);
      }
      if (Status status = addPlan(*imported, target, mode); !status)
        return status;
      if (Status status = addPlanOfOtherSizes(target, mode); !status)
        model.importReport_.warnings.push_back(whatIsRefused(model.importReport_, status));
    }
  storage->contents.metadata.compilerVersion = version();
  for (const std::string &target : options.targets)
    storage->contents.metadata.options.emplace_back("target", (*resolveTarget(target))->name);
  storage->contents.report = model.fusionReportJson_;
  model.contents_ = std::shared_ptr<runtime::Contents>(storage, &storage->contents);
  return std::move(model);
}

Expected<std::string> Compiler::emit(Stage last) {
  emitted = last;
  auto module = import(options.modes.front());
  if (!module)
    return module.status();
  Expected<const TargetDesc *> target = resolveTarget(options.targets.front());
  if (!target)
    return target.status();
  Status lowered = last > Stage::Normalize ? lower(**module, **target, options.modes.front(), last)
                                           : checkResumable(**module, **target, options.modes.front(), last);
  if (!lowered)
    return lowered;
  if (last == Stage::Place &&
      failed(forEachModule(**module, [&](ModuleOp part) { return placeKernels(part, **target); })))
    return Diagnostics(*storage->context).failure("place");
  if (last > Stage::Place) {
    std::string all;
    Status status;
    auto generate = [&](ModuleOp part) {
      Expected<CodeText> text = generateText(part, **target, {.codeObjectVersion = options.codeObjectVersion});
      if (!text)
        return status = text.status(), failure();
      all += last == Stage::Llvm ? text->llvm : text->assembly;
      return success();
    };
    if (failed(forEachModule(**module, generate)))
      return status;
    return all;
  }
  std::string text;
  llvm::raw_string_ostream(text) << **module;
  return text;
}

Expected<CompiledModel> compileModel(const CompileOptions &options) { return Compiler(options).compile(); }

Expected<std::string> emitStage(const CompileOptions &options, Stage stage) { return Compiler(options).emit(stage); }

} // namespace tilewright
