// SPDX-License-Identifier: Apache-2.0
// Writes and reads the IR of stages.
#include "backend/StageDump.h"

#include "backend/Dialects.h"
#include "backend/VerifyStage.h"
#include "frontend/graph/GraphOps.h"
#include "frontend/onnx/MappedFile.h"
#include "runtime/artifact/OutputFile.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <set>

using namespace mlir;
namespace fs = std::filesystem;

namespace tilewright {

static constexpr const char *constantsFile = "constants.bin";

static graph::ConstantPool &poolOf(MLIRContext &context) {
  return context.getLoadedDialect<graph::GraphDialect>()->constants();
}

static Status writeText(const fs::path &file, const std::string &text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error)
    return {Code::Io, fmt::format("{}: cannot be made: {}", file.parent_path().string(), error.message())};
  return writeFile(file, text);
}

fs::path stageFile(const fs::path &folder, const std::string &subfolder, Stage stage) {
  return folder / subfolder /
         fmt::format("{}-{}.{}", static_cast<int>(stage), name(stage), stage < Stage::Llvm ? "mlir" : "ll");
}

Status writeStage(ModuleOp module, const fs::path &folder, const fs::path &file) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo()); // locations are the ONNX nodes' names
  TILEWRIGHT_TRY(writeText(file, text + '\n'));
  // The file also keeps the constants that earlier stages saved: their files may name constants that this stage no
  // longer has.
  graph::ConstantPool &pool = poolOf(*module.getContext());
  std::string constants = (folder / constantsFile).string();
  std::set<std::string> keys;
  llvm::for_each(pool.savedIn(constants), [&](const std::string &key) { keys.insert(key); });
  size_t saved = keys.size();
  module.walk([&](graph::ConstantOp constant) { keys.insert(constant.getKey().str()); });
  if (keys.size() == saved && fs::is_regular_file(constants))
    return {};
  return pool.save(constants, std::vector<std::string>(keys.begin(), keys.end()));
}

/// MLIR's parser calls itself for each level, so a deep file would exhaust the stack. Brackets in strings and comments
/// count as well: our own files come nowhere near the limit.
static Status checkNesting(const fs::path &path) {
  constexpr int64_t deepest = 500;
  Expected<MappedFile> file = MappedFile::open(path.string());
  TILEWRIGHT_TRY(file);
  int64_t depth = 0;
  for (std::byte byte : file->bytes()) {
    char c = static_cast<char>(byte);
    depth +=
        (c == '(' || c == '[' || c == '{' || c == '<') - (depth > 0 && (c == ')' || c == ']' || c == '}' || c == '>'));
    if (depth > deepest)
      return {Code::Malformed, fmt::format("{}: brackets are nested more than {} deep, expected the IR of a stage",
                                           path.string(), deepest)};
  }
  return {};
}

namespace {
/// Collects the first error that is reported during its lifetime, with its location.
class FirstError {
public:
  explicit FirstError(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (text.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
            llvm::raw_string_ostream(text) << diagnostic.getLocation() << ": " << diagnostic;
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

/// A plan can be made only of a function @main from tensors to tensors.
static Status checkMain(ModuleOp module, const fs::path &path) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return {Code::Malformed, fmt::format("{}: is no stage of a model: expected a function @main in it", path.string())};
  FunctionType type = main.getFunctionType();
  if (!llvm::all_of(llvm::concat<const Type>(type.getInputs(), type.getResults()), llvm::IsaPred<RankedTensorType>) ||
      type.getResults().empty())
    return {
        Code::Malformed,
        fmt::format("{}: is no stage of a model: expected @main to take tensors and to give tensors", path.string())};
  return {};
}

Status checkConstants(ModuleOp module, const fs::path &path) {
  graph::ConstantPool &pool = poolOf(*module.getContext());
  graph::ConstantOp absent;
  module.walk([&](graph::ConstantOp constant) {
    if (!absent && !pool.contains(constant.getKey()))
      absent = constant;
  });
  if (!absent)
    return {};
  return {Code::Malformed, fmt::format("{}: expected {} beside it or one folder up, with the weights that it names; {} "
                                       "is not there",
                                       path.string(), constantsFile, absent.getKey().str())};
}

static Expected<OwningOpRef<ModuleOp>> parseStageFile(MLIRContext &context, const fs::path &path) {
  if (!fs::is_regular_file(path))
    return Status(Code::Io, fmt::format("{}: cannot be opened", path.string()));
  TILEWRIGHT_TRY(checkNesting(path));
  FirstError error(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path.string(), &context);
  if (!module)
    return Status(Code::Malformed, fmt::format("{}: is no valid IR: {}", path.string(), error.text));
  if ((*module)->hasAttr(stage_attr::stage) && !parseStage(textAttribute(*module, stage_attr::stage)))
    return Status(Code::Malformed,
                  fmt::format("{}: expected the name of a stage as the module's {}", path.string(), stage_attr::stage));
  return module;
}

Expected<OwningOpRef<ModuleOp>> readStage(MLIRContext &context, const fs::path &path) {
  fs::path folder = fs::absolute(path).parent_path();
  for (const fs::path &constants : {folder / constantsFile, folder.parent_path() / constantsFile})
    if (fs::exists(constants)) {
      TILEWRIGHT_TRY(poolOf(context).load(constants.string()));
      break;
    }
  Expected<OwningOpRef<ModuleOp>> module = parseStageFile(context, path);
  TILEWRIGHT_TRY(module);
  TILEWRIGHT_TRY(checkMain(**module, path));
  FirstError error(context);
  if (failed(verifyStage(**module, stageOf(**module))))
    return Status(Code::Malformed,
                  fmt::format("{}: is no IR of stage {}: {}", path.string(), name(stageOf(**module)), error.text));
  return module;
}

Expected<StageFacts> readStageFacts(const fs::path &path) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Expected<OwningOpRef<ModuleOp>> module = parseStageFile(context, path);
  TILEWRIGHT_TRY(module);
  StageFacts facts;
  facts.stage = stageOf(**module);
  facts.mode = parsePlanMode(textAttribute(**module, stage_attr::mode));
  facts.target = textAttribute(**module, stage_attr::target);
  if (facts.stage == Stage::Import)
    return facts;
  fs::path folder = fs::absolute(path).parent_path();
  auto before = static_cast<Stage>(static_cast<int>(facts.stage) - 1);
  for (const fs::path &where : {folder, folder.parent_path()})
    if (fs::path file = stageFile(where, "", before); facts.before.empty() && fs::is_regular_file(file))
      facts.before = file;
  return facts;
}

} // namespace tilewright
