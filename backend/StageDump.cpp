// Writes and reads the IR of stages.
#include "backend/StageDump.h"

#include "frontend/onnx/MappedFile.h"
#include "frontend/graph/GraphOps.h"
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

Status writeStage(ModuleOp module, const fs::path &folder, const std::string &subfolder, const std::string &file) {
  std::error_code error;
  fs::create_directories(folder / subfolder, error);
  if (error)
    return {Code::Io, fmt::format("{}: cannot be made: {}", (folder / subfolder).string(), error.message())};
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo()); // locations are the ONNX nodes' names
  fs::path path = folder / subfolder / (file + ".mlir");
  TILEWRIGHT_TRY(writeFile(path, text + '\n'));
  std::set<std::string> keys;
  module.walk([&](graph::ConstantOp constant) { keys.insert(constant.getKey().str()); });
  return poolOf(*module.getContext())
      .save((folder / constantsFile).string(), std::vector<std::string>(keys.begin(), keys.end()));
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

Expected<OwningOpRef<ModuleOp>> readStage(MLIRContext &context, const fs::path &path) {
  if (!fs::is_regular_file(path))
    return Status(Code::Io, fmt::format("{}: cannot be opened", path.string()));
  fs::path folder = fs::absolute(path).parent_path();
  for (const fs::path &constants : {folder / constantsFile, folder.parent_path() / constantsFile})
    if (fs::exists(constants)) {
      TILEWRIGHT_TRY(poolOf(context).load(constants.string()));
      break;
    }
  if (Status nesting = checkNesting(path); !nesting)
    return nesting;
  std::string first;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (first.empty())
      llvm::raw_string_ostream(first) << diagnostic.getLocation() << ": " << diagnostic;
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path.string(), &context);
  if (!module)
    return Status(Code::Malformed, fmt::format("{}: is no valid IR: {}", path.string(), first));
  auto main = module->lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return Status(Code::Malformed,
                  fmt::format("{}: is no stage of a model: expected a function @main in it", path.string()));
  FunctionType type = main.getFunctionType();
  if (!llvm::all_of(llvm::concat<const Type>(type.getInputs(), type.getResults()), llvm::IsaPred<RankedTensorType>) ||
      type.getResults().empty())
    return Status(
        Code::Malformed,
        fmt::format("{}: is no stage of a model: expected @main to take tensors and to give tensors", path.string()));
  return module;
}

} // namespace tilewright
