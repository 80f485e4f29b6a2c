// SPDX-License-Identifier: Apache-2.0
// Elementwise handlers.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> elementwise() {
  std::vector<Case> cases;
  for (const char *op : {"Abs",    "Acos",       "Acosh",       "Asin",      "Asinh",     "Atan",
                         "Atanh",  "Ceil",       "Cos",         "Cosh",      "Erf",       "Exp",
                         "Floor",  "Neg",        "Relu",        "Round",     "Sigmoid",   "Sign",
                         "Sin",    "Sinh",       "Softplus",    "Softsign",  "Tanh",      "Elu",
                         "Selu",   "Celu",       "HardSigmoid", "HardSwish", "LeakyRelu", "ThresholdedRelu",
                         "Shrink", "Reciprocal", "IsNaN",       "IsInf",     "Identity"})
    cases.push_back({op, {{{3, 5}}}});
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Greater", "Equal", "LessOrEqual",
                         "GreaterOrEqual", "PRelu", "Sum", "Mean"})
    cases.push_back({op, {{{2, 3, 4}}, {{3, 1}}}});
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Equal", "Mod"})
    cases.push_back({op, {{{4, 6}, DType::I64}, {{6}, DType::I64}}});
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Greater", "Mod"})
    cases.push_back({op, {{{4, 6}, DType::U8}, {{6}, DType::U8}}});
  for (const char *op : {"And", "Or", "Xor", "Equal"})
    cases.push_back({op, {{{4, 6}, DType::Bool}, {{6}, DType::Bool}}});
  for (DType to : {DType::F64, DType::F16, DType::BF16, DType::I64, DType::I32, DType::I8, DType::Bool})
    for (DType from : {DType::F32, DType::I64, DType::U8, DType::Bool})
      if (to != DType::BF16 || from == DType::F32)
        cases.push_back({"Cast", {{{3, 7}, from}}, {{"to", static_cast<int64_t>(to)}}});
  cases.push_back({"Mod", {{{4, 6}}, {{6}}}, {{"fmod", int64_t(1)}}});
  cases.push_back({"Mod", {{{4, 6}}, {{6}}}, {}, 28}); // the sign of the divisor
  cases.push_back(
      {"Slice",
       {{{7, 3}}, {{1}, DType::I64, {-5}}, {{1}, DType::I64, {-8}}, {{1}, DType::I64, {-1}}, {{1}, DType::I64, {-3}}}});
  for (const char *mode : {"reflect", "edge", "wrap"}) // cropped first
    cases.push_back({"Pad", {{{5}}, {{2}, DType::I64, {3, -1}}}, {{"mode", std::string(mode)}}, 19});
  for (const char *direction : {"LEFT", "RIGHT"})
    for (DType type :
         {DType::I32, DType::I64, DType::U8}) // among them negative shifts, and shifts by more than the width
      cases.push_back({"BitShift", {{{4, 6}, type}, {{6}, type}}, {{"direction", std::string(direction)}}, 28});
  cases.push_back({"Pow", {{{4, 6}, DType::I64}, {{}, DType::I64, {9}}}}); // 3^9 is 19,683
  cases.push_back({"Pow", {{{4, 6}, DType::I32}, {{1}, DType::I64, {9}}}});
  cases.push_back({"Pow", {{{4, 6}, DType::I64}, {{}, DType::I64, {63}}}}); // wraps
  cases.push_back({"BitCast", {{{4, 6}}}, {{"to", int64_t(6)}}, 26});
  cases.push_back({"BitCast", {{{4, 6}, DType::I32}}, {{"to", int64_t(1)}}, 26});
  cases.push_back({"Mod", {{{4, 6}, DType::I64}, {{6}, DType::I64}}, {{"fmod", int64_t(1)}}});
  cases.push_back({"Not", {{{4}, DType::Bool}}});
  for (int opset : {7, 10, 13}) // the mask: floats, bools that are not set, bools that are
    cases.push_back({"Dropout", {{{4, 6}}}, {}, opset, 2});
  for (const char *op : {"Affine", "ScaledTanh"})
    cases.push_back({op, {{{4, 6}}}, {{"alpha", 1.5f}, {"beta", 0.5f}}, 7});
  cases.push_back({"Scale", {{{4, 6}}}, {{"scale", 1.5f}}, 7});
  cases.push_back({"ImageScaler", {{{2, 2, 3, 4}}}, {{"scale", 1.5f}, {"bias", std::vector<float>{1, -2}}}, 7});
  cases.push_back({"Clip", {{{4, 6}}}, {{"min", -0.5f}, {"max", 0.5f}}, 9});
  cases.push_back({"Clip", {{{4, 6}}, {{}}, {{}}}});
  cases.push_back({"Where", {{{4, 1}, DType::Bool}, {{6}}, {{4, 6}}}});
  cases.push_back({"Gelu", {{{4, 6}}}, {}, 20});
  cases.push_back({"Gelu", {{{4, 6}}}, {{"approximate", std::string("tanh")}}, 20});
  cases.push_back({"Mish", {{{4, 6}}}, {}, 18});
  cases.push_back({"SwiGLU", {{{4, 6}}, {{4, 6}}}, {{"alpha", 1.5f}}, 28});
  cases.push_back({"QuickGelu", {{{4, 6}}}, {}, 17, 1, "com.microsoft"});
  return cases;
}

struct KnownValue {
  std::string op;
  float at, value;
};
class KnownValues : public testing::TestWithParam<KnownValue> {};

/// Where formulas of exp, log and sqrt overflow or cancel.
TEST_P(KnownValues, AreMet) {
  const auto &[op, at, value] = GetParam();
  TinyModel model;
  model.input("x", {1}).output("y").node(op, {"x"}, {"y"});
  mlir::MLIRContext context;
  auto module = importModelBytes(context, model.bytes(), ".", {});
  ASSERT_TRUE(module.ok()) << module.status().message();
  Tensor x = Tensor::allocate(DType::F32, {1}), y = Tensor::allocate(DType::F32, {1});
  *x.data<float>() = at, *y.data<float>() = value;
  auto got = graph::interpret(**module, std::span(&x, 1));
  ASSERT_TRUE(got.ok()) << got.status().message();
  expectClose(got->front(), y, op + " of " + std::to_string(at));
}

const KnownValue knownValues[] = {{"Sinh", -10, -11013.233f},
                                  {"Sinh", -20, -2.4258260e8f},
                                  {"Sinh", 89, 2.2448064e38f},
                                  {"Sinh", -90, -INFINITY},
                                  {"Cosh", 89, 2.2448064e38f},
                                  {"Cosh", -89, 2.2448064e38f},
                                  {"Cosh", -90, INFINITY},
                                  {"Asinh", -1e30f, -69.770699f},
                                  {"Acosh", 1e30f, 69.770699f},
                                  {"Acosh", 0.5f, NAN},
                                  {"Acosh", 1, 0},
                                  {"Atanh", -1, -INFINITY}};

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Elementwise, HandlersTest, testing::ValuesIn(elementwise()), caseName);
INSTANTIATE_TEST_SUITE_P(Hyperbolic, KnownValues, testing::ValuesIn(knownValues));

} // namespace tilewright::test
