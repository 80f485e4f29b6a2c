// SPDX-License-Identifier: Apache-2.0
// Each sentence with which the importer refuses a model.
#include "tests/frontend/import/ImporterTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using RefusalsTest = ImporterTest;

TEST_F(RefusalsTest, RefusesWhatIsNoModel) {
  auto code = [&](std::string_view bytes) { return importModelBytes(context, bytes, folder, options).status().code(); };
  EXPECT_EQ(code("this is not a model"), Code::Malformed);
  EXPECT_EQ(code(""), Code::Malformed);
  std::string bytes = relu().bytes();
  for (size_t length = 1; length < bytes.size(); ++length)
    EXPECT_NE(code(bytes.substr(0, length)), Code::Ok) << length;
  EXPECT_EQ(importModel(context, folder + "/missing.onnx", options).status().code(), Code::Io);
}

TEST_F(RefusalsTest, RefusesStrangeVersions) {
  TinyModel model = relu();
  model.proto.set_ir_version(99);
  refuses(model, Code::Unsupported, {"IR version 99"});
  model = relu();
  model.proto.clear_opset_import();
  refuses(model, Code::Malformed, {"opset"});
  model.importDomain("other", 1);
  refuses(model, Code::Malformed, {"ai.onnx"});
}

/// Also where the dimension is unknown: the size that the index needs would not be a number.
TEST_F(RefusalsTest, RefusesIndicesBeyondEveryDimension) {
  for (int64_t size : {-1, 4})
    for (int64_t first : {std::numeric_limits<int64_t>::max() - 1, int64_t(0)}) {
      TinyModel model;
      model.input("x", {size < 0 ? Dim("n") : Dim(4)}).output("y");
      model.integers("indices", {2}, {first, std::numeric_limits<int64_t>::max()});
      model.node("Gather", {"x", "indices"}, {"y"});
      refuses(model, Code::Malformed, {"Gather", "out of range for dimension 0"});
    }
}

/// What folding would cost is asked before the inputs are checked.
TEST_F(RefusalsTest, RefusesConstantsThatAreExpandedFromNothing) {
  TinyModel model;
  model.input("x", {4}).output("y").integers("shape", {1}, {4});
  model.node("Expand", {"", "shape"}, {"a"}), model.node("Add", {"x", "a"}, {"y"});
  refuses(model, Code::Malformed, {"Expand", "input 0"});
}

TEST_F(RefusalsTest, RefusesCycles) {
  TinyModel model;
  model.input("x", {4}).output("a").node("Add", {"x", "b"}, {"a"});
  model.node("Relu", {"a"}, {"b"});
  refuses(model, Code::Malformed, {"cycle", "'a'"});
}

TEST_F(RefusalsTest, RefusesUndefinedAndTwiceDefinedValues) {
  TinyModel undefined = relu();
  undefined.proto.mutable_graph()->mutable_node(0)->set_input(0, "nowhere");
  refuses(undefined, Code::Malformed, {"'nowhere'", "nothing defines"});
  TinyModel twice = relu();
  twice.node("Exp", {"x"}, {"y"});
  refuses(twice, Code::Malformed, {"'y'", "twice"});
  TinyModel weight = relu();
  weight.floats("y", {1}, {1}); // a constant, but the other is none
  refuses(weight, Code::Malformed, {"'y'", "twice"});
  TinyModel noOutput = relu();
  noOutput.proto.mutable_graph()->mutable_output(0)->set_name("z");
  refuses(noOutput, Code::Malformed, {"'z'"});
}

TEST_F(RefusalsTest, RefusesBadDimensions) {
  TinyModel negative;
  negative.input("x", {-5, 3}).output("y").node("Relu", {"x"}, {"y"});
  refuses(negative, Code::Malformed, {"'x'", "-5"});
  TinyModel huge;
  huge.input("x", {2000000000, 2000000000, 2000000000}).output("y").node("Relu", {"x"}, {"y"});
  refuses(huge, Code::Malformed, {"'x'", "2^40"});
  TinyModel deep;
  deep.input("x", std::vector<Dim>(2000, 1)).output("y").node("Softmax", {"x"}, {"y"}); // which took minutes
  refuses(deep, Code::Unsupported, {"at most 64 dimensions", "2000"});
  TinyModel weights = relu();
  weights.floats("w", {-1}, {});
  refuses(weights, Code::Malformed, {"'w'", "negative"});
}

TEST_F(RefusalsTest, RefusesDataOfTheWrongLength) {
  TinyModel few = relu();
  few.floats("w", {4}, {1, 2, 3});
  refuses(few, Code::Malformed, {"'w'", "expected 4 elements", "got 3"});
  TinyModel raw = relu();
  raw.initializer("w", {4}, DType::F32)->set_raw_data("12345");
  refuses(raw, Code::Malformed, {"'w'", "expected 16 bytes", "got 5"});
  TinyModel twice = relu();
  twice.floats("w", {1}, {1})->set_raw_data("1234");
  refuses(twice, Code::Malformed, {"'w'", "more than one place"});
  TinyModel otherField = relu();
  otherField.initializer("w", {1}, DType::F32)->add_int64_data(1);
  refuses(otherField, Code::Malformed, {"'w'", "float_data"});
}

TEST_F(RefusalsTest, RefusesUnknownTypes) {
  TinyModel weights = relu();
  weights.initializer("w", {0}, static_cast<DType>(99));
  refuses(weights, Code::Unsupported, {"'w'", "99"});
}

TEST_F(RefusalsTest, RefusesShapesThatDoNotFit) {
  TinyModel add;
  add.input("x", {2, 3}).input("z", {4}).output("y").node("Add", {"x", "z"}, {"y"});
  refuses(add, Code::Malformed, {"'y'", "Add", "opset 17", "4 beside 3"});
  TinyModel matmul;
  matmul.input("x", {2, 3}).input("z", {4, 5}).output("y").node("MatMul", {"x", "z"}, {"y"});
  refuses(matmul, Code::Malformed, {"'y'", "MatMul", "3", "4"});
  TinyModel reshape;
  reshape.input("x", {2, 3}).output("y").integers("shape", {2}, {4, -1});
  reshape.node("Reshape", {"x", "shape"}, {"y"});
  refuses(reshape, Code::Malformed, {"'y'", "Reshape", "elements that 4 divides, got 6"});
  TinyModel columns; // which are 1, 2, 3 or 6
  columns.input("x", {2, 3}).input("shape", {2}, DType::I64).input("z", {4, 5}).output("y");
  columns.node("Reshape", {"x", "shape"}, {"a"}), columns.node("MatMul", {"a", "z"}, {"y"});
  refuses(columns, Code::Malformed, {"'y'", "MatMul", "4"});
  TinyModel pool;
  pool.input("x", {3}).output("y").node("GlobalAveragePool", {"x"}, {"y"});
  refuses(pool, Code::Malformed, {"'y'", "GlobalAveragePool", "rank 2 or more", "got 1"});
  TinyModel surplus;
  surplus.input("x", {3}).output("y").output("z").node("Relu", {"x"}, {"y", "z"});
  refuses(surplus, Code::Malformed, {"'y'", "Relu", "output"});
  TinyModel gather;
  gather.input("x", {2, 3}).output("y").integers("i", {}, {5});
  gather.node("Gather", {"x", "i"}, {"y"});
  refuses(gather, Code::Malformed, {"'y'", "index 5", "size 2"});
  TinyModel grid;
  grid.input("x", {1, 2, 3, 4}).input("g", {1, 5, 6, 3}).output("y").node("GridSample", {"x", "g"}, {"y"});
  refuses(grid, Code::Malformed, {"'y'", "GridSample", "the grid's coordinates = 2", "got 3"});
  TinyModel transpose = relu();
  transpose.proto.mutable_graph()->mutable_node(0)->set_op_type("Transpose");
  setAttribute(transpose.proto.mutable_graph()->mutable_node(0), "perm", std::vector<int64_t>{0, 0});
  refuses(transpose, Code::Malformed, {"permutation"});
}

TEST_F(RefusalsTest, RefusesTypesThatDoNotFit) {
  TinyModel mixed;
  mixed.input("x", {4}).input("z", {4}, DType::I64).output("y").node("Add", {"x", "z"}, {"y"});
  refuses(mixed, Code::Malformed, {"'y'", "input 1 ('z') is int64, expected float32 as 'x' is"});
  TinyModel integers;
  integers.input("x", {4}, DType::I64).output("y").node("Exp", {"x"}, {"y"});
  refuses(integers, Code::Malformed, {"'y'", "is int64, expected float32, float16"});
  TinyModel condition;
  condition.input("x", {4}).output("y").node("Where", {"x", "x", "x"}, {"y"});
  refuses(condition, Code::Malformed, {"'y'", "is float32, expected bool"});
}

TEST_F(RefusalsTest, RefusesBadAttributes) {
  TinyModel model;
  model.input("x", {2, 3}).output("y");
  setAttribute(model.node("Softmax", {"x"}, {"y"}), "axis", int64_t(5));
  refuses(model, Code::Malformed, {"'y'", "axis from -2 to 1", "got 5"});
  TinyModel kind;
  kind.input("x", {2, 3}).output("y");
  setAttribute(kind.node("Softmax", {"x"}, {"y"}), "axis", 1.0f);
  refuses(kind, Code::Malformed, {"'axis'", "integer"});
  TinyModel twice;
  twice.input("x", {2, 3}).output("y");
  onnx::NodeProto *node = twice.node("Softmax", {"x"}, {"y"});
  setAttribute(node, "axis", int64_t(1)), setAttribute(node, "axis", int64_t(0));
  refuses(twice, Code::Malformed, {"'axis'", "twice"});
  TinyModel grid;
  grid.input("x", {1, 2, 3, 4}).input("g", {1, 5, 6, 2}).output("y");
  setAttribute(grid.node("GridSample", {"x", "g"}, {"y"}), "padding_mode", std::string("wrap"));
  refuses(grid, Code::Malformed, {"'y'", "zeros, border or reflection", "'wrap'"});
  TinyModel missing = relu();
  missing.proto.mutable_graph()->mutable_node(0)->clear_input();
  refuses(missing, Code::Malformed, {"'y'", "expected 1 input, got 0"});
}

TEST_F(RefusalsTest, RefusesFusedOperatorsThatDoNotFit) {
  auto fused = [](const char *op, std::vector<std::vector<Dim>> shapes) {
    TinyModel model;
    model.importDomain("com.microsoft", 1).output("y");
    std::vector<std::string> names;
    for (const auto &shape : shapes)
      model.input(names.emplace_back("x" + std::to_string(names.size())), shape);
    model.node(op, names, {"y"})->set_domain("com.microsoft");
    return model;
  };
  TinyModel attention = fused("Attention", {{2, 3, 4}, {4, 24}, {24}});
  setAttribute(attention.proto.mutable_graph()->mutable_node(0), "num_heads", int64_t(5));
  refuses(attention, Code::Malformed, {"'y'", "5 heads * size"});
  refuses(fused("FusedConv", {{1, 1, 3, 3}, {1, 1, 1, 1}, {1}, {1, 1, 3}}), Code::Malformed,
          {"'y'", "input 3 of rank 4"});
  refuses(fused("NhwcFusedConv", {{2, 3}, {2, 3}}), Code::Malformed, {"'y'", "rank 3 to 8"});
  refuses(fused("BiasSplitGelu", {{2, 3}, {3}}), Code::Malformed, {"'y'", "even last dimension"});
  refuses(fused("SkipLayerNormalization", {{2, 3, 4}, {2, 3, 4}, {5}}), Code::Malformed, {"'y'", "5"});
}

TEST_F(RefusalsTest, RefusesWhatIsNotATensor) {
  TinyModel model = relu();
  model.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
  refuses(model, Code::Unsupported, {"'x'", "neither a tensor nor a sequence"});
  TinyModel loop = relu();
  loop.proto.mutable_graph()->mutable_node(0)->set_op_type("Loop");
  refuses(loop, Code::Malformed, {"'y'", "Loop", "opset 17", "expected a graph as its body"});
  TinyModel sparse = relu();
  sparse.proto.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name("s");
  refuses(sparse, Code::Unsupported, {"'s'", "element type"});
}

} // namespace
