// SPDX-License-Identifier: Apache-2.0
// Random graphs mean the same before and after normalization, before and after grouping in every mode, and compiled,
// fused and unfused.
#include "tests/fusion/RandomGraph.h"
#include "runtime/Devices.h"

#include "backend/Pipeline.h"
#include "frontend/normalize/Normalize.h"
#include "fusion/Geometry.h"
#include "fusion/groups/FormGroups.h"
#include "runtime/execute/Context.h"
#include "tests/ScratchFolder.h"
#include "tests/reference/GraphInterpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

using namespace mlir;
using namespace tilewright;

namespace {

constexpr unsigned shares = 10;                                     // cases that run side by side
constexpr unsigned interpreted = 30, compiled = 4, operations = 18; // graphs of each share

std::vector<Tensor> inputsFor(ModuleOp module, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<Tensor> inputs;
  for (Type type : module.lookupSymbol<func::FuncOp>("main").getArgumentTypes()) {
    Tensor tensor = Tensor::allocate(DType::F32, Shape(cast<RankedTensorType>(type).getShape()));
    for (int64_t i = 0; i < tensor.count(); ++i)
      tensor.data<float>()[i] = uniform(random);
    inputs.push_back(tensor);
  }
  return inputs;
}

/// Sums may be taken in another order: a few units in the last place of the largest partial sum.
void expectClose(const std::vector<Tensor> &expected, const std::vector<Tensor> &found) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].shape(), found[i].shape());
    for (int64_t j = 0; j < expected[i].count(); ++j) {
      float a = expected[i].data<float>()[j], b = found[i].data<float>()[j];
      ASSERT_LE(std::abs(a - b), 1e-4f * (1 + std::abs(a))) << "output " << i << ", element " << j;
    }
  }
}

void check(ModuleOp module, const std::vector<Tensor> &inputs, const std::vector<Tensor> &expected) {
  ASSERT_TRUE(succeeded(module.verify()));
  auto found = graph::interpret(module, inputs);
  ASSERT_TRUE(found.ok()) << found.status().message();
  expectClose(expected, *found);
}

struct RandomGraphs : testing::TestWithParam<unsigned> {
  RandomGraphs() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<graph::GraphDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  }
  MLIRContext context;
};

TEST_P(RandomGraphs, KeepTheirMeaning) {
  for (unsigned seed = GetParam() * interpreted; seed < (GetParam() + 1) * interpreted; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    OwningOpRef<ModuleOp> module = test::randomGraph(context, seed, operations);
    ASSERT_TRUE(succeeded(module->verify()));
    std::vector<Tensor> inputs = inputsFor(*module, seed);
    auto expected = graph::interpret(*module, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    ASSERT_TRUE(succeeded(normalizeGraph(*module)));
    check(*module, inputs, *expected);
    for (auto mode : {fusion::FusionMode::None, fusion::FusionMode::Epilogue, fusion::FusionMode::All}) {
      SCOPED_TRACE(fusion::name(mode).str());
      OwningOpRef<ModuleOp> grouped(module->clone());
      ASSERT_TRUE(succeeded(fusion::formGroups(*grouped, mode)));
      check(*grouped, inputs, *expected);
      for (auto kernel : grouped->getOps<graph::KernelOp>())
        EXPECT_TRUE(succeeded(fusion::analyze(kernel)));
    }
    if (HasFatalFailure())
      return;
  }
}

/// The graph's text, compiled for the host in `mode` and run.
Expected<std::vector<Tensor>> compileAndRun(const std::string &path, PlanMode mode, const std::vector<Tensor> &inputs) {
  CompileOptions options;
  options.modelPath = path;
  options.modes = {mode};
  auto model = compileModel(options);
  if (!model)
    return model.status();
  auto artifact = model->artifact();
  auto device = runtime::openDevice("host");
  if (!artifact || !device)
    return artifact ? device.status() : artifact.status();
  auto program = runtime::Program::create(*artifact, (*device)->info(), std::string(name(mode)));
  if (!program)
    return program.status();
  auto run = runtime::Context::create(*program, *device);
  if (!run)
    return run.status();
  return (*run)->run(inputs);
}

TEST_P(RandomGraphs, RunFusedAndUnfused) {
  test::ScratchFolder scratch;
  std::string path = scratch / "graph.mlir";
  for (unsigned i = 0; i < compiled; ++i) {
    unsigned seed = 1000000 + GetParam() * compiled + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    OwningOpRef<ModuleOp> module = test::randomGraph(context, seed, operations);
    std::vector<Tensor> inputs = inputsFor(*module, seed);
    auto expected = graph::interpret(*module, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    std::error_code failure;
    llvm::raw_fd_ostream file(path, failure);
    module->print(file);
    file.close();
    for (PlanMode mode : {PlanMode::None, PlanMode::All}) {
      SCOPED_TRACE(name(mode));
      auto found = compileAndRun(path, mode, inputs);
      ASSERT_TRUE(found.ok()) << found.status().message();
      expectClose(*expected, *found);
    }
    if (HasFatalFailure())
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(Share, RandomGraphs, testing::Range(0u, shares));

} // namespace
