// SPDX-License-Identifier: Apache-2.0
// TopK: by ranks, and one by one where few of many elements are chosen.
#include "tests/frontend/ops/HandlersTest.h"

#include <limits>

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> choices() {
  std::vector<Case> cases;
  for (int64_t largest : {0, 1})
    for (DType type : {DType::F32, DType::F16, DType::I8, DType::U8, DType::I32}) {
      cases.push_back({"TopK", {{{3, 40}, type}, {{1}, DType::I64, {5}}}, {{"largest", largest}}, 11, 2});
      cases.push_back(
          {"TopK", {{{64, 2}, type}, {{1}, DType::I64, {3}}}, {{"largest", largest}, {"axis", int64_t(0)}}, 11, 2});
      cases.push_back({"TopK", {{{3, 9}, type}, {{1}, DType::I64, {4}}}, {{"largest", largest}}, 11, 2}); // by ranks
    }
  cases.push_back({"TopK", {{{2, 1500}}, {{1}, DType::I64, {32}}}, {}, 11, 2});
  cases.push_back({"TopK", {{{3, 40}, DType::I64}, {{1}, DType::I64, {5}}}, {}, 11, 2}); // too wide for one by one
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Choices, HandlersTest, testing::ValuesIn(choices()), caseName);

TEST(SortTest, OneByOneOrdersNumbersThatAreNoneAndZerosAsTheReferenceDoes) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> few = {0.0f, -0.0f, inf, -inf, nan, -nan, 1.0f, -1.0f, std::numeric_limits<float>::denorm_min()};
  Tensor x = Tensor::allocate(DType::F32, {72});
  for (int64_t i = 0; i < x.count(); ++i)
    x.data<float>()[i] = few[static_cast<size_t>(i * 5 % 9)];
  for (int64_t largest : {0, 1}) {
    TinyModel model(11, 10);
    model.input("x", {72}).output("values").output("indices");
    model.integers("k", {1}, {9});
    setAttribute(model.node("TopK", {"x", "k"}, {"values", "indices"}), "largest", largest);
    mlir::MLIRContext context;
    ImportReport report;
    auto module = importModelBytes(context, model.bytes(), ".", {}, &report);
    ASSERT_TRUE(module.ok()) << module.status().message();
    ASSERT_TRUE(report.fallbacks.empty()) << report.fallbacks.front().reason;
    auto got = graph::interpret(**module, std::span(&x, 1));
    ASSERT_TRUE(got.ok()) << got.status().message();
    Tensor k = Tensor::allocate(DType::I64, {1});
    *k.data<int64_t>() = 9;
    Attributes attributes{{"largest", largest}};
    ReferenceCall call{.op = "TopK", .domain = "", .opset = 11, .attributes = &attributes, .outputCount = 2};
    auto expected = evaluate(call, std::vector<Tensor>{x, k});
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    for (int64_t i = 0; i < 9; ++i)
      EXPECT_EQ((*got)[1].data<int64_t>()[i], (*expected)[1].data<int64_t>()[i]) << "largest " << largest << ", " << i;
  }
}

} // namespace tilewright::test
