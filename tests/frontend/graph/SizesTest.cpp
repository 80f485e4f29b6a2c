// SPDX-License-Identifier: Apache-2.0
// Canonical size expressions and dimension strings.
#include "frontend/graph/Sizes.h"
#include "frontend/graph/Shapes.h"
#include "frontend/onnx/DimExpression.h"
#include "tests/frontend/index/RandomExpr.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::graph;

namespace {

struct SizesTest : testing::Test {
  MLIRContext context;
  AffineExpr s0 = getAffineSymbolExpr(0, &context), s1 = getAffineSymbolExpr(1, &context),
             s2 = getAffineSymbolExpr(2, &context);
  AffineExpr number(int64_t value) { return getAffineConstantExpr(value, &context); }
  RankedTensorType tensor(ArrayRef<AffineExpr> sizes) {
    return makeTensorType(&context, sizes, Float32Type::get(&context));
  }
};

TEST_F(SizesTest, EqualSizesAreEqualExpressions) {
  EXPECT_EQ(canonicalSize(s0 * s1 * 2 + s1 * s0), canonicalSize(s1 * 3 * s0));
  EXPECT_EQ(canonicalSize((s0 + 1) * (s0 + -1)), canonicalSize(s0 * s0 - 1));
  EXPECT_EQ(canonicalSize((s0 * s1 * 768).floorDiv(s1 * 64)), canonicalSize(s0 * 12));
  EXPECT_EQ(canonicalSize((s0 * 6) % 3), number(0));
  EXPECT_EQ(canonicalSize(s0 - s0), number(0));
  EXPECT_EQ(tensor({s0 * 2, number(8)}), tensor({s0 + s0, number(8)}));
}

TEST_F(SizesTest, QuotientsByConstantsHaveOneForm) {
  EXPECT_EQ(canonicalSize((s0 - 1).floorDiv(2) + 1), canonicalSize((s0 + 1).floorDiv(2)));
  EXPECT_EQ(canonicalSize(s0.ceilDiv(2)), canonicalSize((s0 + 1).floorDiv(2)));
  EXPECT_NE(canonicalSize(s0.ceilDiv(2)), canonicalSize(s0.floorDiv(2)));
  EXPECT_EQ(canonicalSize((s0 * 2 + 1).floorDiv(2)), s0);
  EXPECT_EQ(canonicalSize((s0.floorDiv(2) + 1).floorDiv(2)), canonicalSize((s0 + 2).floorDiv(4)));
  EXPECT_EQ(canonicalSize((s0 * 5 + 7) % 5), number(2));
  EXPECT_EQ(canonicalSize((number(8) - s0 % 8) % 8), canonicalSize((s0 * -1) % 8));
  EXPECT_EQ(canonicalSize((s0 + (s0 * -1) % 8) % 8), number(0));
  AffineExpr spelled = ((s0 * 3 - 5).ceilDiv(4) + s1 - 7).floorDiv(3) - (s0 * -2 + 1) % 6,
             canonical = canonicalSize(spelled);
  for (int64_t a = 0; a < 40; ++a)
    for (int64_t b = 0; b < 20; ++b)
      ASSERT_EQ(evaluate(canonical, {}, {a, b}), evaluate(spelled, {}, {a, b})) << a << ", " << b;
}

/// Random sizes keep their values, and their canonical form is its own. (Divisors are positive.)
TEST_F(SizesTest, CanonicalFormsKeepValues) {
  tests::RandomExpr random(3);
  for (int round = 0; round < 3000; ++round) {
    AffineExpr expr = random.make({s0, s1}, {s0, s1 + 1}, 6), canonical = canonicalSize(expr);
    ASSERT_EQ(canonicalSize(canonical), canonical) << printSize(expr);
    bool proved = isNonNegative(expr);
    for (int64_t a = 1; a < 9; ++a)
      for (int64_t b = 0; b < 9; ++b) {
        ASSERT_EQ(evaluate(canonical, {}, {a, b}), evaluate(expr, {}, {a, b}))
            << printSize(expr) << " at " << a << ", " << b;
        ASSERT_TRUE(!proved || evaluate(expr, {}, {a, b}) >= 0) << printSize(expr) << " at " << a << ", " << b;
      }
  }
}

TEST_F(SizesTest, WhatIsNotNegative) {
  EXPECT_TRUE(isNonNegative(s0 * s1 + s0.floorDiv(2)));
  EXPECT_TRUE(isNonNegative(s0 - s0.floorDiv(2)));
  EXPECT_TRUE(isNonNegative((s0 + 1).floorDiv(2) - s0.floorDiv(2)));
  EXPECT_FALSE(isNonNegative(s0 - 1)); // sizes may be 0
  EXPECT_FALSE(isNonNegative(s0.floorDiv(2) - (s0 + 1).floorDiv(2)));
  EXPECT_FALSE(isNonNegative(s0 - s1));
  EXPECT_TRUE(isNonNegative(s0 * s1 - s1, 1));
  EXPECT_TRUE(isNonNegative((s0 + 3).floorDiv(4) - 1, 1));
  EXPECT_FALSE(isNonNegative(s0.floorDiv(2) - 1, 1));
}

TEST_F(SizesTest, WhatIsLeastWhereSymbolsAreZero) {
  EXPECT_TRUE(isLeastAtZero(s0.floorDiv(80) - 3));
  EXPECT_TRUE(isLeastAtZero((s0 * s1 - 400).floorDiv(320)));
  EXPECT_FALSE(isLeastAtZero(s0 - s1));
  EXPECT_FALSE(isLeastAtZero(number(512) - s0));
}

TEST_F(SizesTest, StaticTypesHaveNoEncoding) {
  EXPECT_EQ(tensor({number(8), s0 - s0 + 3}).getEncoding(), Attribute());
  EXPECT_EQ(getSizes(tensor({s0, number(8)}))[0], s0);
  EXPECT_EQ(getNumSymbols(tensor({s1})), 2u);
}

TEST_F(SizesTest, ExactDivision) {
  EXPECT_EQ(divideExactly(s0 * s1 * 8, s1 * 4), canonicalSize(s0 * 2));
  EXPECT_EQ(divideExactly(canonicalSize((s0 + 1) * (s1 + 2)), s1 + 2), canonicalSize(s0 + 1));
  EXPECT_FALSE(divideExactly(s0 * 3, number(2)));
  EXPECT_FALSE(divideExactly(s0 + 1, s0));
}

TEST_F(SizesTest, PrintsNames) {
  std::vector<std::string> names{"batch", "seq"};
  EXPECT_EQ(printSize(s0 * 2 + s1, names), "batch * 2 + seq");
}

/// The map of a reshape, checked at every coordinate against row-major order.
void checkReshape(MLIRContext &context, std::vector<int64_t> from, std::vector<int64_t> to) {
  auto type = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, Float32Type::get(&context)); };
  AffineMap map = reshapeMap(type(from), type(to));
  ASSERT_EQ(map.getNumResults(), from.size());
  int64_t count = 1;
  for (int64_t size : to)
    count *= size;
  for (int64_t flat = 0; flat < count; ++flat) {
    SmallVector<Attribute> coordinates(to.size());
    int64_t rest = flat;
    for (size_t dim = to.size(); dim-- > 0; rest /= to[dim])
      coordinates[dim] = IntegerAttr::get(IndexType::get(&context), rest % to[dim]);
    SmallVector<Attribute> results;
    ASSERT_TRUE(succeeded(map.constantFold(coordinates, results)));
    int64_t linear = 0;
    for (size_t dim = 0; dim < from.size(); ++dim)
      linear = linear * from[dim] + llvm::cast<IntegerAttr>(results[dim]).getInt();
    ASSERT_EQ(linear, flat);
  }
}

TEST_F(SizesTest, ReshapeMapsAreRowMajor) {
  checkReshape(context, {8, 12, 64}, {8, 768});
  checkReshape(context, {8, 768}, {8, 12, 64});
  checkReshape(context, {6, 20}, {2, 3, 4, 5});
  checkReshape(context, {2, 3, 4, 5}, {6, 20});
  checkReshape(context, {4, 6}, {6, 4});
  checkReshape(context, {1, 8, 1}, {8});
  checkReshape(context, {8}, {1, 8, 1});
  checkReshape(context, {2, 3, 4}, {24});
  checkReshape(context, {3, 4, 1, 5}, {12, 5, 1});
}

TEST_F(SizesTest, ReshapeMapsStaySmall) {
  // An untouched leading dimension and an inner split do not mix.
  AffineMap map = reshapeMap(tensor({s0, number(768)}), tensor({s0, number(12), number(64)}));
  EXPECT_EQ(map.getResult(0), getAffineDimExpr(0, &context));
  EXPECT_EQ(map.getResult(1), getAffineDimExpr(1, &context) * 64 + getAffineDimExpr(2, &context));
}

TEST_F(SizesTest, DimensionStrings) {
  auto symbol = [&](std::string_view name) { return name == "seq" ? s0 : name == "batch" ? s1 : AffineExpr(); };
  EXPECT_EQ(parseDimExpression(&context, "seq + 1", symbol), s0 + 1);
  EXPECT_EQ(parseDimExpression(&context, "2*batch", symbol), s1 * 2);
  EXPECT_EQ(parseDimExpression(&context, "(seq - 1) // 2 + batch", symbol), (s0 - 1).floorDiv(2) + s1);
  EXPECT_FALSE(parseDimExpression(&context, "floor(seq)", symbol));
  EXPECT_FALSE(parseDimExpression(&context, "seq + unknown", symbol));
  EXPECT_FALSE(parseDimExpression(&context, "seq / 0", symbol));
  EXPECT_FALSE(parseDimExpression(&context, std::string(1000, '('), symbol));
  EXPECT_TRUE(isDimName("unk__214"));
  EXPECT_FALSE(isDimName("seq + 1"));
}

} // namespace
