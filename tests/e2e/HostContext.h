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

inline Expected<std::vector<Tensor>> runOnHost(CompileOptions options, PlanMode mode, std::span<const Tensor> inputs) {
  auto context = hostContext(std::move(options), mode);
  return context ? (*context)->run(inputs) : context.status();
}

} // namespace tilewright::test
