// SPDX-License-Identifier: Apache-2.0
// Nodes: what they become, constants, branches, and what is reported.
#include "tests/frontend/import/ImporterTest.h"

#include "runtime/reference/Reference.h"

#include <numeric>

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// As ONNX Runtime, which only warns: the channels of one input are 3, of the other 5, and both are called 'c'.
TEST_F(ImporterTest, TakesDimensionsApartWhoseNamesContradict) {
  TinyModel model;
  model.input("x", {"n", "c"}).input("y", {"n", "c"}).output("z");
  model.floats("v", {3, 1}, {1, 10, 100}), model.floats("w", {5, 1}, {1, 1, 1, 1, 1});
  model.node("MatMul", {"x", "v"}, {"a"}), model.node("MatMul", {"y", "w"}, {"b"}),
      model.node("Add", {"a", "b"}, {"z"});
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("names such as 'n' stand for sizes that differ"), std::string::npos);
  std::vector<Tensor> inputs{sampleTensor(DType::F32, {2, 3}), sampleTensor(DType::F32, {2, 5})};
  auto got = graph::interpret(**module, inputs);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[0].shape(), (Shape{2, 1}));
}

TEST_F(ImporterTest, EveryOperationKnowsItsNode) {
  auto module = import(relu());
  ASSERT_TRUE(module.ok());
  auto nodes = (**module)->getAttrOfType<mlir::ArrayAttr>(graph::nodesAttr);
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(llvm::cast<mlir::StringAttr>(nodes[0]).getValue(), "y|Relu");
  (**module).walk([](mlir::arith::MaximumFOp op) { EXPECT_TRUE(op->hasAttr(graph::nodeAttr)); });
}

TEST_F(ImporterTest, HalfTypesAreStorage) {
  TinyModel model;
  model.input("x", {4}, DType::F16).output("y").node("Exp", {"x"}, {"y"});
  std::string ir = text(model);
  EXPECT_LT(ir.find("arith.extf"), ir.find("math.exp"));
  EXPECT_LT(ir.find("math.exp"), ir.find("arith.truncf"));
}

TEST_F(ImporterTest, CastsToIntegersSaturate) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Tensor x = Tensor::allocate(DType::F32, {12});
  std::ranges::copy(
      std::array{0.0f, -1.5f, 1.5f, 127.9f, 128.0f, 255.0f, 256.0f, 3e9f, -3e9f, infinity, -infinity, nan},
      x.data<float>());
  for (DType to : {DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::I64, DType::U64}) {
    TinyModel model;
    model.input("x", {12}).output("y");
    setAttribute(model.node("Cast", {"x"}, {"y"}), "to", static_cast<int64_t>(to));
    auto module = import(model);
    ASSERT_TRUE(module.ok()) << module.status().message();
    auto got = graph::interpret(**module, std::span(&x, 1));
    Attributes attributes{{"to", static_cast<int64_t>(to)}};
    auto expected = evaluate({.op = "Cast", .domain = "", .opset = 17, .attributes = &attributes}, std::span(&x, 1));
    ASSERT_TRUE(got.ok() && expected.ok());
    expectClose((*got)[0], (*expected)[0], std::string(name(to)));
  }
}

TEST_F(ImporterTest, ConstantsFoldAndSplatsStaySplats) {
  TinyModel model;
  model.input("x", {4}).output("y");
  model.floats("a", {4}, {1, 2, 3, 4}), model.floats("b", {4}, {3, 2, 1, 0});
  model.node("Add", {"a", "b"}, {"four"});
  model.node("Mul", {"x", "four"}, {"y"});
  std::string ir = text(model);
  EXPECT_EQ(count(ir, "arith.addf"), 0u);
  EXPECT_NE(ir.find("dense<4.000000e+00> : tensor<4xf32>"), std::string::npos) << ir;
}

TEST_F(ImporterTest, BombsAreNotFolded) {
  TinyModel model;
  model.input("x", {1}).output("y");
  model.integers("shape", {3}, {4096, 4096, 64});
  model.node("ConstantOfShape", {"shape"}, {"big"});
  model.node("Add", {"x", "big"}, {"y"});
  EXPECT_NE(text(model).find("tensor<4096x4096x64xf32>"), std::string::npos); // described, not allocated
}

/// A bias of windows: a table of a number for each distance and head, read by one index for each pair of positions.
/// What counts is how many elements that makes, 4 million at most if that is more than the table has.
TEST_F(ImporterTest, GathersOfConstantsAreFoldedByTheirResults) {
  constexpr int distances = 2535, heads = 3;
  for (auto [pairs, isFolded] : {std::pair(392 * 392, true), {1 << 21, false}}) {
    TinyModel model;
    model.input("x", {1}).output("y");
    model.floats("table", {distances, heads}, std::vector<float>(size_t(distances) * heads, 0.5f));
    std::vector<int64_t> indices;
    for (int i = 0; i < pairs; ++i)
      indices.push_back(i % distances);
    model.integers("index", {pairs}, indices);
    model.node("Gather", {"table", "index"}, {"bias"});
    model.node("Add", {"x", "bias"}, {"y"});
    EXPECT_EQ(count(text(model), "graph.gather"), isFolded ? 0u : 1u) << pairs;
  }
}

/// The scales count for nothing in the size of the result, which is the weights'.
TEST_F(ImporterTest, WeightsQuantizedInBlocksAreFolded) {
  constexpr int rows = 4096, columns = 32, block = 16;
  TinyModel model(21, 10);
  model.input("x", {1, rows}).output("y");
  model.initializer("w", {rows, columns}, DType::I8)->set_raw_data(std::string(size_t(rows) * columns, '\3'));
  model.floats("scales", {rows, columns / block}, std::vector<float>(size_t(rows) * columns / block, 0.5f));
  onnx::NodeProto *node = model.node("DequantizeLinear", {"w", "scales"}, {"floats"});
  for (auto [name, value] : {std::pair("axis", 1), std::pair("block_size", block)}) {
    onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  model.node("MatMul", {"x", "floats"}, {"y"});
  EXPECT_EQ(count(text(model), "DequantizeLinear\"("), 0u);
  EXPECT_EQ(report.fallbacks.size(), 0u);
}

/// A table of positions as transformers quantize it when running: normalized, and projected by each layer's weights.
TEST_F(ImporterTest, WhatIsComputedFromWeightsAloneIsFolded) {
  constexpr int rows = 300, columns = 320;
  TinyModel model;
  model.input("x", {rows, columns}).output("y");
  std::vector<float> table;
  for (int i = 0; i < rows * columns; ++i)
    table.push_back(static_cast<float>((i * 37) % 101));
  model.floats("table", {rows, columns}, table);
  model.floats("scale", {columns}, std::vector<float>(columns, 0.5f));
  model.floats("bias", {columns}, std::vector<float>(columns, 1));
  model.initializer("w", {columns, columns}, DType::I8)->set_raw_data(std::string(columns * columns, '\3'));
  model.node("LayerNormalization", {"table", "scale", "bias"}, {"normal"});
  model.node("DynamicQuantizeLinear", {"normal"}, {"bytes", "step", "zero"});
  model.node("MatMulInteger", {"bytes", "w", "zero"}, {"sums"});
  setAttribute(model.node("Cast", {"sums"}, {"floats"}), "to", static_cast<int64_t>(DType::F32));
  model.node("Mul", {"floats", "step"}, {"scaled"});
  model.node("Add", {"scaled", "bias"}, {"keys"});
  model.node("Add", {"x", "keys"}, {"y"});
  std::string ir = text(model);
  EXPECT_EQ(count(ir, "arith.addf"), 1u) << "all but the last addition is done";
  EXPECT_EQ(count(ir, "graph.contract"), 0u);
  EXPECT_EQ(count(ir, "graph.reduce"), 0u);
  EXPECT_EQ(report.fallbacks.size(), 0u);
}

/// A mask of windows as exporters write an assignment to a slice: where to write is expanded and concatenated first.
/// What the elements of an expanded vector are says nothing of how many there will be.
TEST_F(ImporterTest, MasksOfSlicesAreFolded) {
  constexpr int size = 56, part = 49;
  TinyModel model(18);
  model.input("x", {size, size}).output("y");
  std::vector<int64_t> positions(part);
  std::iota(positions.begin(), positions.end(), int64_t(0));
  model.floats("zeros", {size, size}, std::vector<float>(size * size, 0));
  model.floats("ones", {part, part}, std::vector<float>(part * part, 1));
  model.integers("rows", {part, 1, 1}, positions), model.integers("columns", {1, part, 1}, positions);
  model.integers("shape", {3}, {part, part, 1});
  model.node("Expand", {"rows", "shape"}, {"all rows"}), model.node("Expand", {"columns", "shape"}, {"all columns"});
  setAttribute(model.node("Concat", {"all rows", "all columns"}, {"where"}), "axis", int64_t(-1));
  model.node("ScatterND", {"zeros", "where", "ones"}, {"mask"});
  model.node("Mul", {"x", "mask"}, {"y"});
  std::string ir = text(model);
  EXPECT_EQ(report.fallbacks.size(), 0u);
  EXPECT_EQ(count(ir, "graph.concat"), 0u);
  EXPECT_EQ(count(ir, "graph.constant"), 1u);
}

/// The same to a slice that is too large for its tuples of indices to be folded: each column is a repeated vector, here
/// one whose places follow each other, one whose places do not, and a single index, which is folded to a splat.
TEST_F(ImporterTest, LargeSlicesAreAssignedWithoutTuples) {
  constexpr int size = 1200, part = 1100;
  TinyModel model(18);
  model.input("x", {2, size, size}).input("updates", {part, part}).output("y");
  std::vector<int64_t> rows(part), columns(part);
  std::iota(rows.begin(), rows.end(), int64_t(50));
  std::iota(columns.rbegin(), columns.rend(), int64_t(0));
  model.integers("rows", {part, 1, 1}, rows), model.integers("columns", {1, part, 1}, columns);
  model.integers("image", {1, 1, 1}, {1}), model.integers("shape", {3}, {part, part, 1});
  model.node("Expand", {"rows", "shape"}, {"all rows"}), model.node("Expand", {"columns", "shape"}, {"all columns"});
  model.node("Expand", {"image", "shape"}, {"one image"});
  setAttribute(model.node("Concat", {"one image", "all rows", "all columns"}, {"where"}), "axis", int64_t(-1));
  model.node("ScatterND", {"x", "where", "updates"}, {"y"});
  std::string ir = text(model);
  EXPECT_EQ(report.fallbacks.size(), 0u);
  EXPECT_EQ(count(ir, "graph.pad"), 1u);
  EXPECT_EQ(count(ir, "graph.gather"), 1u);
  EXPECT_EQ(count(ir, "graph.reduce"), 0u);
}

/// 2048 cubed is twice what all folded contractions may take.
TEST_F(ImporterTest, LongContractionsOfWeightsAreNotFolded) {
  constexpr int size = 2048;
  TinyModel model;
  model.input("x", {size}, DType::I32).output("y");
  for (const char *name : {"a", "b"})
    model.initializer(name, {size, size}, DType::I8)->set_raw_data(std::string(size * size, '\3'));
  model.node("MatMulInteger", {"a", "b"}, {"sums"});
  model.node("Add", {"x", "sums"}, {"y"});
  EXPECT_EQ(count(text(model), "graph.contract"), 1u);
}

TEST_F(ImporterTest, BranchesWithAConstantConditionAreInlined) {
  TinyModel model;
  model.input("x", {4}).output("y");
  auto *condition = model.initializer("condition", {}, DType::Bool);
  condition->add_int32_data(1);
  onnx::NodeProto *node = model.node("If", {"condition"}, {"y"});
  for (const char *name : {"then_branch", "else_branch"}) {
    auto *attribute = node->add_attribute();
    attribute->set_name(name), attribute->set_type(onnx::AttributeProto::GRAPH);
    // The result of the branch has the same name as the result of the node, which is not a cycle.
    TinyModel::fill(attribute->mutable_g()->add_node(), name[0] == 't' ? "Exp" : "Log", {"x"}, {"y"});
    attribute->mutable_g()->add_output()->set_name("y");
  }
  std::string ir = text(model);
  EXPECT_EQ(count(ir, "math.exp"), 1u);
  EXPECT_EQ(count(ir, "math.log"), 0u);
  model.proto.mutable_graph()->clear_initializer();
  model.input("condition", {}, DType::Bool);
  std::string both = text(model); // a condition known at run time becomes a flow.if
  EXPECT_EQ(count(both, "math.exp"), 1u);
  EXPECT_EQ(count(both, "math.log"), 1u);
}

TEST_F(ImporterTest, SaysWhoRunsOperatorsOfForeignDomains) {
  for (auto [domain, part] :
       std::vector<std::pair<std::string, std::string>>{{"ai.onnx.contrib", "ONNX Runtime Extensions"},
                                                        {"org.pytorch.aten", "without the ATen fallback"},
                                                        {"com.microsoft.nchwc", "'extended' or lower"}}) {
    TinyModel model = relu();
    model.importDomain(domain, 1).proto.mutable_graph()->mutable_node(0)->set_domain(domain);
    report = {};
    refuses(model, Code::Unsupported, {"'y'", part});
  }
}

TEST_F(ImporterTest, NodesMayStandInAnyOrder) {
  TinyModel model;
  model.input("x", {4}).output("z").node("Exp", {"y"}, {"z"});
  model.node("Neg", {"x"}, {"y"});
  std::string ir = text(model);
  EXPECT_LT(ir.find("arith.negf"), ir.find("math.exp"));
}

TEST_F(ImporterTest, InitializersMayBeInputsToo) {
  TinyModel model(8, 3);
  model.input("x", {4}).input("w", {4}).output("y").floats("w", {4}, {1, 2, 3, 4});
  model.node("Add", {"x", "w"}, {"y"});
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ((*module)->lookupSymbol<mlir::func::FuncOp>("main").getNumArguments(), 1u);
}

/// As ONNX Runtime takes them: some exporters write them so.
TEST_F(ImporterTest, TheLastOfSeveralConstantsOfANameCounts) {
  TinyModel weights;
  weights.input("x", {1}).output("y").node("Add", {"x", "w"}, {"y"});
  weights.floats("w", {1}, {3}), weights.floats("w", {1}, {5});
  std::string printed = text(weights);
  EXPECT_EQ(count(printed, "5.000000e+00"), 1u) << printed;
  EXPECT_EQ(count(printed, "3.000000e+00"), 0u) << printed;
  EXPECT_EQ(report.warnings.size(), 1u);

  TinyModel nodes;
  nodes.input("x", {1}).output("y");
  nodes.floats("w", {1}, {3});
  for (float value : {5.0f, 7.0f})
    setAttribute(nodes.node("Constant", {}, {"w"}), "value_float", value);
  nodes.node("Add", {"x", "w"}, {"y"});
  printed = text(nodes);
  EXPECT_EQ(count(printed, "7.000000e+00"), 1u) << printed;
  EXPECT_EQ(count(printed, "5.0") + count(printed, "3.000000e+00"), 0u) << printed;
}

TEST_F(ImporterTest, WhatOnlyTheReferenceHasIsAHostCall) {
  TinyModel model;
  model.input("x", {"n", 3}).output("y").node("NonZero", {"x"}, {"y"});
  std::string ir = text(model);
  EXPECT_NE(ir.find("graph.host_call \"NonZero\""), std::string::npos) << ir;
  ASSERT_EQ(report.fallbacks.size(), 1u);
  EXPECT_EQ(report.fallbacks[0].op, "NonZero");
  options.noFallback = true;
  refuses(model, Code::Unsupported, {"NonZero", "--no-fallback"});
}

TEST_F(ImporterTest, EverythingThroughTheReference) {
  options.allAsReference = true;
  EXPECT_NE(text(relu()).find("graph.host_call \"Relu\""), std::string::npos);
}

TEST_F(ImporterTest, AllUnsupportedNodesAreReportedAtOnce) {
  TinyModel model;
  model.importDomain("strange", 1).input("x", {4}).output("z");
  model.node("Foo", {"x"}, {"a"})->set_domain("strange");
  model.node("Relu", {"a"}, {"b"});
  model.node("Bar", {"b"}, {"c"})->set_domain("strange"); // reads what Foo did not make
  model.node("Baz", {"x"}, {"z"})->set_domain("strange");
  refuses(model, Code::Unsupported, {"'a'", "strange.Foo", "opset 1", "2 more"});
  EXPECT_EQ(report.unsupported.size(), 3u);
}

} // namespace
