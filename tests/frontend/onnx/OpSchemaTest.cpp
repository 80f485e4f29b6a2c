// SPDX-License-Identifier: Apache-2.0
// The table of schemas is well-formed and ordered, and nodes that violate their schema are refused.
#include "frontend/onnx/OpSchema.h"

#include "frontend/import/Importer.h"
#include "frontend/ops/OpTable.h"
#include "tests/frontend/TinyModel.h"

#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

TEST(OpSchemaTest, FindsTheNewestVersionUpToTheOpset) {
  EXPECT_EQ(findSchema("", "Cast", 5)->since, 1);
  EXPECT_EQ(findSchema("", "Cast", 12)->since, 9);
  EXPECT_EQ(findSchema("", "BitShift", 10), nullptr);
  EXPECT_EQ(findSchema("", "NoSuchOperator", 17), nullptr);
  EXPECT_EQ(findSchema("com.microsoft", "FusedMatMul", 1)->leastInputs, 2);
}

/// Binary search needs the order.
TEST(OpSchemaTest, KnowsEveryOperatorThatIsCompiled) {
  for (const OpRow &row : opTable())
    if (row.domain != "tilewright") // only the importer generates these
      EXPECT_NE(findSchema(row.domain, row.op, std::max<int64_t>(row.since, 28)), nullptr)
          << row.domain << " " << row.op;
}

struct Broken {
  const char *what;
  void (*breakIt)(onnx::NodeProto &);
  const char *sentence;
};

class BrokenNode : public testing::TestWithParam<Broken> {};

TEST_P(BrokenNode, IsRefusedByItsSchema) {
  TinyModel model;
  model.input("x", {1, 2, 4, 4})
      .input("i", {4}, DType::I64)
      .input("words", {4}, DType::String)
      .output("y")
      .floats("w", {3, 2, 3, 3}, std::vector<float>(54));
  onnx::NodeProto *node = model.node("Conv", {"x", "w"}, {"y"});
  GetParam().breakIt(*node);
  mlir::MLIRContext context;
  auto module = importModelBytes(context, model.bytes(), "", {});
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), Code::Malformed);
  EXPECT_NE(module.status().message().find(GetParam().sentence), std::string::npos) << module.status().message();
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenNode,
    testing::Values(Broken{"TooFewInputs", [](onnx::NodeProto &n) { n.mutable_input()->RemoveLast(); },
                           "expected 2 to 3 inputs, got 1"},
                    Broken{"TooManyInputs", [](onnx::NodeProto &n) { n.add_input("w"), n.add_input("w"); },
                           "expected 2 to 3 inputs, got 4"},
                    Broken{"TooManyOutputs", [](onnx::NodeProto &n) { n.add_output("z"); }, "expected 1 output, got 2"},
                    Broken{"WrongType", [](onnx::NodeProto &n) { n.set_input(0, "i"); },
                           "input 0 ('i') is int64, expected float32"},
                    Broken{"MixedTypes", [](onnx::NodeProto &n) { n.set_op_type("Add"), n.set_input(1, "i"); },
                           "input 1 ('i') is int64, expected float32 as 'x' is"},
                    Broken{"Strings",
                           [](onnx::NodeProto &n) { n.set_op_type("GatherElements"), n.set_input(1, "words"); },
                           "input 1 ('words') is string, expected int64, int32"},
                    Broken{"WrongKind", [](onnx::NodeProto &n) { setAttribute(&n, "pads", 1.0f); },
                           "attribute 'pads' is a float, expected a list of integers"},
                    Broken{"MissingAttribute", [](onnx::NodeProto &n) { n.set_op_type("Concat"); },
                           "expected the attribute 'axis', which must be given"}),
    [](const auto &info) { return info.param.what; });

} // namespace
