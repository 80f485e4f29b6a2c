// Random graphs mean the same before and after normalization, and before and after grouping in every mode.
#include "RandomGraph.h"

#include "frontend/graph/Interpreter.h"
#include "frontend/normalize/Normalize.h"
#include "fusion/FormGroups.h"
#include "fusion/RootKind.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using namespace tilewright;

namespace {

constexpr unsigned graphs = 300, operations = 18;

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

class RandomGraphs : public testing::TestWithParam<unsigned> {};

TEST_P(RandomGraphs, KeepTheirMeaning) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  constexpr unsigned share = graphs / 10;
  for (unsigned seed = GetParam() * share; seed < (GetParam() + 1) * share; ++seed) {
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
        EXPECT_TRUE(succeeded(fusion::classify(kernel)));
    }
    if (HasFatalFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Share, RandomGraphs, testing::Range(0u, 10u));

} // namespace
