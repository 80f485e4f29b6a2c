// SPDX-License-Identifier: Apache-2.0
// tilewright inspect: shows the contents of a model or artifact.
#include "backend/Dialects.h"
#include "tools/tilewright/Json.h"
#include "tools/tilewright/Table.h"
#include "tools/tilewright/commands/Commands.h"
#include "tools/tilewright/options/ModelOptions.h"

#include "runtime/execute/Program.h"

#include "mlir/IR/MLIRContext.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tilewright {

namespace {
struct InspectCommand {
  ModelOptions model;
  bool io = false, ops = false, fusion = false, memory = false, support = false, json = false;
};
} // namespace

static std::string valueText(const runtime::Plan &plan, runtime::ValueId id) {
  std::vector<std::string> symbols, dims;
  for (const runtime::Symbol &symbol : plan.symbols)
    symbols.push_back(symbol.name);
  const runtime::Value &value = plan.values[id];
  for (runtime::ExprId dim : value.dims)
    dims.push_back(toString(plan.exprs, symbols, dim));
  return fmt::format("{} {} [{}]", value.name, name(value.dtype), fmt::join(dims, ", "));
}

static nlohmann::json ioJson(const runtime::Plan &plan) {
  nlohmann::json json;
  for (auto [key, ids] : {std::pair("inputs", &plan.inputs), std::pair("outputs", &plan.outputs)})
    for (runtime::ValueId id : *ids)
      json[key].push_back(valueText(plan, id));
  return json;
}

static nlohmann::json kernelsJson(const runtime::Plan &plan) {
  nlohmann::json json = nlohmann::json::array();
  for (const runtime::Step &step : plan.steps)
    if (auto *launch = std::get_if<runtime::Launch>(&step))
      json.push_back({{"kernel", plan.kernels[launch->kernel].name},
                      {"form", plan.kernels[launch->kernel].form},
                      {"nodes", launch->group == runtime::none ? std::vector<std::string>()
                                                               : plan.groups[launch->group].members}});
    else if (auto *call = std::get_if<runtime::HostCall>(&step))
      json.push_back({{"reference", call->op}, {"nodes", {call->node}}});
    else if (auto *branch = std::get_if<runtime::Branch>(&step))
      json.push_back({{"branch", branch->node},
                      {"then", kernelsJson(plan.bodies[branch->onTrue.body])},
                      {"else", kernelsJson(plan.bodies[branch->onFalse.body])}});
    else if (auto *loop = std::get_if<runtime::Loop>(&step))
      json.push_back({{"loop", loop->node}, {"body", kernelsJson(plan.bodies[loop->body.body])}});
  return json;
}

static nlohmann::json memoryJson(const runtime::Contents &contents, const runtime::Plan &plan) {
  uint64_t constants = 0, code = 0;
  for (auto bytes : contents.constants)
    constants += bytes.size();
  for (const runtime::CodeObject &object : contents.code)
    code += object.bytes.size();
  size_t temporaries = 0;
  for (const runtime::Value &value : plan.values)
    temporaries += value.kind == runtime::ValueKind::Temporary;
  return {{"constants_bytes", constants}, {"code_bytes", code}, {"temporaries", temporaries}};
}

/// Lists all unsupported nodes, and all that run through the reference.
static Status inspectSupport(const InspectCommand &command) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Expected<CompileOptions> options = compileOptions(command.model);
  if (!options)
    return options.status();
  ImportReport report;
  auto module = importModel(context, command.model.model, options->import, &report);
  if (!module && module.status().code() != Code::Unsupported)
    return module.status(); // not a readable model
  if (command.json) {
    nlohmann::json json = {{"schema", jsonSchema},
                           {"nodes", report.nodeCount},
                           {"reference", nlohmann::json::array()},
                           {"unsupported", nlohmann::json::array()}};
    for (const auto &entry : report.fallbacks)
      json["reference"].push_back(
          {{"node", entry.node}, {"op", entry.op}, {"opset", entry.opset}, {"reason", entry.reason}});
    for (const auto &entry : report.unsupported)
      json["unsupported"].push_back(
          {{"node", entry.node}, {"op", entry.op}, {"opset", entry.opset}, {"reason", entry.reason}});
    fmt::print("{}\n", toText(json, 2));
  } else {
    for (const auto &entry : report.fallbacks)
      fmt::print("reference    {} (opset {}) node '{}': {}\n", entry.op, entry.opset, entry.node, entry.reason);
    for (const auto &entry : report.unsupported)
      fmt::print("unsupported  {} (opset {}) node '{}': {}\n", entry.op, entry.opset, entry.node, entry.reason);
    fmt::print("{} nodes: {} run through the reference, {} are unsupported\n", report.nodeCount,
               report.fallbacks.size(), report.unsupported.size());
  }
  return module ? Status() : module.status();
}

static Status inspect(InspectCommand &command) {
  if (command.support)
    return inspectSupport(command);
  if (command.fusion && inputKind(command.model.model) != InputKind::Artifact) {
    Expected<CompileOptions> options = compileOptions(command.model);
    if (!options)
      return options.status();
    options->explainsFusion = !command.json;
    Expected<CompiledModel> model = compileShowingProgress(*options, command.model.quiet);
    TILEWRIGHT_TRY(model);
    printRemarks(command.model, *model);
    return printFusionReport(*model, command.json);
  }
  Expected<runtime::Artifact> artifact = loadOrCompile(command.model);
  if (!artifact)
    return artifact.status();
  const runtime::Contents &contents = artifact->contents();
  if (command.fusion) {
    fmt::print("{}", indented(contents.report));
    return {};
  }
  bool all = !command.io && !command.ops && !command.memory;
  nlohmann::json json = {{"schema", jsonSchema},
                         {"model", contents.metadata.modelName},
                         {"compiler", contents.metadata.compilerVersion},
                         {"plans", nlohmann::json::array()}};
  for (const runtime::Plan &plan : contents.plans) {
    nlohmann::json entry = {{"target", plan.target}, {"mode", plan.mode}};
    if (all || command.io)
      entry["io"] = ioJson(plan);
    if (all || command.ops)
      entry["steps"] = kernelsJson(plan);
    if (all || command.memory)
      entry["memory"] = memoryJson(contents, plan);
    json["plans"].push_back(std::move(entry));
  }
  fmt::print("{}\n", toText(json, 2));
  return {};
}

void addInspectCommand(CLI::App &app, int &exitCode) {
  auto *command =
      app.add_subcommand("inspect", "Show inputs and outputs, kernels, fusion, memory, or what is not supported");
  auto options = std::make_shared<InspectCommand>();
  addModelOptions(*command, options->model);
  auto *io = command->add_flag("--io", options->io, "inputs and outputs");
  auto *ops = command->add_flag("--ops", options->ops, "kernels and the nodes in each");
  auto *fusion =
      command->add_flag("--fusion", options->fusion, "what was fused, and why not more; of an artifact as JSON");
  auto *memory = command->add_flag("--memory", options->memory, "bytes of constants and code, number of temporaries");
  auto *support =
      command->add_flag("--support", options->support, "all nodes that are unsupported or run through the reference");
  for (CLI::Option *other : {io, ops, memory})
    fusion->excludes(other), support->excludes(other);
  support->excludes(fusion);
  for (const char *ofCompiling : {"--target", "--fuse", "--dump-stages", "--cubin", "--jobs"})
    support->excludes(command->get_option(ofCompiling)); // import alone decides
  command->add_flag("--json", options->json, "print JSON where text is the default");
  command->footer("Example: tilewright inspect model.onnx --support");
  command->callback([options, &exitCode] { exitCode = report(inspect(*options)); });
}

} // namespace tilewright
