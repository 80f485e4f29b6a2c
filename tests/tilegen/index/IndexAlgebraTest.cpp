// SPDX-License-Identifier: Apache-2.0
// The index algebra against brute force: simplified expressions have the same values, and the cancellations that speed
// needs happen.
#include "tilegen/index/IndexAlgebra.h"

#include "frontend/graph/Sizes.h"
#include "tests/tilegen/Elements.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tilegen;
using namespace tilewright::tests;

namespace {

struct IndexAlgebraTest : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  AffineExpr d0 = getAffineDimExpr(0, &context), d1 = getAffineDimExpr(1, &context), d2 = getAffineDimExpr(2, &context);
  AffineExpr s0 = getAffineSymbolExpr(0, &context), s1 = getAffineSymbolExpr(1, &context);
  AffineExpr constant(int64_t value) { return getAffineConstantExpr(value, &context); }

  void expectSimple(ArrayRef<AffineExpr> sizes, AffineExpr expr, AffineExpr expected) {
    IndexAlgebra algebra(&context, sizes);
    AffineExpr simple = algebra.simplify(expr);
    EXPECT_TRUE(algebra.isEqual(simple, expected) && countDivisions(simple) == countDivisions(expected))
        << str(expr) << " became " << str(simple) << ", expected " << str(expected);
  }
  static std::string str(AffineExpr expr) {
    std::string text;
    llvm::raw_string_ostream(text) << expr;
    return text;
  }
};

/// 4 - s0 rows: at most three only if s0 is at least 1, which a symbol that is a place need not be; one that is a
/// factor of a size is.
TEST_F(IndexAlgebraTest, SymbolsThatMayBeZeroAreNotSizes) {
  SmallVector<AffineExpr> sizes = {constant(4) - s0}, products = {s0 * 3, constant(4) - s0};
  EXPECT_EQ(IndexAlgebra(&context, sizes).simplify(d0 % 3), d0);
  EXPECT_EQ(IndexAlgebra(&context, sizes, {0}).simplify(d0 % 3), d0 % 3);
  EXPECT_EQ(IndexAlgebra(&context, sizes, {1}).simplify(d0 % 3), d0);
  EXPECT_EQ(IndexAlgebra(&context, products, {0}).simplify(d1 % 3), d1);
}

/// Rows and columns of windows: an image of fewer pixels than the window has none of them.
TEST_F(IndexAlgebraTest, SizesLessAConstantAreDivided) {
  SmallVector<AffineExpr> sizes = {constant(4), s0 - 1, s1 - 2};
  AffineExpr linear = (d0 * (s0 - 1) + d1) * (s1 - 2) + d2;
  expectSimple(sizes, linear.floorDiv((s0 - 1) * (s1 - 2)), d0);
  expectSimple(sizes, linear.floorDiv(s1 - 2) % (s0 - 1), d1);
  expectSimple(sizes, linear % (s1 - 2), d2);
}

/// The image that a convolution by 4 leaves: where a quotient of its rows or columns is 0, there are no points.
TEST_F(IndexAlgebraTest, QuotientsAreDividedWhereTheyAreSizes) {
  AffineExpr rows = (s0 + 1).floorDiv(4), columns = (s1 + 1).floorDiv(4);
  AffineExpr d3 = getAffineDimExpr(3, &context);
  SmallVector<AffineExpr> sizes = {constant(8), constant(32), rows, columns};
  AffineExpr linear = ((d0 * 32 + d1) * rows + d2) * columns + d3;
  expectSimple(sizes, linear.floorDiv(rows * columns * 32), d0);
  expectSimple(sizes, linear.floorDiv(rows * columns) % 32, d1);
  expectSimple(sizes, linear.floorDiv(columns) % rows, d2);
  expectSimple(sizes, linear % columns, d3);
  expectSimple({rows * columns * 32}, d0.floorDiv(columns) * columns + d0 % columns, d0);
  // 4 - rows is at most 3 only where rows is a size.
  SmallVector<AffineExpr> rest = {constant(4) - rows}, products = {rows * 3, constant(4) - rows};
  EXPECT_EQ(IndexAlgebra(&context, rest).simplify(d0 % 3), d0 % 3);
  EXPECT_EQ(IndexAlgebra(&context, products).simplify(d1 % 3), d1);
}

TEST_F(IndexAlgebraTest, CancelsReshapesThatUndoEachOther) {
  AffineExpr linear = d0 * 12 + d1;
  expectSimple({constant(8), constant(12)}, linear.floorDiv(12), d0);
  expectSimple({constant(8), constant(12)}, linear % 12, d1);
  expectSimple({s0, s1}, (d0 * s1 + d1).floorDiv(s1), d0);
  expectSimple({s0, s1}, (d0 * s1 + d1) % s1, d1);
  expectSimple({s0 * s1}, d0.floorDiv(s1) * s1 + d0 % s1, d0);
  expectSimple({s0 * 12 * 64}, d0.floorDiv(768) * 768 + (d0.floorDiv(64) % 12) * 64 + d0 % 64, d0);
  expectSimple({constant(4), s0, constant(64)}, ((d0 * s0 + d1) * 64 + d2).floorDiv(s0 * 64), d0);
  expectSimple({constant(4), s0, constant(64)}, (((d0 * s0 + d1) * 64 + d2) % (s0 * 64)).floorDiv(64), d1);
  expectSimple({s0 + 1, s0 + 1}, (d0 * (s0 + 1) + d1).floorDiv(s0 + 1), d0);
  expectSimple({s0, s1 * 4}, (d0 * s1 * 4 + d1).floorDiv(s1), d0 * 4 + d1.floorDiv(s1));
}

TEST_F(IndexAlgebraTest, MergesChains) {
  expectSimple({s0}, d0.floorDiv(4).floorDiv(3), d0.floorDiv(12));
  expectSimple({s0}, (d0 % 12) % 4, d0 % 4);
  expectSimple({s0}, (d0 % 12).floorDiv(4), d0.floorDiv(4) % 3);
  expectSimple({s0}, (d0.floorDiv(4) % 3) * 4 + d0 % 4, d0 % 12);
  expectSimple({s0, constant(3)}, (d0 * 3 + d1).floorDiv(6), d0.floorDiv(2));
}

TEST_F(IndexAlgebraTest, ProvesBounds) {
  IndexAlgebra algebra(&context, {s0, constant(3)});
  EXPECT_TRUE(algebra.isInside(d0 * 2 + d1, s0 * 2 + 1));
  EXPECT_FALSE(algebra.isInside(d0 * 2 + d1, s0 * 2));
  EXPECT_FALSE(algebra.isInside(d0 + d1 - 1, s0 + 2));
  EXPECT_FALSE(algebra.isInside(d0, s1));
  // The last window of an unpadded convolution ends inside: output size (s0 - 3) / 2 + 1.
  IndexAlgebra window(&context, {(s0 - 3).floorDiv(2) + 1, constant(3)});
  EXPECT_TRUE(window.isInside(d0 * 2 + d1, s0));
  EXPECT_FALSE(window.isInside(d0 * 2 + d1 + 1, s0));
}

/// Random expressions over random boxes, static and symbolic, keep their values.
TEST_F(IndexAlgebraTest, KeepsValues) {
  std::mt19937 random(7);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    SmallVector<AffineExpr> sizes;
    for (int i = 0; i < 3; ++i) {
      AffineExpr choices[] = {constant(1 + pick(6)), s0, s1, s0 * s1, s0 * (1 + pick(3)), s0 + 1};
      sizes.push_back(choices[pick(6)]);
    }
    SmallVector<AffineExpr> pool{d0, d1, d2, s0, s1, constant(pick(7) - 3)};
    AffineExpr divisors[] = {constant(1 + pick(8)), s0, s1, s0 * s1, s0 * 3, s1 + 1, constant(4)};
    for (int step = 0; step < 8; ++step) {
      AffineExpr a = pool[pick(pool.size())], b = pool[pick(pool.size())], by = divisors[pick(7)];
      AffineExpr made[] = {a + b, a * (pick(9) - 3), a * by, a.floorDiv(by), a % by, a.ceilDiv(by), a - b};
      pool.push_back(made[pick(7)]);
    }
    AffineExpr expr = pool.back();
    IndexAlgebra algebra(&context, sizes);
    AffineExpr simple = algebra.simplify(expr), bound = divisors[pick(7)];
    bool inside = algebra.isInside(expr, bound);
    for (int64_t x : {1, 2, 5})
      for (int64_t y : {1, 3}) {
        SmallVector<int64_t> symbols{x, y}, box;
        for (AffineExpr size : sizes)
          box.push_back(graph::evaluate(size, {}, symbols));
        forEachPoint(box, [&](ArrayRef<int64_t> point, int64_t) {
          int64_t value = graph::evaluate(expr, point, symbols);
          ASSERT_EQ(value, graph::evaluate(simple, point, symbols)) << str(expr) << " became " << str(simple);
          ASSERT_TRUE(!inside || (value >= 0 && value < graph::evaluate(bound, point, symbols)))
              << str(expr) << " is not inside " << str(bound);
        });
        if (HasFatalFailure())
          return;
      }
  }
}

} // namespace
