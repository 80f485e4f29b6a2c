// Compiles a model in memory and runs it once: values in and out by name.
#pragma once

#include "backend/Pipeline.h"
#include "runtime/Device.h"
#include "tools/tilewright/model/OnnxModel.h"

namespace tilewright {

/// How to compile and where to run; `options.modelPath` says where weights lie.
struct Evaluation {
  CompileOptions options;
  std::shared_ptr<runtime::Device> device;
};

/// The same model node by node, through the reference on the host, for the sizes of `inputs`: nothing about shapes is
/// left to be inferred.
Expected<Evaluation> referenceOf(const Evaluation &evaluation, const ValueMap &inputs);

/// The outputs of the model in the one mode of `options`, and its plan where `plan` asks for it.
Expected<ValueMap> evaluate(const Evaluation &evaluation, const ValueMap &inputs, runtime::Plan *plan = nullptr);

/// The same of `model`.
Expected<ValueMap> evaluateModel(const Evaluation &evaluation, const onnx::ModelProto &model, const ValueMap &inputs,
                                 runtime::Plan *plan = nullptr);

} // namespace tilewright
