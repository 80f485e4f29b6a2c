// What the importer accepts: symbols, shape arithmetic, branches, functions, odd models; and each sentence with which
// it refuses.
#include "tests/frontend/TinyModel.h"

#include "frontend/graph/GraphOps.h"
#include "runtime/reference/Reference.h"
#include "tests/ScratchFolder.h"

#include <filesystem>
#include <fstream>
#include <set>

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct ImporterTest : testing::Test {
  mlir::MLIRContext context;
  ImportOptions options;
  ImportReport report;
  ScratchFolder scratch;
  std::string folder = scratch / "model"; // with room beside it for what lies outside the model's folder

  ImporterTest() { std::filesystem::create_directory(folder); }

  Expected<mlir::OwningOpRef<mlir::ModuleOp>> import(const TinyModel &model) {
    return importModelBytes(context, model.bytes(), folder, options, &report);
  }

  std::string text(const TinyModel &model) {
    auto module = import(model);
    EXPECT_TRUE(module.ok()) << module.status().message();
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    if (module.ok())
      (**module)->print(stream);
    return printed;
  }

  size_t count(const std::string &text, const std::string &part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  }

  /// Importing fails with `code` and a sentence that has every one of `parts`.
  void refuses(const TinyModel &model, Code code, std::initializer_list<std::string> parts) {
    auto module = import(model);
    ASSERT_FALSE(module.ok()) << "expected a refusal";
    EXPECT_EQ(static_cast<int>(module.status().code()), static_cast<int>(code)) << module.status().message();
    for (const std::string &part : parts)
      EXPECT_NE(module.status().message().find(part), std::string::npos)
          << "'" << part << "' is not in: " << module.status().message();
  }

  TinyModel relu() {
    TinyModel model;
    model.input("x", {2, 3}).output("y").node("Relu", {"x"}, {"y"});
    return model;
  }
};

//===- Symbols and shape arithmetic -------------------------------------------------------------------------------===//

TEST_F(ImporterTest, SymbolsAreSharedByName) {
  TinyModel model;
  model.input("x", {"batch", 4}).input("y", {"batch", 1}).output("z").node("Add", {"x", "y"}, {"z"});
  std::string ir = text(model);
  EXPECT_NE(ir.find("graph.symbols = [\"batch\"]"), std::string::npos) << ir;
}

TEST_F(ImporterTest, ExpressionsOfSymbols) {
  TinyModel model;
  model.input("past", {"seq", 4}).input("now", {1, 4}).input("mask", {"seq + 1", 4}).output("z");
  model.node("Concat", {"past", "now"}, {"all"});
  setAttribute(model.proto.mutable_graph()->mutable_node(0), "axis", int64_t(0));
  model.node("Add", {"all", "mask"}, {"z"});
  EXPECT_NE(text(model).find("s0 + 1"), std::string::npos);
}

TEST_F(ImporterTest, SymbolsThatMustBeEqualBecomeOne) {
  TinyModel model;
  model.input("x", {"a", 4}).input("y", {"b", 4}).output("z").node("Add", {"x", "y"}, {"z"});
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  auto main = (*module)->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_EQ(main.getArgumentTypes()[0], main.getArgumentTypes()[1]);
  std::vector<Tensor> wrong{sampleTensor(DType::F32, {3, 4}), sampleTensor(DType::F32, {2, 4})};
  EXPECT_FALSE(graph::interpret(**module, wrong).ok());
}

TEST_F(ImporterTest, ShapesFixSymbolsEverywhere) {
  TinyModel model;
  model.input("x", {"batch", 4}).input("y", {"batch", 1}).output("z").node("Add", {"x", "y"}, {"z"});
  options.shapes["x"] = {7, 4};
  EXPECT_NE(text(model).find("tensor<7x1xf32>"), std::string::npos);
  options.shapes["x"] = {7, 5};
  refuses(model, Code::Usage, {"'x'", "5", "4"});
  options.shapes = {{"w", {1}}};
  refuses(model, Code::Usage, {"'w'"});
}

TEST_F(ImporterTest, ShapeArithmeticLeavesNoOperations) {
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

TEST_F(ImporterTest, SizesThatAreReadBecomeDims) {
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

/// The mask's length is past + seq, so `past` is no symbol any more, also where an operator reads it as a number.
TEST_F(ImporterTest, SizesThatAreReadHaveSymbolsOfInputs) {
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

TEST_F(ImporterTest, SlicesOfUnknownLengthAreGuarded) {
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

//===- Nodes ------------------------------------------------------------------------------------------------------===//

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

TEST_F(ImporterTest, BranchesWithAConstantConditionAreInlined) {
  TinyModel model;
  model.input("x", {4}).output("y");
  auto *condition = model.initializer("condition", {}, DType::Bool);
  condition->add_int32_data(1);
  onnx::NodeProto *node = model.node("If", {"condition"}, {"y"});
  for (const char *name : {"then_branch", "else_branch"}) {
    auto *attribute = node->add_attribute();
    attribute->set_name(name), attribute->set_type(onnx::AttributeProto::GRAPH);
    // The branch may call its result as the node outside does: that is no cycle.
    TinyModel::fill(attribute->mutable_g()->add_node(), name[0] == 't' ? "Exp" : "Log", {"x"}, {"y"});
    attribute->mutable_g()->add_output()->set_name("y");
  }
  std::string ir = text(model);
  EXPECT_EQ(count(ir, "math.exp"), 1u);
  EXPECT_EQ(count(ir, "math.log"), 0u);
  model.proto.mutable_graph()->clear_initializer();
  model.input("condition", {}, DType::Bool);
  std::string both = text(model); // what only running tells is a step with two bodies
  EXPECT_EQ(count(both, "math.exp"), 1u);
  EXPECT_EQ(count(both, "math.log"), 1u);
}

onnx::FunctionProto *addFunction(TinyModel &model, const std::string &name, const std::string &op) {
  onnx::FunctionProto *function = model.proto.add_functions();
  function->set_name(name), function->set_domain("mine");
  function->add_input("a"), function->add_output("b");
  auto *import = function->add_opset_import();
  import->set_domain(""), import->set_version(17);
  TinyModel::fill(function->add_node(), op, {"a"}, {"b"});
  return function;
}

TEST_F(ImporterTest, LocalFunctionsAreInlinedWithTheirAttributes) {
  TinyModel model;
  model.importDomain("mine", 1).input("x", {4}).output("y");
  onnx::FunctionProto *function = addFunction(model, "Leaky", "LeakyRelu");
  function->add_attribute("slope");
  auto *reference = function->mutable_node(0)->add_attribute();
  reference->set_name("alpha"), reference->set_ref_attr_name("slope"), reference->set_type(onnx::AttributeProto::FLOAT);
  onnx::NodeProto *node = model.node("Leaky", {"x"}, {"y"});
  node->set_domain("mine");
  setAttribute(node, "slope", 0.25f);
  EXPECT_NE(text(model).find("dense<2.500000e-01>"), std::string::npos);
}

TEST_F(ImporterTest, FunctionsHaveDefaultsOverloadsAndAbsentInputs) {
  TinyModel model;
  model.importDomain("mine", 1).input("x", {4}).output("y").output("z");
  onnx::FunctionProto *function = addFunction(model, "Leaky", "LeakyRelu");
  onnx::AttributeProto *slope = function->add_attribute_proto();
  slope->set_name("slope"), slope->set_type(onnx::AttributeProto::FLOAT), slope->set_f(0.25f);
  auto *reference = function->mutable_node(0)->add_attribute();
  reference->set_name("alpha"), reference->set_ref_attr_name("slope"), reference->set_type(onnx::AttributeProto::FLOAT);
  onnx::FunctionProto *other =
      addFunction(model, "Leaky", "Clip"); // with a lower bound that the caller leaves out, and an upper one
  other->set_overload("bounded");
  other->add_input("low"), other->add_input("high");
  other->mutable_node(0)->add_input("low"), other->mutable_node(0)->add_input("high");
  model.node("Leaky", {"x"}, {"y"})->set_domain("mine");
  onnx::NodeProto *bounded =
      model.floats("limit", {}, {3.5f}) ? model.node("Leaky", {"x", "", "limit"}, {"z"}) : nullptr;
  bounded->set_domain("mine"), bounded->set_overload("bounded");
  std::string ir = text(model);
  EXPECT_NE(ir.find("dense<2.500000e-01>"), std::string::npos);
  EXPECT_NE(ir.find("dense<3.500000e+00>"), std::string::npos);
  EXPECT_EQ(count(ir, "arith.maximumf"), 0u);
}

TEST_F(ImporterTest, FusedOperatorsAreTakenByNameEvenIfTheModelBringsABody) {
  TinyModel model;
  model.importDomain("com.microsoft", 1).input("x", {4}).output("y");
  addFunction(model, "QuickGelu", "Exp")->set_domain("com.microsoft");
  model.node("QuickGelu", {"x"}, {"y"})->set_domain("com.microsoft");
  EXPECT_NE(text(model).find("dense<1.702"), std::string::npos);
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

TEST_F(ImporterTest, FunctionsThatCallThemselvesAreRefused) {
  TinyModel model;
  model.importDomain("mine", 1).input("x", {4}).output("y");
  addFunction(model, "Again", "Again")->mutable_node(0)->set_domain("mine");
  model.node("Again", {"x"}, {"y"})->set_domain("mine");
  refuses(model, Code::Malformed, {"'Again'", "calls itself"});
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

//===- Weights ----------------------------------------------------------------------------------------------------===//

onnx::TensorProto *external(TinyModel &model, const std::string &location, int64_t offset = 0, int64_t length = 16) {
  auto *tensor = model.initializer("w", {4}, DType::F32);
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  for (auto [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"location", location}, {"offset", std::to_string(offset)}, {"length", std::to_string(length)}}) {
    auto *entry = tensor->add_external_data();
    entry->set_key(key), entry->set_value(value);
  }
  model.input("x", {4}).output("y").node("Add", {"x", "w"}, {"y"});
  return tensor;
}

struct ExternalDataTest : ImporterTest {
  ExternalDataTest() {
    std::ofstream(folder + "/weights.bin", std::ios::binary)
        << std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16);
  }
};

TEST_F(ExternalDataTest, IsReadInPlace) {
  TinyModel model;
  external(model, "weights.bin");
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  std::vector<Tensor> inputs{Tensor::allocate(DType::F32, {4})};
  auto got = graph::interpret(**module, inputs);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[0].data<float>()[2], 3.0f);
}

TEST_F(ExternalDataTest, RefusesWhatLeavesTheFolder) {
  std::ofstream(folder + "/../outside.bin") << "0123456789abcdef";
  std::filesystem::create_symlink("../outside.bin", folder + "/link.bin");
  std::filesystem::create_directory(folder + "/folder.bin");
  for (const auto &[location, part] :
       std::vector<std::pair<std::string, std::string>>{{"../outside.bin", "'..'"},
                                                        {"/etc/passwd", "absolute"},
                                                        {"", "empty"},
                                                        {"link.bin", "outside"},
                                                        {"folder.bin", "regular file"}}) {
    TinyModel model;
    external(model, location);
    refuses(model, Code::Malformed, {"'w'", part});
  }
}

TEST_F(ExternalDataTest, RefusesWhatIsNotThere) {
  TinyModel missing, tooShort, wrongLength, badNumber, unknownKey;
  external(missing, "missing.bin");
  refuses(missing, Code::Io, {"'w'", "missing.bin", "--random-weights"});
  external(tooShort, "weights.bin", 4);
  refuses(tooShort, Code::Malformed, {"16 bytes at offset 4", "has 16 bytes"});
  external(wrongLength, "weights.bin", 0, 12);
  refuses(wrongLength, Code::Malformed, {"expected 16 bytes", "12"});
  external(badNumber, "weights.bin")->mutable_external_data(1)->set_value("-4");
  refuses(badNumber, Code::Malformed, {"'offset'", "-4"});
  external(unknownKey, "weights.bin")->mutable_external_data(1)->set_key("__class__");
  refuses(unknownKey, Code::Malformed, {"__class__"});
}

TEST_F(ExternalDataTest, RandomWeightsReplaceOnlyWhatIsAbsent) {
  TinyModel absent, present;
  external(absent, "missing.bin"), external(present, "weights.bin");
  options.randomWeights = 7;
  EXPECT_EQ(text(absent), text(absent));
  std::string seven = text(absent), real = text(present);
  options.randomWeights = 8;
  EXPECT_NE(text(absent), seven);
  EXPECT_EQ(text(present), real);
}

//===- Refusals ---------------------------------------------------------------------------------------------------===//

TEST_F(ImporterTest, RefusesWhatIsNoModel) {
  auto code = [&](std::string_view bytes) { return importModelBytes(context, bytes, folder, options).status().code(); };
  EXPECT_EQ(code("this is not a model"), Code::Malformed);
  EXPECT_EQ(code(""), Code::Malformed);
  std::string bytes = relu().bytes();
  for (size_t length = 1; length < bytes.size(); ++length)
    EXPECT_NE(code(bytes.substr(0, length)), Code::Ok) << length;
  EXPECT_EQ(importModel(context, folder + "/missing.onnx", options).status().code(), Code::Io);
}

TEST_F(ImporterTest, RefusesStrangeVersions) {
  TinyModel model = relu();
  model.proto.set_ir_version(99);
  refuses(model, Code::Unsupported, {"IR version 99"});
  model = relu();
  model.proto.clear_opset_import();
  refuses(model, Code::Malformed, {"opset"});
  model.importDomain("other", 1);
  refuses(model, Code::Malformed, {"ai.onnx"});
}

TEST_F(ImporterTest, RefusesCycles) {
  TinyModel model;
  model.input("x", {4}).output("a").node("Add", {"x", "b"}, {"a"});
  model.node("Relu", {"a"}, {"b"});
  refuses(model, Code::Malformed, {"cycle", "'a'"});
}

TEST_F(ImporterTest, RefusesUndefinedAndTwiceDefinedValues) {
  TinyModel undefined = relu();
  undefined.proto.mutable_graph()->mutable_node(0)->set_input(0, "nowhere");
  refuses(undefined, Code::Malformed, {"'nowhere'", "nothing defines"});
  TinyModel twice = relu();
  twice.node("Exp", {"x"}, {"y"});
  refuses(twice, Code::Malformed, {"'y'", "twice"});
  TinyModel noOutput = relu();
  noOutput.proto.mutable_graph()->mutable_output(0)->set_name("z");
  refuses(noOutput, Code::Malformed, {"'z'"});
}

TEST_F(ImporterTest, RefusesBadDimensions) {
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

TEST_F(ImporterTest, RefusesDataOfTheWrongLength) {
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

TEST_F(ImporterTest, RefusesUnknownTypes) {
  TinyModel weights = relu();
  weights.initializer("w", {0}, static_cast<DType>(99));
  refuses(weights, Code::Unsupported, {"'w'", "99"});
}

TEST_F(ImporterTest, RefusesShapesThatDoNotFit) {
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

TEST_F(ImporterTest, RefusesTypesThatDoNotFit) {
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

TEST_F(ImporterTest, RefusesBadAttributes) {
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

TEST_F(ImporterTest, RefusesFusedOperatorsThatDoNotFit) {
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

TEST_F(ImporterTest, RefusesWhatIsNotATensor) {
  TinyModel model = relu();
  model.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
  refuses(model, Code::Unsupported, {"'x'", "neither a tensor nor a sequence"});
  TinyModel loop = relu();
  loop.proto.mutable_graph()->mutable_node(0)->set_op_type("Loop");
  refuses(loop, Code::Malformed, {"'y'", "Loop", "opset 17", "expected a graph as its body"});
  TinyModel sparse = relu();
  sparse.proto.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name("s");
  refuses(sparse, Code::Unsupported, {"'s'", "sparse"});
}

} // namespace
