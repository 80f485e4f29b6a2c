// SPDX-License-Identifier: Apache-2.0
// Local functions of a model.
#include "tests/frontend/import/ImporterTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using InlineFunctionTest = ImporterTest;

onnx::FunctionProto *addFunction(TinyModel &model, const std::string &name, const std::string &op) {
  onnx::FunctionProto *function = model.proto.add_functions();
  function->set_name(name), function->set_domain("mine");
  function->add_input("a"), function->add_output("b");
  auto *import = function->add_opset_import();
  import->set_domain(""), import->set_version(17);
  TinyModel::fill(function->add_node(), op, {"a"}, {"b"});
  return function;
}

TEST_F(InlineFunctionTest, LocalFunctionsAreInlinedWithTheirAttributes) {
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

TEST_F(InlineFunctionTest, FunctionsHaveDefaultsOverloadsAndAbsentInputs) {
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

TEST_F(InlineFunctionTest, FusedOperatorsAreTakenByNameEvenIfTheModelBringsABody) {
  TinyModel model;
  model.importDomain("com.microsoft", 1).input("x", {4}).output("y");
  addFunction(model, "QuickGelu", "Exp")->set_domain("com.microsoft");
  model.node("QuickGelu", {"x"}, {"y"})->set_domain("com.microsoft");
  EXPECT_NE(text(model).find("dense<1.702"), std::string::npos);
}

TEST_F(InlineFunctionTest, FunctionsThatCallThemselvesAreRefused) {
  TinyModel model;
  model.importDomain("mine", 1).input("x", {4}).output("y");
  addFunction(model, "Again", "Again")->mutable_node(0)->set_domain("mine");
  model.node("Again", {"x"}, {"y"})->set_domain("mine");
  refuses(model, Code::Malformed, {"'Again'", "calls itself"});
}

} // namespace
