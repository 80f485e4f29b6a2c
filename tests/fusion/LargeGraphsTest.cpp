// SPDX-License-Identifier: Apache-2.0
// Graphs of thousands of nodes: kernels stay within their limits, code grows linearly, and chains with exponentially
// many paths compile. These tests do not measure time, which scripts/compile-times does, but do not end if something is
// exponential.
#include "backend/Pipeline.h"
#include "frontend/graph/GraphOps.h"
#include "frontend/import/Importer.h"
#include "frontend/normalize/Normalize.h"
#include "fusion/FusionReport.h"
#include "fusion/cost/CostModel.h"
#include "fusion/cost/KernelLimits.h"
#include "fusion/groups/FormGroups.h"
#include "models/ModelBuilder.h"
#include "runtime/Devices.h"
#include "runtime/execute/Context.h"
#include "runtime/execute/Program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using namespace tilewright;
using models::ModelBuilder;

namespace {

constexpr int64_t elements = 100;

/// `count` nodes, each of which reads the one before it as often as its operator has operands.
onnx::ModelProto chain(std::vector<std::string> ops, unsigned count) {
  ModelBuilder model("chain", DType::F32);
  models::Value x = model.input("x", {elements});
  for (unsigned i = 0; i < count; ++i) {
    const std::string &op = ops[i % ops.size()];
    x = op == "Add" || op == "Mul" ? model.op(op, {x, x}) : model.op(op, {x});
  }
  model.output("y", x, {elements});
  return model.model();
}

/// Operands are among the last few values, so that many paths lead from each node to the others.
onnx::ModelProto tangle(unsigned seed, unsigned count) {
  ModelBuilder model("tangle", DType::F32);
  std::mt19937 random(seed);
  std::vector<models::Value> values = {model.input("x", {elements})};
  auto recent = [&] { return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 6)]; };
  const char *unary[] = {"Tanh", "Sigmoid", "Erf", "Abs", "Softplus"}, *binary[] = {"Add", "Sub", "Max", "Min"};
  for (unsigned i = 0; i < count; ++i)
    values.push_back(random() % 3 ? model.op(binary[random() % 4], {recent(), recent()})
                                  : model.op(unary[random() % 5], {recent()}));
  models::Value last = model.op("Add", {values[count], values[count - 1]});
  for (unsigned i = 2; i < 6; ++i)
    last = model.op("Add", {last, values[count - i]});
  model.output("y", last, {elements});
  return model.model();
}

CompileOptions optionsFor(const onnx::ModelProto &model, PlanMode mode) {
  CompileOptions options;
  options.modelPath = "large.onnx";
  options.modelBytes = std::make_shared<std::string>(model.SerializeAsString());
  options.modes = {mode};
  return options;
}

/// Launches of the host's plan.
size_t launches(const onnx::ModelProto &model, PlanMode mode) {
  auto compiled = compileModel(optionsFor(model, mode));
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? compiled->contents().plans.front().steps.size() : 0;
}

std::vector<Tensor> run(const onnx::ModelProto &model, PlanMode mode) {
  auto compiled = compileModel(optionsFor(model, mode));
  auto artifact = compiled->artifact();
  auto device = runtime::openDevice("host");
  auto program = runtime::Program::create(*artifact, (*device)->info(), std::string(name(mode)));
  auto context = runtime::Context::create(*program, *device);
  Tensor input = Tensor::allocate(DType::F32, {elements});
  for (int64_t i = 0; i < elements; ++i)
    input.data<float>()[i] = 0.02f * i - 1;
  auto outputs = (*context)->run(std::vector<Tensor>{input});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return *outputs;
}

TEST(LargeGraphs, DoublingPathsCompile) {
  // Before answers were kept, three functions in a row took half a minute, and 24 additions of a value to itself two
  // seconds.
  for (std::vector<std::string> ops :
       {std::vector<std::string>{"Tanh"}, {"Sigmoid"}, {"Erf"}, {"Softplus", "Tanh", "Mul"}, {"Mul"}})
    for (PlanMode mode : {PlanMode::All, PlanMode::None})
      EXPECT_GT(launches(chain(ops, 100), mode), 0u) << ops.front();
}

TEST(LargeGraphs, ChainsAreCutWhereKernelsAreFull) {
  unsigned limit = fusion::kernelLimits.operations;
  EXPECT_EQ(launches(chain({"Add"}, limit), PlanMode::All), 1u);
  EXPECT_EQ(launches(chain({"Add"}, limit + 1), PlanMode::All), 2u);
  EXPECT_EQ(launches(chain({"Add"}, 16000), PlanMode::All), 16000 / limit);
  EXPECT_EQ(launches(chain({"Add"}, 16000), PlanMode::None), 16000u);
}

TEST(LargeGraphs, ReshapesThatDoNotCancelCompile) {
  // Coordinates double with each reshape of a transpose; 64 of these nodes never ended.
  ModelBuilder model("movement", DType::F32);
  models::Value x = model.input("x", {32, 128}), parts = model.integers("parts", {8, 16, 32}),
                whole = model.integers("whole", {32, 128});
  for (unsigned i = 0; i < 100; ++i) {
    x = model.op("Reshape", {model.op("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0}}}), parts});
    x = model.op("Reshape", {model.op("Relu", {x}), whole});
  }
  model.output("y", x, {32, 128});
  size_t count = launches(model.model(), PlanMode::All);
  EXPECT_GE(count, 100 / (fusion::kernelLimits.reshapes + 1));
  EXPECT_LT(count, 100u);
}

TEST(LargeGraphs, ManyPartsAreJoinedByAndBy) {
  ModelBuilder model("parts", DType::F32);
  models::Value x = model.input("x", {elements});
  std::vector<models::Value> parts;
  for (unsigned i = 0; i < 1000; ++i)
    parts.push_back(i % 2 ? model.op("Neg", {x}) : x);
  model.output("y", model.op("Concat", parts, {{"axis", int64_t(0)}}), {1000 * elements});
  std::vector<Tensor> found = run(model.model(), PlanMode::All);
  ASSERT_EQ(found.size(), 1u);
  for (int64_t i = 0; i < 1000 * elements; ++i) {
    float input = 0.02f * (i % elements) - 1;
    ASSERT_EQ(found[0].data<float>()[i], i / elements % 2 ? -input : input) << "element " << i;
  }
}

TEST(LargeGraphs, ManyUnusedInputsAreCheap) {
  ModelBuilder model("inputs", DType::F32);
  model.output("y", model.op("Relu", {model.input("x", {elements})}), {elements});
  for (unsigned i = 0; i < 20000; ++i) // a type for every number of arguments took 5 GB
    model.input("unused" + std::to_string(i), {elements});
  EXPECT_EQ(launches(model.model(), PlanMode::All), 1u);
}

TEST(LargeGraphs, WeightsAreReadWhereTheCompilerPackedThem) {
  ModelBuilder model("weights", DType::F32);
  model.output("y", model.linear("w", model.input("x", {4, 256}), 256, 512), {4, 512});
  auto compiled = compileModel(optionsFor(model.model(), PlanMode::All));
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  auto artifact = compiled->artifact();
  auto device = runtime::openDevice("host");
  auto program = runtime::Program::create(*artifact, (*device)->info(), "all");
  auto image = (*program)->image(*device);
  ASSERT_TRUE(image.ok()) << image.status().message();
  const auto &constants = artifact->contents().constants;
  size_t used = 0;
  for (size_t i = 0; i < constants.size(); ++i)
    if ((*image)->constants[i]) {
      EXPECT_EQ((*image)->constants[i], constants[i].data()) << "constant " << i << " is in memory twice";
      ++used;
    }
  EXPECT_GE(used, 2u);
}

TEST(LargeGraphs, KernelsStayWithinTheirLimits) {
  DialectRegistry registry;
  registerFrontendDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = importModelBytes(context, tangle(1, 3000).SerializeAsString(), ".", {});
  ASSERT_TRUE(module.ok()) << module.status().message();
  ASSERT_TRUE(succeeded(normalizeGraph(**module)));
  fusion::FusionReport report;
  ASSERT_TRUE(succeeded(fusion::formGroups(**module, fusion::FusionMode::All, &report)));
  unsigned kernels = 0;
  for (auto kernel : (*module)->getOps<graph::KernelOp>()) {
    unsigned operations = 0, work = 0;
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (!fusion::isConstantLike(&op))
        ++operations, work += fusion::elementWork(&op);
    EXPECT_LE(operations, fusion::kernelLimits.operations);
    EXPECT_LE(work, fusion::kernelLimits.work);
    ++kernels;
  }
  EXPECT_LE(kernels, 250u); // 3,000 nodes with the work of about 60 kernels, some of which meet paths around
  EXPECT_NE(report.json().find("\"too-large\""), std::string::npos);
}

TEST(LargeGraphs, CodeGrowsAsTheGraphDoes) {
  auto lines = [](unsigned count) {
    auto text = emitStage(optionsFor(tangle(2, count), PlanMode::All), Stage::Llvm);
    EXPECT_TRUE(text.ok()) << text.status().message();
    return static_cast<double>(std::ranges::count(*text, '\n'));
  };
  EXPECT_LE(lines(600), 2.2 * lines(300));
}

TEST(LargeGraphs, CutKernelsComputeTheSame) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    onnx::ModelProto model = tangle(seed, 400);
    std::vector<Tensor> expected = run(model, PlanMode::Reference);
    for (PlanMode mode : {PlanMode::All, PlanMode::None}) {
      std::vector<Tensor> found = run(model, mode);
      for (int64_t i = 0; i < elements; ++i) {
        float a = expected[0].data<float>()[i], b = found[0].data<float>()[i];
        ASSERT_LE(std::abs(a - b), 1e-4f * (1 + std::abs(a))) << "seed " << seed << ", element " << i;
      }
    }
  }
}

} // namespace
