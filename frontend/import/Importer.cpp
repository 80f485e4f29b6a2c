// SPDX-License-Identifier: Apache-2.0
// From a file to a module: read, parse, walk, verify.
#include "frontend/import/Importer.h"

#include "frontend/flow/FlowOps.h"
#include "frontend/import/ModelImporter.h"

#include "mlir/IR/Verifier.h"

#include <climits>
#include <filesystem>
#include <set>

using namespace mlir;

namespace tilewright {
namespace {

constexpr int64_t maxIrVersion = 14;
constexpr int mostAttempts = 12;

Expected<std::shared_ptr<onnx::ModelProto>> parseModel(std::string_view bytes, const std::string &name) {
  if (bytes.size() > INT_MAX)
    return Status(Code::Malformed,
                  fmt::format("'{}' has {} bytes, ONNX files have at most 2 GiB (weights go to external data)", name,
                              bytes.size()));
  // protobuf limits the nesting of messages to 100 by default, and checks lengths against the end of the array. But
  // inside of a message whose length goes beyond the end, it may reserve up to 50 MB for a string whose length does
  // too.
  auto model = std::make_shared<onnx::ModelProto>();
  try {
    if (!model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return Status(Code::Malformed, fmt::format("'{}' is not an ONNX model, or is truncated: {} bytes do not parse",
                                                 name, bytes.size()));
  } catch (const std::bad_alloc &) {
    return Status(Code::Malformed, fmt::format("'{}' asks for more memory than there is", name));
  }
  if (!model->has_graph() || !model->has_ir_version())
    return Status(Code::Malformed, fmt::format("'{}' is not an ONNX model: it has no {}", name,
                                               model->has_graph() ? "ir_version" : "graph"));
  if (model->ir_version() < 3 || model->ir_version() > maxIrVersion)
    return Status(Code::Unsupported, fmt::format("'{}' has IR version {}, supported are 3 to {}", name,
                                                 model->ir_version(), maxIrVersion));
  if (model->opset_import().empty())
    return Status(Code::Malformed, fmt::format("'{}' imports no opset", name));
  return model;
}

/// Why a module does not verify, given what the verifier says. If it or a body has a guard that requires different
/// constants to be equal, an assumption about sizes contradicts what later nodes told of them; else it is a bug.
Status whyInvalid(ModuleOp module, const std::string &diagnostics) {
  std::string assumption;
  module.walk([&](ModuleOp part) {
    auto guards = part->getAttrOfType<ArrayAttr>(graph::guardsAttr);
    for (auto guard : guards ? llvm::to_vector(guards.getAsRange<ArrayAttr>()) : SmallVector<ArrayAttr>()) {
      auto side = [&](int i) { return graph::constantSize(cast<AffineMapAttr>(guard[i]).getValue().getResult(0)); };
      if (assumption.empty() && cast<StringAttr>(guard[3]) == "equal" && side(0) && side(1) && side(0) != side(1))
        assumption = fmt::format("{} ({} and {})", cast<StringAttr>(guard[2]).str(), *side(0), *side(1));
    }
  });
  return assumption.empty() ? Status(Code::Internal, "the importer made IR that does not verify: " + diagnostics)
                            : Status(Code::Malformed, assumption);
}

Expected<OwningOpRef<ModuleOp>> importOnce(MLIRContext &context, std::shared_ptr<const onnx::ModelProto> model,
                                           ExternalData &files, const ImportOptions &options, ImportReport &report) {
  ImportState state(context, options, report);
  try {
    ModelImporter(state, std::move(model), files).run();
  } catch (ImportFailure &failure) {
    return failure.status;
  } catch (const std::bad_alloc &) {
    return Status(Code::Malformed, "the model asks for more memory than there is");
  }
  state.finish();
  report.warnings.insert(report.warnings.end(), files.warnings().begin(), files.warnings().end());
  std::string why;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(why) << diagnostic.getLocation() << ": " << diagnostic;
    return success();
  });
  if (failed(verify(*state.module)))
    return whyInvalid(*state.module, why);
  return std::move(state.module);
}

/// Imports with the first combination of choices (SizeChoice) for which the whole model can be imported. After a
/// failure the last choice is reversed, then the one before it, and so on. An attempt that gets further becomes the new
/// base.
Expected<OwningOpRef<ModuleOp>> importChoosing(MLIRContext &context,
                                               const std::shared_ptr<const onnx::ModelProto> &model,
                                               ExternalData &files, const ImportOptions &options,
                                               ImportReport &report) {
  auto nodesImported = [](const ImportReport &report) {
    return report.unsupported.empty() ? report.nodeCount : report.unsupported.front().after;
  };
  auto module = importOnce(context, model, files, options, report);
  if (module)
    return module;
  Status failure = module.status();
  size_t turn = report.choices.size();
  for (int attempt = 1; turn > 0 && attempt < mostAttempts; ++attempt) {
    ImportOptions other = options;
    for (size_t i = 0; i < turn; ++i)
      other.settled[report.choices[i].asker] = report.choices[i].equal != (i + 1 == turn);
    ImportReport found;
    auto tried = importOnce(context, model, files, other, found);
    bool gotFurther = nodesImported(found) > nodesImported(report);
    --turn;
    if (tried || gotFurther)
      report = std::move(found), turn = report.choices.size();
    if (tried)
      return tried;
    if (gotFurther)
      failure = tried.status();
  }
  return failure;
}

/// A name that stands for more than one dimension of the inputs; empty if there is none.
std::string sharedName(const onnx::ModelProto &model) {
  std::set<std::string, std::less<>> names;
  for (const auto &input : model.graph().input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      if (!dim.dim_param().empty() && dim.dim_param() != "?" && !names.insert(dim.dim_param()).second)
        return dim.dim_param();
  return "";
}

/// Imports with other options than those that failed with `failure`. If that works, the report says `because`; else it
/// stays as it is.
Expected<OwningOpRef<ModuleOp>> importInstead(MLIRContext &context,
                                              const std::shared_ptr<const onnx::ModelProto> &model, ExternalData &files,
                                              const ImportOptions &options, const std::string &because,
                                              const Status &failure, ImportReport &report) {
  ImportReport found;
  auto module = importChoosing(context, model, files, options, found);
  if (!module)
    return failure;
  report = std::move(found);
  report.warnings.push_back(fmt::format("{}; otherwise: {}", because, failure.message()));
  return module;
}

/// Imports a model. If that fails, it is tried again without assumptions that it may contradict:
///   - that dimensions of inputs with one name have one size. Some models give one name to sizes that differ, of which
///     ONNX Runtime only warns;
///   - that sizes which meet in a broadcast are equal.
Expected<OwningOpRef<ModuleOp>> importParsed(MLIRContext &context, const std::shared_ptr<const onnx::ModelProto> &model,
                                             ExternalData &files, const ImportOptions &options, ImportReport &report) {
  DialectRegistry registry;
  registerFrontendDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  auto module = importChoosing(context, model, files, options, report);
  Status failure = module.status();
  if (failure.ok() || failure.code() == Code::Internal || failure.code() == Code::Io)
    return module;
  if (std::string name = sharedName(*model); !name.empty()) {
    ImportOptions apart = options;
    apart.namesAreShared = false;
    std::string because = fmt::format("names such as '{}' stand for sizes that differ, so each dimension of an input "
                                      "is taken for itself",
                                      name);
    auto tried = importInstead(context, model, files, apart, because, failure, report);
    report.namesAreShared = !tried;
    if (tried)
      return tried;
  }
  if (report.assumedEqual.empty() && report.assumedEqualLate.empty())
    return failure;
  ImportOptions broadcasting = options;
  broadcasting.broadcastWhenRunning = true;
  return importInstead(context, model, files, broadcasting, "sizes that meet in a broadcast are compared when running",
                       failure, report);
}

} // namespace

void registerFrontendDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, flow::FlowDialect, func::FuncDialect, graph::GraphDialect, math::MathDialect>();
}

Expected<OwningOpRef<ModuleOp>> importModelBytes(MLIRContext &context, std::string_view bytes,
                                                 const std::string &folder, const ImportOptions &options,
                                                 ImportReport *report) {
  ImportReport unread;
  auto model = parseModel(bytes, "model");
  if (!model)
    return model.status();
  ExternalData files(folder);
  return importParsed(context, *model, files, options, report ? *report : unread);
}

Expected<OwningOpRef<ModuleOp>> importModel(MLIRContext &context, const std::string &path, const ImportOptions &options,
                                            ImportReport *report) {
  ImportReport unread;
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.status();
  auto model = parseModel({reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size()}, path);
  if (!model)
    return model.status();
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(path, error);
  ExternalData files(std::filesystem::path(path).parent_path().string(), error ? "" : real.parent_path().string());
  auto module = importParsed(context, *model, files, options, report ? *report : unread);
  if (!module)
    return Status(module.status().code(), fmt::format("{}: {}", path, module.status().message()));
  return module;
}

} // namespace tilewright
