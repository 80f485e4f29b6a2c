// SPDX-License-Identifier: Apache-2.0
// Symbols, and shapes computed from them.
#include "tests/frontend/import/ImporterTest.h"

#include <set>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using ShapeArithmeticTest = ImporterTest;

TEST_F(ShapeArithmeticTest, SymbolsAreSharedByName) {
  TinyModel model;
  model.input("x", {"batch", 4}).input("y", {"batch", 1}).output("z").node("Add", {"x", "y"}, {"z"});
  std::string ir = text(model);
  EXPECT_NE(ir.find("graph.symbols = [\"batch\"]"), std::string::npos) << ir;
}

TEST_F(ShapeArithmeticTest, ExpressionsOfSymbols) {
  TinyModel model;
  model.input("past", {"seq", 4}).input("now", {1, 4}).input("mask", {"seq + 1", 4}).output("z");
  model.node("Concat", {"past", "now"}, {"all"});
  setAttribute(model.proto.mutable_graph()->mutable_node(0), "axis", int64_t(0));
  model.node("Add", {"all", "mask"}, {"z"});
  EXPECT_NE(text(model).find("s0 + 1"), std::string::npos);
}

TEST_F(ShapeArithmeticTest, SymbolsThatMustBeEqualBecomeOne) {
  TinyModel model;
  model.input("x", {"a", 4}).input("y", {"b", 4}).output("z").node("Add", {"x", "y"}, {"z"});
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  auto main = (*module)->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_EQ(main.getArgumentTypes()[0], main.getArgumentTypes()[1]);
  std::vector<Tensor> wrong{sampleTensor(DType::F32, {3, 4}), sampleTensor(DType::F32, {2, 4})};
  EXPECT_FALSE(graph::interpret(**module, wrong).ok());
}

TEST_F(ShapeArithmeticTest, ShapesFixSymbolsEverywhere) {
  TinyModel model;
  model.input("x", {"batch", 4}).input("y", {"batch", 1}).output("z").node("Add", {"x", "y"}, {"z"});
  options.shapes["x"] = {7, 4};
  EXPECT_NE(text(model).find("tensor<7x1xf32>"), std::string::npos);
  options.shapes["x"] = {7, 5};
  refuses(model, Code::Usage, {"'x'", "5", "4"});
  options.shapes = {{"w", {1}}};
  refuses(model, Code::Usage, {"'w'"});
}

TEST_F(ShapeArithmeticTest, ShapeArithmeticLeavesNoOperations) {
  TinyModel model;
  model.input("x", {"batch", "seq", 768}).output("y");
  model.integers("i", {1}, {0}), model.integers("tail", {3}, {-1, 12, 64});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "i"}, {"batch"});
  model.node("Concat", {"batch", "tail"}, {"target"});
  setAttribute(model.proto.mutable_graph()->mutable_node(2), "axis", int64_t(0));
  model.node("Reshape", {"x", "target"}, {"y"});
  std::string ir = text(model);
  EXPECT_EQ(count(ir, "graph.reshape"), 1u) << ir;
  EXPECT_EQ(count(ir, "graph.dims"), 0u) << ir;
  EXPECT_NE(ir.find("(s0, s1, 12, 64)"), std::string::npos) << ir;
}

/// A table of positions, resized by a cubic to the size of an image: its sizes follow from the image's, as expressions.
TEST_F(ShapeArithmeticTest, SizesOfAResizeThatAreFollowedAreNotRead) {
  TinyModel model(19);
  model.input("x", {"batch", 2, "h", "w"}).input("table", {1, 2, 4, 4}).output("y");
  model.integers("channels", {2}, {1, 2});
  auto *shape = model.node("Shape", {"x"}, {"sides"});
  setAttribute(shape, "start", int64_t(2));
  setAttribute(model.node("Concat", {"channels", "sides"}, {"sizes"}), "axis", int64_t(0));
  setAttribute(model.node("Resize", {"table", "", "", "sizes"}, {"positions"}), "mode", "cubic");
  model.node("Add", {"x", "positions"}, {"y"});
  std::string ir = text(model);
  EXPECT_EQ(count(ir, "graph.read_sizes"), 0u) << ir;
  EXPECT_EQ(count(ir, "graph.guards"), 0u) << ir;
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  std::vector<Tensor> inputs{sampleTensor(DType::F32, {3, 2, 4, 4}), sampleTensor(DType::F32, {1, 2, 4, 4})};
  auto got = graph::interpret(**module, inputs);
  ASSERT_TRUE(got.ok()) << got.status().message();
  for (int64_t i = 0; i < inputs[0].count(); ++i) // of the same size, so that nothing is interpolated
    EXPECT_NEAR((*got)[0].data<float>()[i], inputs[0].data<float>()[i] + inputs[1].data<float>()[i % inputs[1].count()],
                1e-5);
}

TEST_F(ShapeArithmeticTest, SizesThatAreReadBecomeDims) {
  TinyModel model;
  model.input("x", {"batch", 3}).output("y").node("Shape", {"x"}, {"y"});
  auto module = import(model);
  ASSERT_TRUE(module.ok());
  std::vector<Tensor> inputs{sampleTensor(DType::F32, {5, 3})};
  auto got = graph::interpret(**module, inputs);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[0].data<int64_t>()[0], 5);
  EXPECT_EQ((*got)[0].data<int64_t>()[1], 3);
}

/// The mask's length is past + seq, so `past` is not a symbol any more, even where an operator reads it as a number.
TEST_F(ShapeArithmeticTest, SizesThatAreReadHaveSymbolsOfInputs) {
  TinyModel model;
  model.input("x", {"batch", "seq", 4})
      .input("mask", {"batch", "total"}, DType::I32)
      .input("past", {2, "batch", 2, "before", 2})
      .output("y");
  model.floats("w", {4, 12}, std::vector<float>(48, 0.25f)), model.floats("b", {12}, std::vector<float>(12, 0.5f));
  onnx::NodeProto *attention = model.node("Attention", {"x", "w", "b", "mask", "past"}, {"y", "present"});
  attention->set_domain("com.microsoft");
  setAttribute(attention, "num_heads", int64_t(2));
  setAttribute(attention, "unidirectional", int64_t(1));
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  std::set<unsigned> ofInputs;
  auto main = (*module)->lookupSymbol<mlir::func::FuncOp>("main");
  auto symbolsIn = [](llvm::ArrayRef<mlir::AffineExpr> sizes) {
    std::set<unsigned> symbols;
    for (mlir::AffineExpr size : sizes)
      size.walk([&](mlir::AffineExpr part) {
        if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(part))
          symbols.insert(symbol.getPosition());
      });
    return symbols;
  };
  for (mlir::Type type : main.getArgumentTypes())
    ofInputs.merge(symbolsIn(graph::getSizes(llvm::cast<mlir::RankedTensorType>(type))));
  size_t read = 0;
  main.walk([&](graph::DimsOp dims) {
    ++read;
    for (unsigned symbol : symbolsIn(dims.getSizes().getResults()))
      EXPECT_TRUE(ofInputs.contains(symbol)) << "symbol " << symbol << " is no input's";
  });
  EXPECT_GT(read, 0u);
}

/// 4 - w % 4 elements on either side, which are zeros or mirrored.
TEST_F(ShapeArithmeticTest, PaddingsThatAreSizesAreCompiled) {
  for (const char *mode : {"constant", "reflect"}) {
    TinyModel model;
    model.input("x", {"n", "w"}).output("y");
    model.integers("none", {1}, {0}), model.integers("one", {1}, {1}), model.integers("four", {1}, {4});
    model.node("Shape", {"x"}, {"shape"}), model.node("Gather", {"shape", "one"}, {"w"});
    model.node("Mod", {"w", "four"}, {"over"}), model.node("Sub", {"four", "over"}, {"missing"});
    setAttribute(model.node("Concat", {"none", "missing", "none", "missing"}, {"pads"}), "axis", int64_t(0));
    setAttribute(model.node("Pad", {"x", "pads"}, {"y"}), "mode", std::string(mode));
    EXPECT_EQ(count(text(model), "graph.read_sizes"), 0u) << mode;
    EXPECT_EQ(report.fallbacks.size(), 0u) << mode;
  }
}

TEST_F(ShapeArithmeticTest, SlicesOfUnknownLengthAreGuarded) {
  TinyModel model;
  model.input("x", {1, "seq"}).output("y");
  model.floats("table", {1, 8}, {0, 1, 2, 3, 4, 5, 6, 7});
  model.integers("zero", {1}, {0}), model.integers("one", {1}, {1});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "one"}, {"length"});
  model.node("Slice", {"table", "zero", "length", "one"}, {"part"});
  model.node("Add", {"x", "part"}, {"y"});
  std::string ir = text(model);
  EXPECT_NE(ir.find("graph.definitions"), std::string::npos)
      << ir; // of the length that is there, which must be that of x
  EXPECT_NE(ir.find("\"min\""), std::string::npos) << ir;
  EXPECT_NE(ir.find("graph.guards"), std::string::npos) << ir;
}

TEST_F(ShapeArithmeticTest, SlicesOfNoElementsKeepTheirSizes) {
  TinyModel model;
  model.output("y").integers("x", {0, 3}, {});
  model.integers("start", {1}, {1}), model.integers("end", {1}, {3}), model.integers("axis", {1}, {1});
  model.node("Slice", {"x", "start", "end", "axis"}, {"y"});
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  auto got = graph::interpret(**module, {});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[0].shape(), (Shape{0, 2}));
}

/// `op` of two constants, and of the shape of a number.
TEST_F(ShapeArithmeticTest, NoElementsAndOneAreNone) {
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Expand"}) {
    for (bool isFirst : {true, false}) {
      TinyModel model;
      model.input("x", {}).output("y").output("z");
      model.integers("none", {0}, {}), model.integers("one", {1}, {3}), model.integers("zero", {1}, {0});
      bool isExpand = op == std::string("Expand");
      std::string other = isExpand ? "zero" : "none";
      model.node("Shape", {"x"}, {"shape"}); // is empty
      std::vector<std::string> operands{"one", other}, shapes{"one", isExpand ? other : "shape"};
      if (!isFirst && !isExpand)
        std::swap(operands[0], operands[1]), std::swap(shapes[0], shapes[1]);
      model.node(op, operands, {"y"}), model.node(op, shapes, {"z"});
      auto module = import(model);
      ASSERT_TRUE(module.ok()) << op << ": " << module.status().message();
      std::vector<Tensor> inputs{sampleTensor(DType::F32, {})};
      auto got = graph::interpret(**module, inputs);
      ASSERT_TRUE(got.ok()) << op << ": " << got.status().message();
      EXPECT_EQ((*got)[0].shape(), (Shape{0})) << op;
      EXPECT_EQ((*got)[1].shape(), (Shape{0})) << op;
    }
  }
}

} // namespace
