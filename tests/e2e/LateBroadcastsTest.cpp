// SPDX-License-Identifier: Apache-2.0
// Sizes that only running tells, which are 1 and meet another size in a broadcast: the first plan of a model refuses
// them, and the second one takes over in the middle of the run.
#include "tests/e2e/HostContext.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

/// `positive` numbers 1, 2, ..., then `negative` numbers -1, -2, ..., then a zero.
Tensor numbers(int64_t positive, int64_t negative = 0) {
  Tensor tensor = Tensor::allocate(DType::F32, {positive + negative + 1});
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.data<float>()[i] = static_cast<float>(i < positive ? i + 1 : i < positive + negative ? positive - i - 1 : 0);
  return tensor;
}

Tensor integers(Shape shape, int64_t value) {
  Tensor tensor = Tensor::allocate(DType::I64, std::move(shape));
  std::fill_n(tensor.data<int64_t>(), tensor.count(), value);
  return tensor;
}

/// A model of x, with its positive and its negative elements.
TinyModel parts() {
  TinyModel model;
  model.input("x", {"n"}).output("y").floats("nothing", {}, {0});
  model.floats("row", {6}, {10, 20, 30, 40, 50, 60});
  model.node("Greater", {"x", "nothing"}, {"isPositive"}), model.node("Compress", {"x", "isPositive"}, {"positive"});
  model.node("Less", {"x", "nothing"}, {"isNegative"}), model.node("Compress", {"x", "isNegative"}, {"negative"});
  return model;
}

std::vector<float> elements(const Tensor &tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.count()};
}

class LateBroadcasts : public testing::TestWithParam<PlanMode> {
protected:
  void load(const TinyModel &model) {
    auto made = contextOf(model, GetParam());
    ASSERT_TRUE(made.ok()) << made.status().message();
    context = std::move(*made);
  }
  void expect(std::vector<Tensor> inputs, const std::vector<float> &wanted) {
    auto outputs = context->run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(elements(outputs->front()), wanted);
  }
  void expectRefused(std::vector<Tensor> inputs) {
    Status refused = context->run(inputs).status();
    EXPECT_EQ(refused.code(), Code::Malformed) << refused.message();
    EXPECT_EQ(refused.message().substr(0, 6), "node '");
  }

  std::unique_ptr<Context> context;
};

TEST_P(LateBroadcasts, BesideAConstant) {
  TinyModel model = parts();
  model.node("Add", {"positive", "row"}, {"sum"}), model.node("Mul", {"sum", "sum"}, {"y"});
  load(model);
  expect({numbers(6)}, {121, 484, 1089, 1936, 3025, 4356});
  expect({numbers(1)}, {121, 441, 961, 1681, 2601, 3721});
  expect({numbers(6)}, {121, 484, 1089, 1936, 3025, 4356});
  expectRefused({numbers(4)});
}

TEST_P(LateBroadcasts, BesideEachOther) {
  TinyModel model = parts();
  model.node("Mul", {"positive", "negative"}, {"y"});
  load(model);
  expect({numbers(3, 3)}, {-1, -4, -9});
  expect({numbers(1, 4)}, {-1, -2, -3, -4});
  expect({numbers(4, 1)}, {-1, -2, -3, -4});
  expect({numbers(1, 1)}, {-1});
  expectRefused({numbers(2, 3)});
  expect({numbers(1, 0)}, {});
}

/// The size of an Expand is an input. Its beginning (steps before the size is read) runs twice.
TEST_P(LateBroadcasts, OfAShapeThatIsAnInput) {
  TinyModel model;
  model.input("x", {"n"}).input("shape", {1}, DType::I64).output("y").floats("row", {3}, {10, 20, 30});
  model.node("Add", {"x", "x"}, {"twice"});
  setAttribute(model.node("ReduceMax", {"twice"}, {"largest"}), "keepdims", int64_t(0));
  model.node("Expand", {"largest", "shape"}, {"expanded"}), model.node("Sub", {"row", "expanded"}, {"y"});
  load(model);
  auto shape = [](int64_t size) { return integers({1}, size); };
  expect({numbers(2), shape(3)}, {6, 16, 26});
  expect({numbers(4), shape(1)}, {2, 12, 22});
  expectRefused({numbers(4), shape(2)});
}

/// Twice as many as one part has, less one.
TEST_P(LateBroadcasts, OfSizesThatAreComputed) {
  TinyModel model = parts();
  model.integers("one", {1}, {1}), model.integers("most", {1}, {100});
  setAttribute(model.node("Concat", {"positive", "positive"}, {"two"}), "axis", int64_t(0));
  model.node("Slice", {"two", "one", "most"}, {"part"}), model.node("Add", {"part", "negative"}, {"y"});
  load(model);
  expect({numbers(2, 3)}, {1, -1, -1});
  expect({numbers(1, 3)}, {0, -1, -2});
  expect({numbers(2, 1)}, {1, 0, 1});
  expectRefused({numbers(2, 2)});
}

/// The second plan is chosen for the whole of the model, also where a branch that is taken in the middle refuses sizes.
TEST_P(LateBroadcasts, InABranch) {
  TinyModel model = parts();
  setAttribute(model.node("ReduceSum", {"x"}, {"total"}), "keepdims", int64_t(0));
  model.node("Greater", {"total", "nothing"}, {"isLarge"});
  onnx::NodeProto *branch = model.node("If", {"isLarge"}, {"chosen"});
  for (const char *op : {"Add", "Sub"}) {
    auto *attribute = branch->add_attribute();
    attribute->set_name(op == std::string("Add") ? "then_branch" : "else_branch");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto *graph = attribute->mutable_g();
    graph->set_name(op), graph->add_output()->set_name("inner");
    TinyModel::fill(graph->add_node(), op, {"row", "positive"}, {"inner"});
  }
  model.node("Neg", {"chosen"}, {"y"});
  load(model);
  expect({numbers(6)}, {-11, -22, -33, -44, -55, -66});
  expect({numbers(1)}, {-11, -21, -31, -41, -51, -61});
  expect({numbers(1, 3)}, {-9, -19, -29, -39, -49, -59});
}

/// A loop whose value grows from one element to two. Three times less two is one in its first turn, four in the second.
TEST_P(LateBroadcasts, InOneTurnOfALoop) {
  TinyModel model;
  model.input("x", {1}).output("y").floats("row", {4}, {10, 20, 30, 40});
  model.integers("turns", {}, {2}), model.integers("two", {1}, {2}), model.integers("most", {1}, {100});
  onnx::NodeProto *loop = model.node("Loop", {"turns", "", "x"}, {"last", "y"});
  auto *attribute = loop->add_attribute();
  attribute->set_name("body"), attribute->set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto *body = attribute->mutable_g();
  body->set_name("grow");
  TinyModel::describe(body->add_input(), "turn", {}, DType::I64);
  TinyModel::describe(body->add_input(), "goesOn", {}, DType::Bool);
  TinyModel::describe(body->add_input(), "v", {"some"}, DType::F32);
  for (const char *output : {"still", "longer", "sum"})
    body->add_output()->set_name(output);
  TinyModel::fill(body->add_node(), "Identity", {"goesOn"}, {"still"});
  setAttribute(TinyModel::fill(body->add_node(), "Concat", {"v", "x"}, {"longer"}), "axis", int64_t(0));
  setAttribute(TinyModel::fill(body->add_node(), "Concat", {"v", "v", "v"}, {"three"}), "axis", int64_t(0));
  TinyModel::fill(body->add_node(), "Slice", {"three", "two", "most"}, {"part"});
  TinyModel::fill(body->add_node(), "Add", {"part", "row"}, {"sum"});
  load(model);
  Tensor x = Tensor::allocate(DType::F32, {1});
  *x.data<float>() = 1;
  expect({x}, {11, 21, 31, 41, 11, 21, 31, 41});
}

INSTANTIATE_TEST_SUITE_P(Modes, LateBroadcasts, testing::Values(PlanMode::All, PlanMode::None, PlanMode::Reference),
                         [](const auto &info) { return std::string(name(info.param)); });

/// The number of plans, and so the size of an artifact, grows only where sizes may need it.
TEST(LateBroadcast, HasAPlanOnlyWhereItMayBeNeeded) {
  auto plans = [](const TinyModel &model) {
    auto compiled = compileModel(optionsOf(model));
    auto artifact = compiled ? compiled->artifact() : compiled.status();
    EXPECT_TRUE(artifact.ok()) << artifact.status().message();
    return artifact ? artifact->contents().plans.size() : 0;
  };
  TinyModel needed = parts(), same = parts(), even = parts(), column = parts();
  needed.node("Add", {"positive", "row"}, {"y"});
  EXPECT_EQ(plans(needed), 2u);
  same.node("Neg", {"positive"}, {"minus"}), same.node("Add", {"positive", "minus"}, {"y"});
  EXPECT_EQ(plans(same), 1u);
  setAttribute(even.node("Concat", {"positive", "positive"}, {"two"}), "axis", int64_t(0)); // an even number is not 1
  even.node("Add", {"two", "row"}, {"y"});
  EXPECT_EQ(plans(even), 1u);
  column.integers("one", {1}, {1});
  column.node("Unsqueeze", {"positive", "one"}, {"column"}), column.node("Add", {"column", "row"}, {"y"});
  EXPECT_EQ(plans(column), 1u);
}

/// Parameters of a normalization are as long as its channels, they do not broadcast.
TEST(LateBroadcast, IsNotBetweenTheParametersOfBatchNormalization) {
  TinyModel model;
  model.input("x", {2, "c"}).input("shape", {1}, DType::I64).output("y").floats("half", {}, {0.5f});
  model.node("Expand", {"half", "shape"}, {"scale"});
  onnx::NodeProto *mean = model.node("ReduceMean", {"x"}, {"mean"});
  setAttribute(mean, "keepdims", int64_t(0)), setAttribute(mean, "axes", std::vector<int64_t>{0});
  model.node("BatchNormalization", {"x", "scale", "mean", "mean", "scale"}, {"y"});
  auto compiled = compileModel(optionsOf(model));
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_EQ(compiled->artifact()->contents().plans.size(), 1u);
}

/// A mode has two plans at most. The one of the other rank counts more.
TEST(LateBroadcast, LeavesThePlanForAnotherRank) {
  TinyModel model = parts();
  model.input("z", {"m", 3}).output("squeezed");
  model.node("Squeeze", {"z"}, {"squeezed"}), model.node("Add", {"positive", "row"}, {"y"});
  auto context = contextOf(model, PlanMode::All);
  ASSERT_TRUE(context.ok()) << context.status().message();
  for (int64_t rows : {2, 1}) {
    std::vector<Tensor> inputs = {numbers(6), sampleTensor(DType::F32, {rows, 3})};
    auto outputs = (*context)->run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ((*outputs)[1].shape(), rows == 1 ? Shape{3} : (Shape{2, 3}));
  }
}

/// Adds y = row + the last quarter of e, whose number of elements only running tells, but which is later taken for a
/// table of two rows. So the quarter is first assumed to be as long as the row, and later seen to have another size.
void addQuarter(onnx::GraphProto &graph, const std::string &y) {
  onnx::NodeProto *split = TinyModel::fill(graph.add_node(), "Split", {"e"}, {"a", "b", "c", "quarter"});
  setAttribute(split, "num_outputs", int64_t(4));
  TinyModel::fill(graph.add_node(), "Add", {"quarter", "row"}, {y});
  TinyModel::fill(graph.add_node(), "Reshape", {"e", "rows"}, {"table"});
}

TinyModel quarters(int64_t columns) {
  TinyModel model(18);
  model.input("shape", {1}, DType::I64).output("y").floats("one", {}, {1});
  model.floats("row", {6}, {10, 20, 30, 40, 50, 60}), model.integers("rows", {2}, {2, columns});
  model.node("Expand", {"one", "shape"}, {"e"});
  return model;
}

constexpr const char *contradicted =
    "node 'y': expected shapes that broadcast, got 6 beside u0 - ((u0 + 3) floordiv 4) * 3 in dimension 0 (6 and ";

/// Without the assumption the model compiles: the quarter has one element.
TEST(LateBroadcast, MayContradictWhatALaterNodeTells) {
  TinyModel model = quarters(2);
  addQuarter(*model.proto.mutable_graph(), "y"), model.output("table");
  CompileOptions options = optionsOf(model);
  auto compiled = compileModel(options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  ASSERT_EQ(compiled->importReport().warnings.size(), 1u);
  EXPECT_EQ(compiled->importReport().warnings.front(),
            "sizes that meet in a broadcast are compared when running; otherwise: " + std::string(contradicted) + "1)");
  std::vector<Tensor> inputs = {integers({1}, 4)};
  auto outputs = runOnHost(options, PlanMode::All, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(elements(outputs->front()), (std::vector<float>{11, 21, 31, 41, 51, 61}));
  EXPECT_EQ((*outputs)[1].shape(), (Shape{2, 2}));
}

/// The quarter has two elements beside six, so that the model can never run.
TEST(LateBroadcast, ThatCannotBeIsRefused) {
  TinyModel model = quarters(4);
  addQuarter(*model.proto.mutable_graph(), "y"), model.output("table");
  auto compiled = compileModel(optionsOf(model));
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.status().code(), Code::Malformed);
  EXPECT_NE(compiled.status().message().find(std::string(contradicted) + "2)"), std::string::npos)
      << compiled.status().message();
}

/// Sizes of the graph around a branch are late inside too.
TEST(LateBroadcast, MayContradictWhatALaterNodeOfABranchTells) {
  auto load = [](int64_t columns) {
    TinyModel model = quarters(columns);
    model.input("isTaken", {}, DType::Bool);
    onnx::NodeProto *branch = model.node("If", {"isTaken"}, {"chosen"});
    for (const char *name : {"then_branch", "else_branch"}) {
      auto *attribute = branch->add_attribute();
      attribute->set_name(name), attribute->set_type(onnx::AttributeProto::GRAPH);
      onnx::GraphProto *graph = attribute->mutable_g();
      graph->set_name(name), graph->add_output()->set_name("inner");
      if (name == std::string("then_branch"))
        addQuarter(*graph, "y"), TinyModel::fill(graph->add_node(), "Neg", {"y"}, {"inner"});
      else
        TinyModel::fill(graph->add_node(), "Neg", {"row"}, {"inner"});
    }
    model.proto.mutable_graph()->mutable_output(0)->set_name("chosen");
    return contextOf(model, PlanMode::All);
  };
  auto context = load(2);
  ASSERT_TRUE(context.ok()) << context.status().message();
  Tensor taken = Tensor::allocate(DType::Bool, {});
  for (bool isTaken : {false, true}) {
    *taken.data<bool>() = isTaken;
    auto outputs = (*context)->run(std::vector{integers({1}, 4), taken});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(elements(outputs->front()), isTaken ? (std::vector<float>{-11, -21, -31, -41, -51, -61})
                                                  : (std::vector<float>{-10, -20, -30, -40, -50, -60}));
  }
  Status refused = load(4).status(); // as it would be for sizes that the model gives
  EXPECT_EQ(refused.code(), Code::Malformed);
  EXPECT_NE(refused.message().find(std::string(contradicted) + "2)"), std::string::npos) << refused.message();
}

} // namespace
