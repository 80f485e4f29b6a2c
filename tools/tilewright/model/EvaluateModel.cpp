// SPDX-License-Identifier: Apache-2.0
// Compiles and runs a ModelProto.
#include "tools/tilewright/model/EvaluateModel.h"
#include "runtime/Devices.h"

#include "runtime/execute/Context.h"

#include <fmt/format.h>

namespace tilewright {

Expected<Evaluation> referenceOf(const Evaluation &evaluation, const ValueMap &inputs) {
  Evaluation reference = evaluation;
  for (const auto &[name, tensor] : inputs)
    reference.options.import.shapes[name] = tensor.shape();
  reference.options.modes = {PlanMode::Reference};
  reference.options.targets = {"host"};
  reference.options.import.noFallback = false;
  auto host = runtime::openDevice("host");
  TILEWRIGHT_TRY(host);
  reference.device = *host;
  return reference;
}

static Expected<std::vector<Tensor>> inputsOf(const runtime::Plan &plan, const ValueMap &values) {
  std::vector<Tensor> inputs;
  for (runtime::ValueId id : plan.inputs) {
    auto value = values.find(plan.values[id].name);
    if (value == values.end())
      return Status(Code::Internal, fmt::format("the value '{}' is not known", plan.values[id].name));
    inputs.push_back(value->second);
  }
  return inputs;
}

Expected<ValueMap> evaluate(const Evaluation &evaluation, const ValueMap &inputs, runtime::Plan *plan) {
  const CompileOptions &options = evaluation.options;
  Expected<CompiledModel> compiled = compileModel(options);
  TILEWRIGHT_TRY(compiled);
  Expected<runtime::Artifact> artifact = compiled->artifact();
  TILEWRIGHT_TRY(artifact);
  auto program =
      runtime::Program::create(*artifact, evaluation.device->info(), std::string(name(options.modes.front())));
  TILEWRIGHT_TRY(program);
  Expected<std::vector<Tensor>> ordered = inputsOf((*program)->plan(), inputs);
  TILEWRIGHT_TRY(ordered);
  auto context = runtime::Context::create(*program, evaluation.device);
  TILEWRIGHT_TRY(context);
  Expected<std::vector<Tensor>> outputs = (*context)->run(*ordered);
  TILEWRIGHT_TRY(outputs);
  if (plan)
    *plan = (*program)->plan();
  ValueMap values;
  for (size_t i = 0; i < outputs->size(); ++i)
    values[(*program)->output(i).name] = (*outputs)[i];
  return values;
}

Expected<ValueMap> evaluateModel(const Evaluation &evaluation, const onnx::ModelProto &model, const ValueMap &inputs,
                                 runtime::Plan *plan) {
  auto bytes = std::make_shared<std::string>();
  if (!model.SerializeToString(bytes.get()))
    return Status(Code::Unsupported,
                  "the model is too large to be written in one piece: its weights belong into external data");
  Evaluation ofModel = evaluation;
  ofModel.options.modelBytes = bytes;
  return evaluate(ofModel, inputs, plan);
}

} // namespace tilewright
