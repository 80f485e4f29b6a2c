// SPDX-License-Identifier: Apache-2.0
// Compiles with symbolic sizes, runs at actual ones.
#include "tests/fusion/FiveSizes.h"
#include "runtime/Devices.h"

#include "backend/Pipeline.h"
#include "runtime/execute/Context.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Tensor> inputsAt(const RandomModel &model, size_t assignment, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Tensor> inputs;
  for (const std::vector<Extent> &extents : model.shapes) {
    Shape shape;
    for (const Extent &extent : extents)
      shape.push_back(extent[assignment]);
    inputs.push_back(Tensor::allocate(DType::F32, shape));
    for (int64_t i = 0; i < inputs.back().count(); ++i)
      inputs.back().data<float>()[i] = uniform(random);
  }
  return inputs;
}

Expected<std::shared_ptr<const runtime::Program>> compile(const RandomModel &model, PlanMode mode, bool compiledOnly,
                                                          const std::vector<Tensor> *inputs = nullptr) {
  CompileOptions options;
  options.modelPath = "random.onnx";
  options.modelBytes = std::make_shared<std::string>(model.proto.SerializeAsString());
  options.modes = {mode};
  options.import.noFallback = compiledOnly;
  for (size_t i = 0; inputs && i < inputs->size(); ++i)
    options.import.shapes[model.inputs[i]] = (*inputs)[i].shape();
  auto compiled = compileModel(options);
  TILEWRIGHT_TRY(compiled);
  auto artifact = compiled->artifact();
  TILEWRIGHT_TRY(artifact);
  auto device = runtime::openDevice("host");
  TILEWRIGHT_TRY(device);
  return runtime::Program::create(*artifact, (*device)->info(), std::string(name(mode)));
}

Expected<std::vector<Tensor>> run(const std::shared_ptr<const runtime::Program> &program,
                                  const std::vector<Tensor> &inputs) {
  auto device = runtime::openDevice("host");
  TILEWRIGHT_TRY(device);
  auto context = runtime::Context::create(program, *device);
  TILEWRIGHT_TRY(context);
  return (*context)->run(inputs);
}

/// With a tolerance, because each layer may sum in another order.
void expectClose(const std::vector<Tensor> &expected, const std::vector<Tensor> &found) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].shape(), found[i].shape()) << "output " << i;
    float largest = 0;
    for (int64_t j = 0; j < expected[i].count(); ++j)
      largest = std::max(largest, std::abs(expected[i].data<float>()[j]));
    for (int64_t j = 0; j < expected[i].count(); ++j) {
      float a = expected[i].data<float>()[j], b = found[i].data<float>()[j];
      ASSERT_LE(std::abs(a - b), 2e-4f * (1 + largest)) << "output " << i << ", element " << j;
    }
  }
}

} // namespace

Verdict test::compareAtFiveSizes(const RandomModel &model, unsigned seed, bool compiledOnly) {
  std::vector<std::vector<Tensor>> inputs, expected;
  auto wrong = [](const Status &status) {
    ADD_FAILURE() << status.message();
    return Verdict::Ran;
  };
  for (size_t at = 0; at < assignments; ++at) {
    inputs.push_back(inputsAt(model, at, seed));
    auto reference = compile(model, PlanMode::Reference, false, &inputs.back());
    if (!reference.ok())
      return wrong(reference.status());
    auto values = run(*reference, inputs.back());
    if (!values.ok())
      return wrong(values.status());
    expected.push_back(*values);
  }
  for (PlanMode mode : {PlanMode::None, PlanMode::All}) {
    SCOPED_TRACE(name(mode));
    auto program = compile(model, mode, compiledOnly);
    if (!program.ok() && program.status().code() != Code::Internal) {
      std::cout << "seed " << seed << " is refused: " << program.status().message() << "\n";
      return Verdict::Refused;
    }
    if (!program.ok())
      return wrong(program.status());
    for (size_t at = 0; at < assignments; ++at) {
      SCOPED_TRACE("assignment " + std::to_string(at));
      auto found = run(*program, inputs[at]);
      if (!found.ok())
        return wrong(found.status());
      expectClose(expected[at], *found);
    }
  }
  return Verdict::Ran;
}
