// SPDX-License-Identifier: Apache-2.0
// Which keys count in a row, against brute force: under random masks, a key outside of the range has share 0 in what
// the model computes, or the row has no numbers at all.
#include "fusion/keys/KeyRange.h"

#include "frontend/graph/Sizes.h"
#include "tests/fusion/keys/MaskedAttention.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct KeyRangeTest : tests::MaskedAttention {
  fusion::KeyRange rangeOf(const std::string &text) {
    FailureOr<fusion::Attention> attention = parse(text);
    return succeeded(attention) ? fusion::findKeyRange(*attention) : fusion::KeyRange{};
  }

  /// How many keys are outside of the range, all of which must have no share.
  int64_t checkRange(const fusion::KeyRange &range) {
    std::vector<double> share = results()[0].elements;
    int64_t excluded = 0;
    for (int64_t row = 0; row < tests::maskRows; ++row)
      for (int64_t key = 0; key < tests::maskKeys; ++key) {
        auto valueOf = [&](AffineExpr expr) { return graph::evaluate(expr, {row, 0}, {}); };
        bool counts = llvm::all_of(range.from, [&](AffineExpr expr) { return key >= valueOf(expr); }) &&
                      llvm::all_of(range.below, [&](AffineExpr expr) { return key < valueOf(expr); });
        excluded += !counts;
        EXPECT_TRUE(counts || share[row * tests::maskKeys + key] == 0 || std::isnan(share[row * tests::maskKeys]))
            << row << " " << key;
      }
    return excluded;
  }
};

TEST_F(KeyRangeTest, LeavesOutOnlyKeysWithoutAShare) {
  for (const std::vector<std::string> &constants : {std::vector<std::string>{"0xFF800000"},
                                                    {"-6.5504e+04"},
                                                    {"0xFF800000", "-3.4e+38", "-6.5504e+04", "-1.0e+04"}}) {
    int bounded = 0;
    for (unsigned seed = 0; seed < 4000 && !HasFailure(); ++seed) {
      tests::MaskText mask(seed);
      std::string logits = mask.logits(constants), text = kernel(mask.text, logits);
      bounded += checkRange(rangeOf(text)) > 0;
      EXPECT_FALSE(HasFailure()) << text;
    }
    EXPECT_GT(bounded, 20) << constants[0];
  }
}

//===- What is found, and what is not -----------------------------------------------------------------------------===//

constexpr const char *causal = R"(
        %row = graph.iota dim 0 : tensor<7x9xi64>
        %key = graph.iota dim 1 : tensor<7x9xi64>
        %past = arith.constant dense<2> : tensor<7x9xi64>
        %position = arith.addi %row, %past : tensor<7x9xi64>
        %live = arith.cmpi sle, %key, %position : tensor<7x9xi64>
)";

std::string select(const std::string &condition, const std::string &otherwise) {
  return fmt::format("%never = arith.constant dense<{}> : tensor<7x9xf32>\n"
                     "%x = arith.select {}, %scores, %never : tensor<7x9xi1>, tensor<7x9xf32>\n",
                     otherwise, condition);
}

TEST_F(KeyRangeTest, FindsTheDiagonal) {
  fusion::KeyRange range = rangeOf(kernel(causal + select("%live", "0xFF800000"), "%x"));
  AffineExpr row = getAffineDimExpr(0, &context);
  ASSERT_EQ(range.below.size(), 1u);
  EXPECT_EQ(range.below[0], row + 3);
  EXPECT_TRUE(range.from.empty());
}

TEST_F(KeyRangeTest, FindsWindows) {
  std::string window = R"(
        %width = arith.constant dense<3> : tensor<7x9xi64>
        %first = arith.subi %position, %width : tensor<7x9xi64>
        %near = arith.cmpi sgt, %key, %first : tensor<7x9xi64>
        %both = arith.andi %live, %near : tensor<7x9xi1>
)";
  fusion::KeyRange range = rangeOf(kernel(causal + window + select("%both", "-6.5504e+04"), "%x"));
  AffineExpr row = getAffineDimExpr(0, &context);
  ASSERT_EQ(range.below.size() + range.from.size(), 2u);
  EXPECT_EQ(range.below[0], row + 3);
  EXPECT_EQ(range.from[0], row);
}

/// Whether a finite number excludes keys: only if every row has one that counts, for sure.
TEST_F(KeyRangeTest, RefusesFiniteMasksOfRowsThatMayHaveNoKey) {
  auto isBounded = [&](const std::string &mask, const std::string &logits = "%x") {
    fusion::KeyRange range = rangeOf(kernel(causal + mask, logits));
    return !range.below.empty();
  };
  EXPECT_TRUE(isBounded(select("%live", "-6.5504e+04")));
  EXPECT_FALSE(isBounded(select("%live", "-1.0e+04"))) << "scores may be as low";
  std::string padded = "%both = arith.andi %live, %data : tensor<7x9xi1>\n";
  EXPECT_TRUE(isBounded(padded + select("%both", "0xFF800000")));
  EXPECT_FALSE(isBounded(padded + select("%both", "-6.5504e+04"))) << "data may exclude all keys of a row";
  std::string biased = "%y = arith.addf %x, %bias : tensor<7x9xf32>\n";
  EXPECT_TRUE(isBounded(select("%live", "0xFF800000") + biased, "%y"));
  EXPECT_FALSE(isBounded(select("%live", "-6.5504e+04") + biased, "%y")) << "a bias may be as low";
  std::string late = R"(
        %three = arith.constant dense<3> : tensor<7x9xi64>
        %earlier = arith.subi %row, %three : tensor<7x9xi64>
        %few = arith.cmpi sle, %key, %earlier : tensor<7x9xi64>
)";
  EXPECT_TRUE(isBounded(late + select("%few", "0xFF800000")));
  EXPECT_FALSE(isBounded(late + select("%few", "-6.5504e+04"))) << "the first rows have no key";
}

/// Exporters compare the segments of a row and of a key, by nodes of their own for each.
TEST_F(KeyRangeTest, FindsTheRowAmongItsOwnKeys) {
  std::string segments = R"(
        %one = arith.constant dense<1> : tensor<7xi64>
        %few = graph.slice %segments offsets affine_map<() -> (0)> strides [1] : tensor<9xi64> -> tensor<7xi64>
        %ofRows = arith.addi %few, %one : tensor<7xi64>
        %rows = graph.broadcast %ofRows dims [0] : tensor<7xi64> -> tensor<7x9xi64>
        %all = graph.broadcast %segments dims [1] : tensor<9xi64> -> tensor<7x9xi64>
        %ones = arith.constant dense<1> : tensor<7x9xi64>
        %keys = arith.addi %ones, %all : tensor<7x9xi64>
        %same = arith.cmpi eq, %rows, %keys : tensor<7x9xi64>
        %behind = arith.cmpi sle, %key, %row : tensor<7x9xi64>
        %both = arith.andi %same, %behind : tensor<7x9xi1>
)";
  std::string mask = causal + segments + select("%both", "-6.5504e+04");
  fusion::KeyRange range = rangeOf(kernel(mask, "%x"));
  ASSERT_EQ(range.below.size(), 1u);
  EXPECT_EQ(range.below[0], getAffineDimExpr(0, &context) + 1);
  checkRange(range);
  std::vector<int64_t> numbers = {3, 1, 4, 1, 5, 9, 2, 6, 5};
  std::string key = context.getLoadedDialect<graph::GraphDialect>()->constants().add(std::as_bytes(std::span(numbers)));
  std::string constants = fmt::format(R"(
        %column = graph.constant "{}" : tensor<9x1xi64>
        %line = graph.constant "{}" : tensor<1x9xi64>
        %index = graph.slice %line offsets affine_map<() -> (0, 0)> strides [1, 1] : tensor<1x9xi64> -> tensor<1x7xi64>
        %flat = graph.reshape %index : tensor<1x7xi64> -> tensor<7xi64>
        %rowNumbers = graph.broadcast %flat dims [0] : tensor<7xi64> -> tensor<7x9xi64>
        %tall = graph.reshape %column : tensor<9x1xi64> -> tensor<9xi64>
        %keyNumbers = graph.broadcast %tall dims [1] : tensor<9xi64> -> tensor<7x9xi64>
        %equal = arith.cmpi eq, %rowNumbers, %keyNumbers : tensor<7x9xi64>
        %three = arith.andi %equal, %both : tensor<7x9xi1>
)",
                                      key, key);
  EXPECT_FALSE(rangeOf(kernel(causal + segments + constants + select("%three", "-6.5504e+04"), "%x")).below.empty());
  size_t at = mask.find("%same = arith.cmpi eq");
  EXPECT_TRUE(rangeOf(kernel(mask.replace(at, 21, "%same = arith.cmpi ne"), "%x")).below.empty());
}

/// A constant mask from its diagonals, behind a slice.
TEST_F(KeyRangeTest, ReadsConstants) {
  std::string mask =
      tests::constantMask(context, [](int64_t row, int64_t column) { return column > row + 1 ? -65504.0f : 0; });
  fusion::KeyRange range = rangeOf(kernel(mask, "%x"));
  ASSERT_EQ(range.below.size(), 1u);
  EXPECT_EQ(range.below[0], getAffineDimExpr(0, &context) + 4);
  checkRange(range);
}

} // namespace
