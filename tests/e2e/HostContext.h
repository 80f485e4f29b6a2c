// SPDX-License-Identifier: Apache-2.0
// Tiny models compiled for the host, to be run by tests.
#pragma once

#include "tests/frontend/TinyModel.h"

#include "backend/Pipeline.h"
#include "runtime/Devices.h"
#include "runtime/execute/Context.h"

namespace tilewright::test {

inline CompileOptions optionsOf(const TinyModel &model) {
  CompileOptions options;
  options.modelBytes = std::make_shared<const std::string>(model.bytes());
  return options;
}

/// A context of the options' model, in one mode.
inline Expected<std::unique_ptr<runtime::Context>> hostContext(CompileOptions options, PlanMode mode) {
  options.modes = {mode};
  auto compiled = compileModel(options);
  auto artifact = compiled ? compiled->artifact() : compiled.status();
  auto device = runtime::openDevice("host");
  auto program = artifact ? runtime::Program::create(std::move(*artifact), (*device)->info(), std::string(name(mode)))
                          : artifact.status();
  return program ? runtime::Context::create(*program, *device) : program.status();
}

/// A context on the host of a plan for all sizes, or for `fixed` ones.
inline Expected<std::unique_ptr<runtime::Context>> contextOf(const TinyModel &model, PlanMode mode,
                                                             const std::vector<Shape> &fixed = {}) {
  CompileOptions options = optionsOf(model);
  for (size_t i = 0; i < fixed.size(); ++i)
    options.import.shapes[model.proto.graph().input(static_cast<int>(i)).name()] = fixed[i];
  return hostContext(std::move(options), mode);
}

inline Expected<std::vector<Tensor>> runOnHost(CompileOptions options, PlanMode mode, std::span<const Tensor> inputs) {
  auto context = hostContext(std::move(options), mode);
  return context ? (*context)->run(inputs) : context.status();
}

} // namespace tilewright::test
