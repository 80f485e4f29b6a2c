// SPDX-License-Identifier: Apache-2.0
// One artifact with symbolic sizes serves every batch and sequence length: fused, unfused and reference plans agree at
// each size. The code is loaded once, so not even the driver compiles for a size.
#include "backend/Pipeline.h"
#include "models/Random.h"
#include "runtime/Devices.h"
#include "runtime/execute/Context.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

using namespace tilewright;
using namespace tilewright::runtime;

namespace {

/// A context for each plan of a demo model: fused and unfused on `device`, the reference on the host.
class Demo {
public:
  Demo(const std::string &name, std::shared_ptr<Device> device) {
    const char *demos = std::getenv("TILEWRIGHT_DEMOS");
    CompileOptions options;
    options.modelPath = std::string(demos ? demos : TILEWRIGHT_BINARY_DIR "/models/demo") + "/" + name + "/model.onnx";
    options.modes = {PlanMode::All, PlanMode::None, PlanMode::Reference};
    if (!device->info().hostMemory)
      options.targets.push_back(device->info().targets.front());
    auto compiled = compileModel(options);
    auto host = openDevice("host");
    if (!compiled || !host) {
      ADD_FAILURE() << (compiled ? host.status() : compiled.status()).message();
      return;
    }
    for (const char *mode : {"all", "none", "reference"}) {
      auto artifact = compiled->artifact();
      std::shared_ptr<Device> where = contexts.size() < 2 ? device : *host;
      auto program = artifact ? Program::create(std::move(*artifact), where->info(), mode) : artifact.status();
      auto context = program ? Context::create(*program, where) : program.status();
      if (!context) {
        ADD_FAILURE() << mode << ": " << context.status().message();
        return;
      }
      contexts.push_back(std::move(*context));
    }
  }

  std::vector<std::unique_ptr<Context>> contexts; // fused, unfused, reference
};

Tensor randomTensor(Shape shape) {
  Tensor tensor = Tensor::allocate(DType::F32, std::move(shape));
  models::Random random("inputs");
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.data<float>()[i] = static_cast<float>(random.normal());
  return tensor;
}

/// The tolerance of f32: relative 1e-3, absolute 1e-5.
void expectNear(const Tensor &got, const Tensor &want, const std::string &what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  for (int64_t i = 0; i < want.count(); ++i) {
    float g = got.data<float>()[i], w = want.data<float>()[i];
    ASSERT_LE(std::fabs(g - w), 1e-5f + 1e-3f * std::fabs(w)) << what << ", element " << i;
  }
}

void runAtAll(Demo &demo, const std::vector<Shape> &shapes) {
  ASSERT_EQ(demo.contexts.size(), 3u);
  std::vector<uint64_t> loads; // of code, at the first size
  for (const Shape &shape : shapes) {
    std::string what = "at";
    for (int64_t size : shape)
      what += " " + std::to_string(size);
    std::vector<Tensor> inputs = {randomTensor(shape)}, results;
    for (auto &context : demo.contexts) {
      auto outputs = context->run(inputs);
      ASSERT_TRUE(outputs.ok()) << what << ": " << outputs.status().message();
      ASSERT_EQ(outputs->size(), 1u);
      results.push_back(outputs->front());
    }
    if (loads.empty())
      for (auto &context : demo.contexts)
        loads.push_back(context->program().codeLoads());
    expectNear(results[0], results[2], "fused " + what);
    expectNear(results[1], results[2], "unfused " + what);
  }
  for (size_t mode : {0, 1}) {
    // The compiled plans: code was loaded at the first size alone, no operator ran through the reference, and each size
    // instantiated the plan once more.
    EXPECT_GE(loads[mode], 1u);
    EXPECT_EQ(demo.contexts[mode]->program().codeLoads(), loads[mode]);
    EXPECT_EQ(demo.contexts[mode]->counters().hostCalls, 0u);
    EXPECT_GT(demo.contexts[mode]->counters().launches, 0u);
    EXPECT_EQ(demo.contexts[mode]->counters().instances, shapes.size());
  }
  EXPECT_GT(demo.contexts[2]->counters().hostCalls, 0u);
}

class RunTimeSizes : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    auto opened = openDevice(GetParam());
    if (!opened)
      GTEST_SKIP() << opened.status().message();
    device = *opened;
  }
  std::shared_ptr<Device> device;
};

} // namespace

TEST_P(RunTimeSizes, MlpAtEveryBatch) {
  Demo demo("mlp", device);
  runAtAll(demo, {{1, 784}, {7, 784}, {64, 784}});
}

TEST_P(RunTimeSizes, EncoderAtEveryBatchAndSequence) {
  Demo demo("encoder", device);
  runAtAll(demo, {{1, 1, 256}, {1, 17, 256}, {7, 17, 256}, {64, 17, 256}, {1, 128, 256}, {7, 1, 256}});
}

INSTANTIATE_TEST_SUITE_P(Devices, RunTimeSizes, testing::Values("host", "cuda"),
                         [](const auto &info) { return info.param; });
