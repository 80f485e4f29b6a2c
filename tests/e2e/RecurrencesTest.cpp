// SPDX-License-Identifier: Apache-2.0
// Compiled RNN, GRU and LSTM compared with the reference, for unrolled lengths and for loops.
#include "tests/e2e/HostContext.h"
#include "tools/tilewright/values/Compare.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

constexpr int64_t batch = 3, width = 5, hidden = 4;

struct Row {
  const char *name, *op;
  int64_t gates, directions;
  bool lengths, initial, peepholes;
  void (*change)(onnx::NodeProto *);
  bool batchFirst = false;
  DType type = DType::F32;
  bool ofBytes = false; // DynamicQuantizeLSTM, with a scale and a zero point for each direction
};

void reverse(onnx::NodeProto *node) { setAttribute(node, "direction", std::string("reverse")); }
void both(onnx::NodeProto *node) { setAttribute(node, "direction", std::string("bidirectional")); }
void nothing(onnx::NodeProto *) {}

const Row rows[] = {
    {"Rnn", "RNN", 1, 1, false, false, false, nothing},
    {"RnnOfOtherActivations", "RNN", 1, 2, true, true, false,
     [](onnx::NodeProto *node) {
       both(node);
       setAttribute(node, "activations", std::vector<std::string>{"LeakyRelu", "Affine"});
       setAttribute(node, "activation_alpha", std::vector<float>{0.2f, 0.5f});
       setAttribute(node, "activation_beta", std::vector<float>{0.1f});
     }},
    {"Gru", "GRU", 3, 1, false, false, false, nothing},
    {"GruBothWays", "GRU", 3, 2, true, true, false, both},
    {"GruResetAfter", "GRU", 3, 1, true, false, false,
     [](onnx::NodeProto *node) { reverse(node), setAttribute(node, "linear_before_reset", int64_t(1)); }},
    {"Lstm", "LSTM", 4, 1, false, false, false, nothing},
    {"LstmBackwards", "LSTM", 4, 1, true, true, false, reverse},
    {"LstmBothWays", "LSTM", 4, 2, false, true, false, both},
    {"LstmWithPeepholes", "LSTM", 4, 2, true, true, true, both},
    {"LstmClippedAndCoupled", "LSTM", 4, 1, false, false, true,
     [](onnx::NodeProto *node) { setAttribute(node, "clip", 0.3f), setAttribute(node, "input_forget", int64_t(1)); }},
    {"GruClippedToNothing", "GRU", 3, 1, false, true, false,
     [](onnx::NodeProto *node) { setAttribute(node, "clip", 0.0f); }},
    {"LstmBatchFirst", "LSTM", 4, 2, true, true, false,
     [](onnx::NodeProto *node) { both(node), setAttribute(node, "layout", int64_t(1)); }, true},
    {"LstmOfDoubles", "LSTM", 4, 1, false, false, false, nothing, false, DType::F64},
    {"GruOfHalves", "GRU", 3, 2, false, true, false, both, false, DType::F16},
    {"LstmOfHalves", "LSTM", 4, 2, true, true, true, both, false, DType::F16},
    {"RnnOfBrainFloats", "RNN", 1, 1, true, false, false, reverse, false, DType::BF16},
    {"LstmOfBytes", "DynamicQuantizeLSTM", 4, 2, false, true, true, both, false, DType::F32, true},
};

struct Input {
  std::string name;
  Shape shape;
  DType type;
};

/// The node's inputs for a sequence of `steps`; omitted ones have an empty name.
std::vector<Input> inputsOf(const Row &row, int64_t steps) {
  int64_t d = row.directions, columns = row.gates * hidden;
  Shape states = row.batchFirst ? Shape{batch, d, hidden} : Shape{d, batch, hidden};
  auto weights = [&](int64_t depth) { return row.ofBytes ? Shape{d, depth, columns} : Shape{d, columns, depth}; };
  DType stored = row.ofBytes ? DType::U8 : row.type;
  std::vector<Input> inputs = {
      {"x", row.batchFirst ? Shape{batch, steps, width} : Shape{steps, batch, width}, row.type},
      {"w", weights(width), stored},
      {"r", weights(hidden), stored},
      {"b", {d, 2 * columns}, row.type},
      {row.lengths ? "lengths" : "", {batch}, DType::I32},
      {row.initial ? "h0" : "", states, row.type},
      {row.initial && row.gates == 4 ? "c0" : "", states, row.type},
      {row.peepholes ? "p" : "", {d, 3 * hidden}, row.type}};
  if (row.ofBytes)
    for (const char *of : {"w", "r"})
      inputs.push_back({std::string(of) + " scale", {d}, row.type}),
          inputs.push_back({std::string(of) + " zero", {d}, stored});
  return inputs;
}

/// A model of the row's node with outputs Y, Y_h and Y_c; the number of steps is symbolic if `steps` is 0.
TinyModel modelOf(const Row &row, int64_t steps) {
  TinyModel model;
  std::vector<std::string> names, outputs = {"y", "h", "c"};
  for (const Input &input : inputsOf(row, steps)) {
    names.push_back(input.name);
    std::vector<Dim> dims;
    for (int64_t size : input.shape)
      dims.push_back(size ? Dim(static_cast<int>(size)) : Dim("steps"));
    if (!input.name.empty())
      model.input(input.name, dims, input.type);
  }
  while (names.back().empty())
    names.pop_back();
  outputs.resize(row.gates == 4 ? 3 : 2);
  for (const std::string &output : outputs)
    model.output(output);
  onnx::NodeProto *node = model.importDomain("com.microsoft", 1).node(row.op, names, outputs);
  node->set_domain(row.ofBytes ? "com.microsoft" : "");
  setAttribute(node, "hidden_size", hidden);
  row.change(node);
  return model;
}

std::vector<Tensor> sampleInputs(const Row &row, int64_t steps) {
  std::vector<Tensor> tensors;
  for (const Input &input : inputsOf(row, steps)) {
    if (input.name.empty())
      continue;
    Tensor &tensor = tensors.emplace_back(sampleTensor(input.type, input.shape, tensors.size() + 1));
    for (int64_t i = 0; input.name.ends_with("scale") && i < tensor.count(); ++i)
      tensor.data<float>()[i] = 0.01f;
    for (int64_t i = 0; input.name == "lengths" && i < batch; ++i)
      tensor.data<int32_t>()[i] = static_cast<int32_t>(steps * i / (batch - 1));
  }
  return tensors;
}

Expected<std::vector<Tensor>> run(const TinyModel &model, PlanMode mode, const std::vector<Tensor> &inputs) {
  CompileOptions options = optionsOf(model);
  options.import.noFallback = mode != PlanMode::Reference;
  return runOnHost(std::move(options), mode, inputs);
}

class Recurrences : public testing::TestWithParam<Row> {};

/// 4 steps are unrolled; 40 and a symbolic number are a loop.
TEST_P(Recurrences, AreCompiled) {
  for (auto [declared, steps] : {std::pair<int64_t, int64_t>{4, 4}, {40, 40}, {0, 1}, {0, 7}}) {
    std::vector<Tensor> inputs = sampleInputs(GetParam(), steps);
    TinyModel model = modelOf(GetParam(), declared);
    auto want = run(model, PlanMode::Reference, inputs);
    ASSERT_TRUE(want.ok()) << want.status().message();
    for (PlanMode mode : {PlanMode::All, PlanMode::None}) {
      SCOPED_TRACE(fmt::format("{} steps, declared {}, {}", steps, declared, name(mode)));
      auto got = run(model, mode, inputs);
      ASSERT_TRUE(got.ok()) << got.status().message();
      for (size_t i = 0; i < want->size(); ++i)
        EXPECT_EQ(compare("output " + std::to_string(i), (*got)[i], (*want)[i]).sentence, "");
    }
  }
}

/// Sequence lengths that ONNX forbids are refused, as in the reference.
TEST(Recurrence, RefusesLengthsThatAreNotOfTheSequence) {
  for (const Row &row : rows)
    for (int64_t declared : {4, 40, 0})
      for (int32_t wrong : {-1, 100})
        for (PlanMode mode : {PlanMode::All, PlanMode::None}) {
          if (!row.lengths)
            continue;
          std::vector<Tensor> inputs = sampleInputs(row, declared ? declared : 7);
          inputs[4].data<int32_t>()[1] = wrong;
          auto got = run(modelOf(row, declared), mode, inputs);
          ASSERT_FALSE(got.ok());
          EXPECT_NE(got.status().message().find("expected sequence lengths from 0 to"), std::string::npos)
              << got.status().message();
        }
}

struct Refusal {
  const char *name, *sentence;
  void (*change)(onnx::NodeProto *);
};

const Refusal refusals[] = {
    {"TooFewActivations", "expected 6 activations, got 3",
     [](onnx::NodeProto *node) {
       both(node), setAttribute(node, "activations", std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"});
     }},
    {"TooManyActivations", "expected 6 activations, got 7",
     [](onnx::NodeProto *node) { both(node), setAttribute(node, "activations", std::vector<std::string>(7, "Tanh")); }},
    {"NegativeClip", "expected a clip of 0 or more, got -1",
     [](onnx::NodeProto *node) { both(node), setAttribute(node, "clip", -1.0f); }},
    {"UnknownActivation", "the activation Softplus is not compiled",
     [](onnx::NodeProto *node) {
       both(node), setAttribute(node, "activations", std::vector<std::string>(6, "Softplus"));
     }},
};

class RefusedRecurrences : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedRecurrences, AreSaidAtTheNodeThatTheModelHas) {
  Row row{"Lstm", "LSTM", 4, 2, false, false, false, GetParam().change};
  auto got = run(modelOf(row, 4), PlanMode::All, sampleInputs(row, 4));
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.status().message().find(GetParam().sentence), std::string::npos) << got.status().message();
  EXPECT_NE(got.status().message().find("LSTM"), std::string::npos) << got.status().message();
}

INSTANTIATE_TEST_SUITE_P(Rows, RefusedRecurrences, testing::ValuesIn(refusals),
                         [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Rows, Recurrences, testing::ValuesIn(rows),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
