// SPDX-License-Identifier: Apache-2.0
// Compiles a model in memory and runs it once; inputs and outputs by name.
#pragma once

#include "backend/Pipeline.h"
#include "runtime/Device.h"
#include "tools/tilewright/model/OnnxModel.h"

namespace tilewright {

/// How to compile and where to run. External weights are relative to `options.modelPath`.
struct Evaluation {
  CompileOptions options;
  std::shared_ptr<runtime::Device> device;
};

/// The same model in reference mode on the host, compiled for the sizes of `inputs`, so that all shapes are known.
Expected<Evaluation> referenceOf(const Evaluation &evaluation, const ValueMap &inputs);

/// The outputs of the model in the one mode of `options`; also its plan, unless `plan` is null.
Expected<ValueMap> evaluate(const Evaluation &evaluation, const ValueMap &inputs, runtime::Plan *plan = nullptr);

/// The same for `model` in memory.
Expected<ValueMap> evaluateModel(const Evaluation &evaluation, const onnx::ModelProto &model, const ValueMap &inputs,
                                 runtime::Plan *plan = nullptr);

} // namespace tilewright
