// SPDX-License-Identifier: Apache-2.0
// Groups do not depend on how a model is written: names, order, identities, swapped operands, decomposed operators.
#include "frontend/graph/GraphOps.h"
#include "frontend/import/Importer.h"
#include "frontend/normalize/Normalize.h"
#include "fusion/groups/FormGroups.h"
#include "models/Demos.h"

#include "mlir/IR/OperationSupport.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

using namespace mlir;
using namespace tilewright;
using models::ModelBuilder;

namespace {

class ModelInvariance : public testing::Test {
protected:
  ModelInvariance() : context(dialects(), MLIRContext::Threading::DISABLED) { context.loadAllAvailableDialects(); }

  static DialectRegistry dialects() {
    DialectRegistry registry;
    registerFrontendDialects(registry);
    return registry;
  }

  OwningOpRef<ModuleOp> group(const onnx::ModelProto &model, fusion::FusionMode mode = fusion::FusionMode::All) {
    auto module = importModelBytes(context, model.SerializeAsString(), ".", {});
    if (!module) {
      ADD_FAILURE() << module.status().message();
      return {};
    }
    EXPECT_TRUE(succeeded(normalizeGraph(**module)));
    EXPECT_TRUE(succeeded(fusion::formGroups(**module, mode)));
    EXPECT_TRUE(succeeded((*module)->verify()));
    return std::move(*module);
  }

  size_t launches(const onnx::ModelProto &model) { return kernelsOf(*group(model)).size(); }

  /// The kernel of each launch, in order.
  static std::vector<graph::KernelOp> kernelsOf(ModuleOp module) {
    std::vector<graph::KernelOp> kernels;
    module.walk(
        [&](graph::LaunchOp launch) { kernels.push_back(module.lookupSymbol<graph::KernelOp>(launch.getKernel())); });
    return kernels;
  }

  static void expectSame(ModuleOp a, ModuleOp b) {
    auto left = kernelsOf(a), right = kernelsOf(b);
    ASSERT_EQ(left.size(), right.size());
    for (size_t i = 0; i < left.size(); ++i)
      EXPECT_TRUE(OperationEquivalence::isRegionEquivalentTo(&left[i].getBody(), &right[i].getBody(),
                                                             OperationEquivalence::IgnoreLocations))
          << "launch " << i << ": " << left[i].getSymName().str() << " and " << right[i].getSymName().str();
  }

  MLIRContext context;
};

/// Every node and value gets another name, but for the empty ones.
void rename(onnx::GraphProto &graph) {
  auto renamed = [](const std::string &name) {
    return name.empty() ? name : "z" + std::string(name.rbegin(), name.rend());
  };
  for (auto &node : *graph.mutable_node()) {
    node.set_name(renamed(node.name()));
    for (auto &input : *node.mutable_input())
      input = renamed(input);
    for (auto &output : *node.mutable_output())
      output = renamed(output);
  }
  for (auto &initializer : *graph.mutable_initializer())
    initializer.set_name(renamed(initializer.name()));
  for (auto *values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
    for (auto &value : *values)
      value.set_name(renamed(value.name()));
}

/// A random topological order.
void reorder(onnx::GraphProto &graph, std::mt19937 &random) {
  std::vector<onnx::NodeProto> waiting(graph.node().begin(), graph.node().end()), ordered;
  std::set<std::string> missing;
  for (const auto &node : waiting)
    missing.insert(node.output().begin(), node.output().end());
  while (!waiting.empty()) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < waiting.size(); ++i)
      if (std::none_of(waiting[i].input().begin(), waiting[i].input().end(),
                       [&](const std::string &name) { return missing.contains(name); }))
        ready.push_back(i);
    size_t next = ready[random() % ready.size()];
    for (const std::string &output : waiting[next].output())
      missing.erase(output);
    ordered.push_back(waiting[next]);
    waiting.erase(waiting.begin() + next);
  }
  graph.mutable_node()->Assign(ordered.begin(), ordered.end());
}

/// Every third value goes through an Identity before its readers see it.
void insertIdentities(onnx::GraphProto &graph) {
  std::vector<onnx::NodeProto> nodes;
  std::map<std::string, std::string> now;
  for (auto node : graph.node()) {
    for (auto &input : *node.mutable_input())
      if (now.contains(input))
        input = now[input];
    nodes.push_back(node);
    if (nodes.size() % 3 == 0) {
      onnx::NodeProto identity;
      identity.set_op_type("Identity");
      identity.set_name(node.name() + ".same");
      identity.add_input(node.output(0));
      identity.add_output(node.output(0) + ".same");
      now[node.output(0)] = node.output(0) + ".same";
      nodes.push_back(identity);
    }
  }
  graph.mutable_node()->Assign(nodes.begin(), nodes.end());
}

void swapOperands(onnx::GraphProto &graph, std::mt19937 &random) {
  for (auto &node : *graph.mutable_node())
    if ((node.op_type() == "Add" || node.op_type() == "Mul") && random() % 2)
      node.mutable_input()->SwapElements(0, 1);
}

TEST_F(ModelInvariance, DemosKeepTheirGroups) {
  for (const models::Demo &demo : models::demos()) {
    if (demo.name.starts_with("matmul") || demo.name == "product") // large, and one kernel
      continue;
    ModelBuilder builder(std::string(demo.name), demo.type);
    demo.build(builder);
    for (auto mode : {fusion::FusionMode::None, fusion::FusionMode::All}) {
      OwningOpRef<ModuleOp> expected = group(builder.model(), mode);
      for (unsigned seed = 0; seed < 3; ++seed) {
        std::mt19937 random(seed);
        onnx::ModelProto other = builder.model();
        insertIdentities(*other.mutable_graph());
        swapOperands(*other.mutable_graph(), random);
        reorder(*other.mutable_graph(), random);
        rename(*other.mutable_graph());
        SCOPED_TRACE(std::string(demo.name) + ", mode " + fusion::name(mode).str() + ", seed " + std::to_string(seed));
        OwningOpRef<ModuleOp> found = group(other, mode);
        expectSame(*expected, *found);
      }
    }
  }
}

TEST_F(ModelInvariance, SpelledOutEncoderHasAsManyKernels) {
  ModelBuilder composite("encoder", DType::F32), primitive("encoder", DType::F32);
  models::buildEncoder(composite);
  models::buildEncoderDecomposed(primitive);
  EXPECT_EQ(launches(composite.model()), launches(primitive.model()));
}

//===- Spellings --------------------------------------------------------------------------------------------------===//

using Spelling = models::Value (*)(ModelBuilder &, models::Value);
constexpr int64_t size = 64;

models::Value geluHalves(ModelBuilder &m, models::Value x) { return m.gelu("g", x); }
models::Value geluProducts(ModelBuilder &m, models::Value x) {
  models::Value erf = m.op("Erf", {m.op("Mul", {x, m.scalar("r", 0.70710678)})});
  return m.op("Mul", {m.op("Mul", {x, m.op("Add", {m.scalar("one", 1), erf})}), m.scalar("half", 0.5)});
}
models::Value geluTanh(ModelBuilder &m, models::Value x) {
  models::Value cube = m.op("Pow", {x, m.scalar("three", 3)});
  models::Value inner =
      m.op("Mul", {m.op("Add", {x, m.op("Mul", {cube, m.scalar("a", 0.044715)})}), m.scalar("b", 0.79788456)});
  return m.op("Mul",
              {m.op("Mul", {x, m.scalar("half", 0.5)}), m.op("Add", {m.op("Tanh", {inner}), m.scalar("one", 1)})});
}

models::Value siluSigmoid(ModelBuilder &m, models::Value x) { return m.op("Mul", {x, m.op("Sigmoid", {x})}); }
models::Value siluQuotient(ModelBuilder &m, models::Value x) {
  return m.op("Div", {x, m.op("Add", {m.op("Exp", {m.op("Neg", {x})}), m.scalar("one", 1)})});
}
models::Value siluTanh(ModelBuilder &m, models::Value x) {
  models::Value half = m.op("Mul", {x, m.scalar("half", 0.5)});
  return m.op("Add", {half, m.op("Mul", {half, m.op("Tanh", {half})})});
}

models::Value softmaxNode(ModelBuilder &m, models::Value x) { return m.op("Softmax", {x}, {{"axis", int64_t(-1)}}); }
models::Value softmaxShifted(ModelBuilder &m, models::Value x) {
  models::Value e = m.op("Exp", {m.op("Sub", {x, m.op("ReduceMax", {x}, {{"axes", std::vector<int64_t>{-1}}})})});
  return m.op("Div", {e, m.op("ReduceSum", {e, m.integers("axes", {-1})})});
}
models::Value softmaxPlain(ModelBuilder &m, models::Value x) {
  models::Value e = m.op("Exp", {x});
  return m.op("Mul", {e, m.op("Reciprocal", {m.op("ReduceSum", {e, m.integers("axes", {1})})})});
}

models::Value normNode(ModelBuilder &m, models::Value x) { return m.layerNorm("n", x, size); }
models::Value normPow(ModelBuilder &m, models::Value x) {
  std::vector<int64_t> last = {-1};
  models::Value centred = m.op("Sub", {x, m.op("ReduceMean", {x}, {{"axes", last}})});
  models::Value variance = m.op("ReduceMean", {m.op("Pow", {centred, m.scalar("two", 2)})}, {{"axes", last}});
  models::Value normal = m.op("Div", {centred, m.op("Sqrt", {m.op("Add", {variance, m.scalar("e", 1e-5)})})});
  return m.op("Add", {m.op("Mul", {normal, m.weight("scale", {size}, 0.1, 1)}), m.weight("bias", {size}, 0.1)});
}
models::Value normMoments(ModelBuilder &m, models::Value x) { // E[x^2] - E[x]^2
  std::vector<int64_t> last = {1};
  models::Value mean = m.op("ReduceMean", {x}, {{"axes", last}});
  models::Value square = m.op("ReduceMean", {m.op("Mul", {x, x})}, {{"axes", last}});
  models::Value variance = m.op("Sub", {square, m.op("Mul", {mean, mean})});
  models::Value inverse = m.op("Reciprocal", {m.op("Sqrt", {m.op("Add", {variance, m.scalar("e", 1e-5)})})});
  return m.op("Mul", {m.op("Sub", {x, mean}), m.op("Mul", {inverse, m.weight("scale", {size}, 0.1, 1)})});
}

TEST_F(ModelInvariance, SpellingsOfOneFunctionAreOneKernel) {
  struct Row {
    const char *name;
    Spelling spellings[3];
    size_t afterContraction; // launches, with a matrix product before
  };
  const Row rows[] = {
      {"GELU", {geluHalves, geluProducts, geluTanh}, 1},
      {"SiLU", {siluSigmoid, siluQuotient, siluTanh}, 1},
      {"Softmax", {softmaxNode, softmaxShifted, softmaxPlain}, 2},
      {"LayerNorm", {normNode, normPow, normMoments}, 2},
  };
  for (const Row &row : rows)
    for (size_t i = 0; i < 3; ++i) {
      SCOPED_TRACE(std::string(row.name) + " " + std::to_string(i));
      ModelBuilder alone("alone", DType::F16), after("after", DType::F32);
      alone.output("y", row.spellings[i](alone, alone.input("x", {"batch", size})), {"batch", size});
      after.output("y", row.spellings[i](after, after.linear("l", after.input("x", {"batch", size}), size, size)),
                   {"batch", size});
      EXPECT_EQ(launches(alone.model()), 1u);
      EXPECT_EQ(launches(after.model()), row.afterContraction);
    }
}

} // namespace
