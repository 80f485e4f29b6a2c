// SPDX-License-Identifier: Apache-2.0
// Constants as comparisons of their indices, against their elements.
#include "fusion/keys/ComparedBand.h"

#include "tests/fusion/keys/MaskedAttention.h"

using namespace mlir;
using namespace tilewright;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct ComparedBandTest : tests::MaskedAttention {
  /// Whether the constant of these numbers is compared.
  bool isCompared(llvm::function_ref<float(int64_t row, int64_t column)> number) {
    return isComparedIn(tests::constantMask(context, number));
  }

  /// The same for a constant of booleans, which selects the scores.
  bool areBooleansCompared(llvm::function_ref<bool(int64_t row, int64_t column)> isLive) {
    std::vector<std::byte> bytes;
    for (int64_t i = 0; i < tests::maskRows * tests::maskKeys; ++i)
      bytes.push_back(std::byte(isLive(i / tests::maskKeys, i % tests::maskKeys)));
    return isComparedIn(fmt::format(R"(
        %live = graph.constant "{}" : tensor<7x9xi1>
        %never = arith.constant dense<0xFF800000> : tensor<7x9xf32>
        %x = arith.select %live, %scores, %never : tensor<7x9xi1>, tensor<7x9xf32>
)",
                                    context.getLoadedDialect<graph::GraphDialect>()->constants().add(bytes)));
  }

  /// What the kernel computes must stay the same.
  bool isComparedIn(const std::string &mask) {
    EXPECT_TRUE(succeeded(parse(kernel(mask, "%x"))));
    graph::ConstantOp constant = *kernelOp().getOps<graph::ConstantOp>().begin();
    std::vector<tests::Dense> expected = results();
    OpBuilder builder(constant);
    fusion::ComparedBands bands;
    Value band = bands.emit(constant, builder);
    if (!band)
      return false;
    EXPECT_TRUE(bands.emit(constant, builder)); // read once, emitted as often as wanted
    constant.getResult().replaceAllUsesWith(band);
    std::vector<tests::Dense> found = results();
    for (int64_t i = 0; i < expected[0].count(); ++i) {
      double a = found[0].elements[i], b = expected[0].elements[i];
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << i << " " << a << " " << b;
    }
    return true;
  }
};

} // namespace

TEST_F(ComparedBandTest, ComparesTriangles) {
  for (float low : {-infinity, -65504.0f, 2.5f})
    for (int64_t diagonal : {-3, 0, 1, 5}) {
      EXPECT_TRUE(isCompared([=](int64_t row, int64_t column) { return column - row <= diagonal ? 0 : low; }));
      EXPECT_TRUE(isCompared([=](int64_t row, int64_t column) { return column - row >= diagonal ? 0 : low; }));
    }
}

TEST_F(ComparedBandTest, ComparesWindowsOfZeroAndOfAnotherNumber) {
  auto isInside = [](int64_t row, int64_t column) { return column - row <= 1 && column - row >= -4; };
  EXPECT_TRUE(isCompared([&](int64_t row, int64_t column) { return isInside(row, column) ? 0 : -infinity; }));
  EXPECT_TRUE(isCompared([&](int64_t row, int64_t column) { return isInside(row, column) ? -infinity : 0; }));
}

TEST_F(ComparedBandTest, ComparesBooleans) {
  EXPECT_TRUE(areBooleansCompared([](int64_t row, int64_t column) { return column <= row + 2; }));
  EXPECT_TRUE(areBooleansCompared([](int64_t row, int64_t column) { return column >= row; }));
  EXPECT_TRUE(areBooleansCompared([](int64_t row, int64_t column) { return column <= row && column > row - 3; }));
  EXPECT_FALSE(areBooleansCompared([](int64_t row, int64_t column) { return column > row || column < row - 3; }));
}

TEST_F(ComparedBandTest, LeavesOtherConstants) {
  auto triangle = [](int64_t row, int64_t column) { return column <= row; };
  EXPECT_FALSE(isCompared([](int64_t, int64_t column) { return column % 2 ? 0 : -infinity; })); // no band
  EXPECT_FALSE(isCompared([&](int64_t row, int64_t column) {
    return triangle(row, column) ? 0 : column == 15 ? -2.0f : -1.0f; // three numbers
  }));
  EXPECT_FALSE(isCompared([&](int64_t row, int64_t column) { return triangle(row, column) ? 1.0f : 2.0f; })); // no 0
  EXPECT_FALSE(isCompared([&](int64_t row, int64_t column) {
    return triangle(row, column) ? 0 : row == 2 ? std::numeric_limits<float>::quiet_NaN() : -1.0f;
  }));
  EXPECT_FALSE(isCompared([](int64_t, int64_t) { return 0.0f; })); // nothing to compare
}
