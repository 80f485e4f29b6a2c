// SPDX-License-Identifier: Apache-2.0
// Models with branches, loops, sequences and strings, compiled in every mode and run, against results written out here.
#include "backend/Pipeline.h"
#include "runtime/Devices.h"
#include "runtime/execute/Context.h"
#include "tests/frontend/TinyModel.h"

#include <functional>

namespace tilewright::test {
namespace {

/// A graph that is an attribute: nodes, inputs and outputs by name alone.
struct Body {
  onnx::GraphProto &graph;

  Body(onnx::NodeProto *node, const std::string &attribute) : graph(*addGraph(node, attribute)) {}
  static onnx::GraphProto *addGraph(onnx::NodeProto *node, const std::string &name) {
    auto *attribute = node->add_attribute();
    attribute->set_name(name), attribute->set_type(onnx::AttributeProto::GRAPH);
    return attribute->mutable_g();
  }
  Body &input(const std::string &name) { return graph.add_input()->set_name(name), *this; }
  Body &output(const std::string &name) { return graph.add_output()->set_name(name), *this; }
  onnx::NodeProto *node(const std::string &op, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    return TinyModel::fill(graph.add_node(), op, inputs, outputs);
  }
};

Tensor floats(Shape shape, std::vector<float> values) {
  Tensor tensor = Tensor::allocate(DType::F32, std::move(shape));
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}
Tensor integers(Shape shape, std::vector<int64_t> values) {
  Tensor tensor = Tensor::allocate(DType::I64, std::move(shape));
  std::ranges::copy(values, tensor.data<int64_t>());
  return tensor;
}
Tensor integer(int64_t value) { return integers({}, {value}); }
Tensor truth(bool value) {
  Tensor tensor = Tensor::allocate(DType::Bool, {});
  *tensor.data<uint8_t>() = value;
  return tensor;
}

using Outputs = std::vector<Tensor>;

/// One compiled program, run on several inputs.
class Compiled {
public:
  Compiled(const TinyModel &model, PlanMode mode) {
    CompileOptions options;
    options.modelPath = "tiny.onnx";
    options.modelBytes = std::make_shared<std::string>(model.bytes());
    options.modes = {mode};
    Expected<CompiledModel> compiled = compileModel(options);
    status = compiled.status();
    if (!compiled)
      return;
    Expected<runtime::Artifact> artifact = compiled->artifact();
    auto device = runtime::openDevice("host");
    auto program = runtime::Program::create(*artifact, (*device)->info(), std::string(name(mode)));
    EXPECT_TRUE(program.ok()) << program.status().message();
    context = std::move(*runtime::Context::create(*program, *device));
  }
  Outputs operator()(std::vector<Tensor> inputs) {
    EXPECT_TRUE(status.ok()) << status.message();
    if (!status)
      return Outputs(8);
    Expected<Outputs> outputs = context->run(inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs ? *outputs : Outputs(8);
  }
  Status status;
  std::unique_ptr<runtime::Context> context;
};

class ControlFlowModels : public testing::TestWithParam<PlanMode> {};

/// y = Relu(if c then x + x else -x), z = Exp(x) by nested names that mean other values inside.
TEST_P(ControlFlowModels, BranchesSeeWhatIsAround) {
  TinyModel model;
  model.input("c", {}, DType::Bool).input("x", {"n", 3}).output("y");
  model.node("Neg", {"x"}, {"t"});
  auto *branch = model.node("If", {"c"}, {"r"});
  Body then(branch, "then_branch"), otherwise(branch, "else_branch");
  then.output("t"), then.node("Add", {"x", "x"}, {"t"}); // another t than the one outside
  otherwise.output("u"), otherwise.node("Identity", {"t"}, {"u"});
  model.node("Relu", {"r"}, {"y"});
  Compiled run(model, GetParam());
  Tensor x = floats({1, 3}, {1, -2, 3}), longer = floats({2, 3}, {1, 2, 3, -4, -5, -6});
  expectClose(run({truth(true), x})[0], floats({1, 3}, {2, 0, 6}), "then");
  expectClose(run({truth(false), x})[0], floats({1, 3}, {0, 2, 0}), "else");
  expectClose(run({truth(false), longer})[0], floats({2, 3}, {0, 0, 0, 4, 5, 6}), "two rows");
}

TEST_P(ControlFlowModels, BranchesMayDifferInSize) {
  TinyModel model;
  model.input("c", {}, DType::Bool).input("x", {"n"}).output("y");
  auto *branch = model.node("If", {"c"}, {"r"});
  Body then(branch, "then_branch"), otherwise(branch, "else_branch");
  then.output("a"), setAttribute(then.node("Concat", {"x", "x"}, {"a"}), "axis", int64_t{0});
  otherwise.output("b"), otherwise.node("Neg", {"x"}, {"b"});
  model.node("Add", {"r", "r"}, {"y"});
  Compiled run(model, GetParam());
  expectClose(run({truth(true), floats({2}, {1, 2})})[0], floats({4}, {2, 4, 2, 4}), "then");
  expectClose(run({truth(false), floats({2}, {1, 2})})[0], floats({2}, {-2, -4}), "else");
}

/// Nested six deep; which level says no is an input.
TEST_P(ControlFlowModels, BranchesNest) {
  TinyModel model;
  model.input("level", {}, DType::I64).input("x", {2}).output("y");
  model.floats("one", {}, {1});
  for (int64_t i = 0; i < 6; ++i)
    model.integers("k" + std::to_string(i), {}, {i});
  std::function<void(onnx::NodeProto *, onnx::NodeProto *, int)> nest = [&](onnx::NodeProto *compare,
                                                                            onnx::NodeProto *branch, int depth) {
    std::string d = std::to_string(depth);
    TinyModel::fill(compare, "Equal", {"level", "k" + d}, {"is" + d});
    TinyModel::fill(branch, "If", {"is" + d}, {"r" + d});
    Body then(branch, "then_branch"), otherwise(branch, "else_branch");
    then.output("a"), then.node("Neg", {"x"}, {"a"});
    otherwise.output("b");
    if (depth < 5) {
      auto *innerCompare = otherwise.graph.add_node(), *innerBranch = otherwise.graph.add_node();
      nest(innerCompare, innerBranch, depth + 1);
      otherwise.node("Add", {"r" + std::to_string(depth + 1), "one"}, {"b"});
    } else {
      otherwise.node("Identity", {"x"}, {"b"});
    }
  };
  auto *compare = model.proto.mutable_graph()->add_node(), *branch = model.proto.mutable_graph()->add_node();
  nest(compare, branch, 0);
  model.node("Identity", {"r0"}, {"y"});
  Compiled run(model, GetParam());
  for (int level = 0; level <= 6; ++level) {
    float added = static_cast<float>(std::min(level, 5)), sign = level < 6 ? -1 : 1;
    expectClose(run({integer(level), floats({2}, {3, 5})})[0], floats({2}, {sign * 3 + added, sign * 5 + added}),
                std::to_string(level));
  }
}

/// s = the sum of m times x + i, and its squares in every turn.
TEST_P(ControlFlowModels, LoopsCarryAndCollect) {
  TinyModel model;
  model.input("m", {}, DType::I64).input("x", {"n"}).output("s").output("all");
  model.node("Sub", {"x", "x"}, {"zero"});
  Body body(model.node("Loop", {"m", "", "zero"}, {"s", "all"}), "body");
  body.input("i").input("c").input("sum").output("go").output("next").output("square");
  body.node("Identity", {"c"}, {"go"});
  setAttribute(body.node("Cast", {"i"}, {"f"}), "to", int64_t{1});
  body.node("Add", {"x", "f"}, {"t"}), body.node("Add", {"sum", "t"}, {"next"}),
      body.node("Mul", {"next", "next"}, {"square"});
  Compiled run(model, GetParam());
  for (int turn = 0; turn < 2; ++turn) {
    Outputs three = run({integer(3), floats({2}, {1, 2})});
    expectClose(three[0], floats({2}, {6, 9}), "sum");
    expectClose(three[1], floats({3, 2}, {1, 4, 9, 25, 36, 81}), "squares");
    Outputs none = run({integer(0), floats({1}, {1})});
    expectClose(none[0], floats({1}, {0}), "no turn");
    EXPECT_EQ(none[1].shape().front(), 0);
  }
}

/// The sum begins as a number, and is a list from the first turn on. It stops above `limit`, after at most `most`
/// turns.
TinyModel sumThatBeginsAsANumber(int64_t most) {
  TinyModel model;
  model.input("x", {"n"}).output("s").output("all");
  model.integers("most", {}, {most}), model.floats("zero", {}, {0}), model.floats("limit", {}, {20});
  Body body(model.node("Loop", {"most", "", "zero"}, {"s", "all"}), "body");
  body.input("i").input("c").input("sum").output("go").output("next").output("square");
  setAttribute(body.node("Cast", {"i"}, {"f"}), "to", int64_t{1});
  body.node("Add", {"x", "f"}, {"t"}), body.node("Add", {"sum", "t"}, {"next"}),
      body.node("Mul", {"next", "next"}, {"square"});
  setAttribute(body.node("ReduceMax", {"next"}, {"largest"}), "keepdims", int64_t{0});
  body.node("Less", {"largest", "limit"}, {"go"});
  return model;
}

TEST_P(ControlFlowModels, TheFirstTurnMayReplaceWhatHasAnotherRank) {
  Compiled three(sumThatBeginsAsANumber(3), GetParam());
  Outputs outputs = three({floats({2}, {1, 2})});
  expectClose(outputs[0], floats({2}, {6, 9}), "sum");
  expectClose(outputs[1], floats({3, 2}, {1, 4, 9, 25, 36, 81}), "squares");
  outputs = three({floats({1}, {12})});
  expectClose(outputs[0], floats({1}, {25}), "the condition ends it after two turns");
  expectClose(outputs[1], floats({2, 1}, {144, 625}), "two squares");
  outputs = three({floats({1}, {30})});
  expectClose(outputs[0], floats({1}, {30}), "or after the first");
  expectClose(outputs[1], floats({1, 1}, {900}), "one square");
  Compiled once(sumThatBeginsAsANumber(1), GetParam());
  expectClose(once({floats({2}, {1, 2})})[0], floats({2}, {1, 2}), "no turn is left");
}

TEST_P(ControlFlowModels, LoopsCarryWhatGrowsWhileAConditionHolds) {
  TinyModel model;
  model.input("x", {"n"}).output("y").output("sizes");
  model.integers("most", {}, {INT64_MAX}), model.integers("limit", {}, {6});
  Body body(model.node("Loop", {"most", "", "x"}, {"y", "sizes"}), "body");
  body.input("i").input("c").input("in").output("go").output("out").output("size");
  setAttribute(body.node("Concat", {"in", "x"}, {"out"}), "axis", int64_t{0});
  body.node("Size", {"out"}, {"size"}), body.node("Less", {"size", "limit"}, {"go"});
  Compiled run(model, GetParam());
  Outputs outputs = run({floats({2}, {1, 2})});
  expectClose(outputs[0], floats({6}, {1, 2, 1, 2, 1, 2}), "grown");
  EXPECT_EQ(std::vector<int64_t>(outputs[1].data<int64_t>(), outputs[1].data<int64_t>() + outputs[1].count()),
            (std::vector<int64_t>{4, 6}));
}

/// A product with a matrix in a loop in a loop, and a branch inside of that.
TEST_P(ControlFlowModels, LoopsNest) {
  TinyModel model;
  model.input("m", {}, DType::I64).input("x", {"n", 2}).output("y");
  model.floats("w", {2, 2}, {0, 1, 1, 0}), model.integers("two", {}, {2}), model.integers("zero", {}, {0});
  Body outer(model.node("Loop", {"m", "", "x"}, {"y"}), "body");
  outer.input("i").input("c").input("a").output("c").output("b");
  Body inner(outer.node("Loop", {"two", "", "a"}, {"b"}), "body");
  inner.input("j").input("d").input("p").output("d").output("q");
  inner.node("MatMul", {"p", "w"}, {"swapped"}), inner.node("Mod", {"i", "two"}, {"rest"}),
      inner.node("Equal", {"rest", "zero"}, {"even"});
  auto *branch = inner.node("If", {"even"}, {"q"});
  Body then(branch, "then_branch"), otherwise(branch, "else_branch");
  then.output("e"), then.node("Add", {"swapped", "x"}, {"e"});
  otherwise.output("f"), otherwise.node("Neg", {"swapped"}, {"f"});
  Compiled run(model, GetParam());
  // i = 0: (a, b) -> (b, a) + (1, 2), twice; i = 1: (a, b) -> (-b, -a), twice, which is (a, b).
  expectClose(run({integer(2), floats({1, 2}, {1, 2})})[0], floats({1, 2}, {4, 5}), "two turns");
}

TEST_P(ControlFlowModels, ScansAlongAnyAxisInAnyDirection) {
  TinyModel model;
  model.input("h", {2}).input("x", {2, "t"}).output("last").output("y");
  auto *scan = model.node("Scan", {"h", "x"}, {"last", "y"});
  setAttribute(scan, "num_scan_inputs", int64_t{1});
  setAttribute(scan, "scan_input_axes", std::vector<int64_t>{-1});
  setAttribute(scan, "scan_input_directions", std::vector<int64_t>{1});
  setAttribute(scan, "scan_output_axes", std::vector<int64_t>{1});
  setAttribute(scan, "scan_output_directions", std::vector<int64_t>{1});
  Body body(scan, "body");
  body.input("s").input("e").output("sum").output("kept");
  body.node("Add", {"s", "e"}, {"sum"}), body.node("Identity", {"sum"}, {"kept"});
  Compiled run(model, GetParam());
  Outputs outputs = run({floats({2}, {0, 10}), floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  expectClose(outputs[0], floats({2}, {6, 25}), "sum");
  expectClose(outputs[1], floats({2, 3}, {6, 5, 3, 25, 21, 16}), "sums from the end");
}

/// Opset 8: a batch of scans.
TEST_P(ControlFlowModels, ScansBatches) {
  TinyModel model(8);
  model.input("h", {2, 1}).input("x", {2, 3, 1}).output("last").output("y");
  auto *scan = model.node("Scan", {"", "h", "x"}, {"last", "y"});
  setAttribute(scan, "num_scan_inputs", int64_t{1});
  Body body(scan, "body");
  body.input("s").input("e").output("sum").output("kept");
  body.node("Add", {"s", "e"}, {"sum"}), body.node("Identity", {"sum"}, {"kept"});
  Compiled run(model, GetParam());
  Outputs outputs = run({floats({2, 1}, {0, 10}), floats({2, 3, 1}, {1, 2, 3, 4, 5, 6})});
  expectClose(outputs[0], floats({2, 1}, {6, 25}), "sums");
  expectClose(outputs[1], floats({2, 3, 1}, {1, 3, 6, 14, 19, 25}), "sums in every turn");
}

TEST_P(ControlFlowModels, SequencesGoThroughLoops) {
  TinyModel model;
  model.input("m", {}, DType::I64).input("x", {"n"}).output("joined").output("length");
  model.node("SequenceEmpty", {}, {"empty"});
  Body body(model.node("Loop", {"m", "", "empty"}, {"s"}), "body");
  body.input("i").input("c").input("in").output("c").output("out");
  setAttribute(body.node("Cast", {"i"}, {"f"}), "to", int64_t{1});
  body.node("Add", {"x", "f"}, {"t"}), body.node("SequenceInsert", {"in", "t"}, {"out"});
  setAttribute(model.node("ConcatFromSequence", {"s"}, {"joined"}), "axis", int64_t{0});
  model.node("SequenceLength", {"s"}, {"length"});
  Compiled run(model, GetParam());
  Outputs outputs = run({integer(3), floats({2}, {1, 5})});
  expectClose(outputs[0], floats({6}, {1, 5, 2, 6, 3, 7}), "joined");
  expectClose(outputs[1], integer(3), "length");
}

/// What never changes is captured, and stands behind what does among the body's arguments.
TEST_P(ControlFlowModels, ValuesThatStayTheSameMayComeFirst) {
  TinyModel model;
  model.input("m", {}, DType::I64).input("a", {2}).input("b", {2}).output("same").output("last");
  Body body(model.node("Loop", {"m", "", "a", "b"}, {"same", "last"}), "body");
  body.input("i").input("c").input("p").input("q").output("c").output("p").output("r");
  body.node("Sub", {"p", "q"}, {"r"});
  Compiled run(model, GetParam());
  Outputs outputs = run({integer(3), floats({2}, {1, 2}), floats({2}, {10, 20})});
  expectClose(outputs[0], floats({2}, {1, 2}), "same");
  expectClose(outputs[1], floats({2}, {-9, -18}), "last");
}

/// A detector that asks whether it found anything: a number of findings may be 0, unlike the size of an input.
TEST_P(ControlFlowModels, WhetherAnythingWasFoundIsAskedWhenRunning) {
  TinyModel model(11);
  model.input("x", {"n"}).output("y");
  TinyModel::describe(model.proto.mutable_graph()->mutable_output(0), "y", {"k"}, DType::I64);
  model.node("NonZero", {"x"}, {"found"}), model.node("Size", {"found"}, {"count"});
  model.integers("zero", {}, {0}), model.integers("seven", {1}, {7});
  model.node("Equal", {"count", "zero"}, {"none"});
  auto *branch = model.node("If", {"none"}, {"y"});
  Body(branch, "then_branch").output("default").node("Identity", {"seven"}, {"default"});
  Body otherwise(branch, "else_branch");
  setAttribute(otherwise.output("places").node("Squeeze", {"found"}, {"places"}), "axes", std::vector<int64_t>{0});
  Compiled run(model, GetParam());
  expectClose(run({floats({3}, {1, 0, 2})})[0], integers({2}, {0, 2}), "found");
  expectClose(run({floats({3}, {0, 0, 0})})[0], integers({1}, {7}), "none found");
}

/// The size of what a body inserts is a symbol of the body, which means something else outside or nothing at all.
TEST_P(ControlFlowModels, SizesOfABodyStayInside) {
  TinyModel model;
  model.input("m", {}, DType::I64).input("x", {"n"}).input("w", {3, 1}).output("y");
  model.node("SequenceEmpty", {}, {"empty"});
  Body body(model.node("Loop", {"m", "", "empty"}, {"s"}), "body");
  body.input("i").input("c").input("in").output("c").output("out");
  body.node("NonZero", {"x"}, {"places"}), body.node("SequenceInsert", {"in", "places"}, {"out"});
  setAttribute(model.node("ConcatFromSequence", {"s"}, {"joined"}), "axis", int64_t{0});
  setAttribute(model.node("Cast", {"joined"}, {"f"}), "to", int64_t{1});
  model.node("MatMul", {"f", "w"}, {"y"});
  TinyModel::describe(model.proto.mutable_graph()->mutable_output(0), "y", {"t", 1}, DType::F32);
  Compiled run(model, GetParam());
  Outputs outputs = run({integer(2), floats({5}, {1, 0, 2, 0, 3}), floats({3, 1}, {1, 10, 100})});
  expectClose(outputs[0], floats({2, 1}, {420, 420}), "products");
}

TEST_P(ControlFlowModels, StringsAreValues) {
  TinyModel model(20);
  model.input("x", {"n"}, DType::String).input("i", {"k"}, DType::I64).output("y").output("same");
  auto *suffix = model.initializer("suffix", {}, DType::String);
  suffix->add_string_data("!");
  model.node("Gather", {"x", "i"}, {"g"}), model.node("StringConcat", {"g", "suffix"}, {"y"});
  model.node("Equal", {"g", "suffix"}, {"same"});
  Compiled run(model, GetParam());
  Tensor words = Tensor::allocate(DType::String, {2}), order = Tensor::allocate(DType::I64, {3});
  words.data<std::string>()[0] = "a", words.data<std::string>()[1] = "!";
  order.data<int64_t>()[0] = 1;
  Outputs outputs = run({words, order});
  ASSERT_EQ(outputs[0].type(), DType::String);
  ASSERT_EQ(outputs[0].shape(), Shape{3});
  EXPECT_EQ(outputs[0].data<std::string>()[0], "!!");
  EXPECT_EQ(outputs[0].data<std::string>()[2], "a!");
  EXPECT_EQ(outputs[1].data<uint8_t>()[0], 1);
  EXPECT_EQ(outputs[1].data<uint8_t>()[1], 0);
}

TEST_P(ControlFlowModels, ANumberAndAListOfOneAreTheSame) {
  TinyModel model;
  model.input("c", {}, DType::Bool).input("x", {2}).input("one", {1}).output("y");
  auto *branch = model.node("If", {"c"}, {"r"});
  Body then(branch, "then_branch"), otherwise(branch, "else_branch");
  then.output("a"), setAttribute(then.node("ReduceSum", {"x"}, {"a"}), "keepdims", int64_t{0});
  otherwise.output("b"), otherwise.node("Neg", {"one"}, {"b"});
  model.node("Add", {"r", "x"}, {"y"});
  Compiled run(model, GetParam());
  expectClose(run({truth(true), floats({2}, {1, 2}), floats({1}, {7})})[0], floats({2}, {4, 5}), "a number");
  expectClose(run({truth(false), floats({2}, {1, 2}), floats({1}, {7})})[0], floats({2}, {-6, -5}), "a list of one");
}

/// Its steps are a loop four bodies down, whose sizes stay.
TEST_P(ControlFlowModels, ARecurrenceRunsDeepInsideOfBranches) {
  TinyModel model;
  model.input("c", {}, DType::Bool).input("x", {"t", 1, 2}).output("y");
  model.floats("w", {1, 3, 2}, {0, 0, 0, 0, 0, 0}), model.floats("r", {1, 3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0});
  model.floats("b", {1, 6}, {0.5, 0.5, 0.5, 0, 0, 0});
  auto *first = model.node("If", {"c"}, {"y"});
  Body outer(first, "then_branch"), outerElse(first, "else_branch");
  auto *second = outer.output("o").node("If", {"c"}, {"o"});
  Body middle(second, "then_branch"), middleElse(second, "else_branch");
  auto *third = middle.output("m").node("If", {"c"}, {"m"});
  Body inner(third, "then_branch"), innerElse(third, "else_branch");
  setAttribute(inner.output("h").node("RNN", {"x", "w", "r", "b"}, {"", "h"}), "hidden_size", int64_t{3});
  for (Body *other : {&outerElse, &middleElse, &innerElse})
    other->output("p"), setAttribute(other->node("ReduceMax", {"w"}, {"p"}), "axes", std::vector<int64_t>{1, 2});
  Compiled run(model, GetParam());
  float h = std::tanh(0.5f);
  expectClose(run({truth(true), floats({2, 1, 2}, {1, 2, 3, 4})})[0], floats({1, 1, 3}, {h, h, h}), "a recurrence");
}

/// r is x without dimension 1 where that is 1, as exporters write a squeeze.
void squeezeWhereOne(TinyModel &model) {
  model.integers("one", {}, {1}), model.integers("axis", {1}, {1});
  model.node("Shape", {"x"}, {"shape"}), model.node("Gather", {"shape", "one"}, {"size"}),
      model.node("Equal", {"size", "one"}, {"is"});
  auto *branch = model.node("If", {"is"}, {"r"});
  Body then(branch, "then_branch"), otherwise(branch, "else_branch");
  then.output("a"), then.node("Squeeze", {"x", "axis"}, {"a"});
  otherwise.output("b"), otherwise.node("Identity", {"x"}, {"b"});
}

TEST_P(ControlFlowModels, ARankThatASizeDecidesHasTwoPlans) {
  TinyModel model;
  model.input("x", {2, "n"}).output("y");
  squeezeWhereOne(model);
  model.node("Neg", {"r"}, {"y"});
  Compiled run(model, GetParam());
  expectClose(run({floats({2, 2}, {1, 2, 3, 4})})[0], floats({2, 2}, {-1, -2, -3, -4}), "two columns");
  expectClose(run({floats({2, 1}, {1, 2})})[0], floats({2}, {-1, -2}), "a column");
  expectClose(run({floats({2, 2}, {1, 2, 3, 4})})[0], floats({2, 2}, {-1, -2, -3, -4}), "two columns again");
}

/// What reads it takes one of the ranks only: no other size is right.
TEST_P(ControlFlowModels, ARankThatASizeDecidesIsTheOneThatImports) {
  TinyModel model;
  model.input("x", {2, "n", 3, 3}).output("y");
  squeezeWhereOne(model);
  setAttribute(model.node("MaxPool", {"r"}, {"y"}), "kernel_shape", std::vector<int64_t>{3});
  Compiled run(model, GetParam());
  std::vector<float> values(18);
  std::iota(values.begin(), values.end(), 0.0f);
  expectClose(run({floats({2, 1, 3, 3}, values)})[0], floats({2, 3, 1}, {2, 5, 8, 11, 14, 17}), "rows");
  values.resize(36);
  std::vector<Tensor> wide = {floats({2, 2, 3, 3}, values)};
  Expected<Outputs> refused = run.context->run(wide);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("'x'"), std::string::npos) << refused.status().message();
}

INSTANTIATE_TEST_SUITE_P(Modes, ControlFlowModels, testing::Values(PlanMode::Reference, PlanMode::None, PlanMode::All),
                         [](const auto &info) { return std::string(name(info.param)); });

TEST(SizesThatDecideRanks, ASqueezeWithoutAxesHasTwoPlans) {
  TinyModel model;
  model.input("x", {"n", 1, 2}).output("y");
  model.node("Squeeze", {"x"}, {"r"}), model.node("Neg", {"r"}, {"y"});
  for (PlanMode mode : {PlanMode::None, PlanMode::All}) {
    Compiled run(model, mode);
    expectClose(run({floats({2, 1, 2}, {1, 2, 3, 4})})[0], floats({2, 2}, {-1, -2, -3, -4}), "two rows");
    expectClose(run({floats({1, 1, 2}, {1, 2})})[0], floats({2}, {-1, -2}), "a row");
  }
}

//===- What is refused --------------------------------------------------------------------------------------------===//

std::string refusalOf(const TinyModel &model) {
  Compiled compiled(model, PlanMode::All);
  EXPECT_FALSE(compiled.status.ok());
  return compiled.status.message();
}

TEST(ControlFlowRefusals, AreSentencesAtTheNode) {
  TinyModel ranks;
  ranks.input("c", {}, DType::Bool).input("x", {2, 3}).output("y");
  auto *branch = ranks.node("If", {"c"}, {"y"});
  Body then(branch, "then_branch"), otherwise(branch, "else_branch");
  then.output("a"), then.node("Neg", {"x"}, {"a"});
  otherwise.output("b"), setAttribute(otherwise.node("ReduceSum", {"x"}, {"b"}), "keepdims", int64_t{0});
  EXPECT_NE(
      refusalOf(ranks).find("its branches give 'y' in ranks 2 and 0, and its condition is known only at run time"),
      std::string::npos);

  TinyModel types;
  types.input("x", {2}).output("y");
  Body body(types.node("Loop", {"", "", "x"}, {"y"}), "body");
  body.input("i").input("c").input("in").output("c").output("out");
  setAttribute(body.node("Cast", {"in"}, {"out"}), "to", int64_t{7});
  EXPECT_NE(refusalOf(types).find("expected what it carries to keep its type, got float32 and then int64 for 'in'"),
            std::string::npos);

  TinyModel ranksOfTurns; // it is not known that there is a first one
  ranksOfTurns.input("m", {}, DType::I64).input("x", {2}).output("y").floats("zero", {}, {0});
  Body sums(ranksOfTurns.node("Loop", {"m", "", "zero"}, {"y"}), "body");
  sums.input("i").input("c").input("sum").output("c").output("next");
  sums.node("Add", {"sum", "x"}, {"next"});
  EXPECT_NE(refusalOf(ranksOfTurns).find("it carries 'sum' in rank 0 and then in rank 1"), std::string::npos);

  TinyModel counts;
  counts.input("x", {2}).output("y");
  Body few(counts.node("Loop", {"", "", "x"}, {"y"}), "body");
  few.input("i").input("c").output("c").output("x");
  EXPECT_NE(refusalOf(counts).find("expected a body of 3 inputs and 2 outputs because of the node's, got 2 and 2"),
            std::string::npos);

  TinyModel deep;
  deep.input("c", {}, DType::Bool).input("x", {2}).output("y");
  onnx::NodeProto *node = deep.node("If", {"c"}, {"y"});
  for (int depth = 0; depth < 40; ++depth) { // protobuf itself allows no more than about 48
    Body otherwise(node, "else_branch"), then(node, "then_branch");
    otherwise.output("x"), then.output("y" + std::to_string(depth));
    node = then.node("If", {"c"}, {"y" + std::to_string(depth)});
  }
  Body(node, "else_branch").output("x"), Body(node, "then_branch").output("x");
  EXPECT_FALSE(Compiled(deep, PlanMode::All).status.code() == Code::Internal);
}

} // namespace
} // namespace tilewright::test
