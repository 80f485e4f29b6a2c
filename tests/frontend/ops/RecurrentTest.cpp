// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM.
#include "tests/frontend/import/ImporterTest.h"
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> recurrences() {
  std::vector<Case> cases;
  for (auto [op, gates, outputs] : {std::tuple("RNN", 1, 2), std::tuple("GRU", 3, 2), std::tuple("LSTM", 4, 3)}) {
    auto inputs = [&, gates = gates](int64_t directions) {
      return std::vector<Input>{
          {{5, 2, 3}}, {{directions, gates * 4, 3}}, {{directions, gates * 4, 4}}, {{directions, gates * 8}}};
    };
    cases.push_back({op, inputs(1), {{"hidden_size", int64_t(4)}}, 17, outputs});
    cases.push_back({op, inputs(1), {{"hidden_size", int64_t(4)}, {"direction", std::string("reverse")}}, 17, outputs});
    cases.push_back(
        {op, inputs(2), {{"hidden_size", int64_t(4)}, {"direction", std::string("bidirectional")}}, 17, outputs});
  }
  cases.push_back({"GRU",
                   {{{5, 2, 3}}, {{1, 12, 3}}, {{1, 12, 4}}, {{1, 24}}},
                   {{"hidden_size", int64_t(4)}, {"linear_before_reset", int64_t(1)}},
                   17,
                   2});
  cases.push_back({"LSTM",
                   {{{2, 5, 3}}, {{1, 16, 3}}, {{1, 16, 4}}},
                   {{"hidden_size", int64_t(4)}, {"layout", int64_t(1)}},
                   17,
                   3});
  return cases;
}

struct RecurrencesOfHalves : ImporterTest {};

/// Every product of a recurrence in half precision is of halves: of a step in a loop, of unrolled ones, of a GRU's gate
/// that depends on others, and of the inputs.
TEST_F(RecurrencesOfHalves, MultiplyHalves) {
  for (auto [op, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)})
    for (int steps : {3, 100})
      for (DType type : {DType::F16, DType::BF16}) {
        TinyModel m(22);
        m.input("x", {steps, 2, 16}, type).input("w", {2, gates * 8, 16}, type).input("r", {2, gates * 8, 8}, type);
        m.output("y");
        onnx::NodeProto *node = m.node(op, {"x", "w", "r"}, {"y"});
        setAttribute(node, "hidden_size", int64_t(8)), setAttribute(node, "direction", std::string("bidirectional"));
        auto module = import(m);
        ASSERT_TRUE(module.ok()) << module.status().message();
        int products = 0;
        (*module)->walk([&](graph::ContractOp contract) {
          ++products;
          for (mlir::Type operand : contract->getOperandTypes())
            EXPECT_EQ(mlir::cast<mlir::RankedTensorType>(operand).getElementTypeBitWidth(), 16u) << op << steps;
        });
        EXPECT_GE(products, steps == 3 ? 2 * (1 + steps) : 3) << op; // of inputs and steps, in each direction
      }
}

struct DirectionsOfRecurrences : ImporterTest {};

/// Two directions are one loop up to so many recurrent weights, and one after the other with more.
TEST_F(DirectionsOfRecurrences, StepTogetherWithFewWeights) {
  TinyModel m(22);
  m.input("x", {100, 2, 16}).input("w", {2, 32, 16}).input("r", {2, 32, 8});
  m.output("y");
  onnx::NodeProto *node = m.node("LSTM", {"x", "w", "r"}, {"y"});
  setAttribute(node, "hidden_size", int64_t(8)), setAttribute(node, "direction", std::string("bidirectional"));
  for (auto [most, loops] : {std::pair(int64_t(2 * 4 * 8 * 8), 1u), std::pair(int64_t(2 * 4 * 8 * 8 - 1), 2u)}) {
    options.togetherWeights = most;
    EXPECT_EQ(count(text(m), "flow.loop"), loops) << most;
  }
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Recurrences, HandlersTest, testing::ValuesIn(recurrences()), caseName);

} // namespace tilewright::test
