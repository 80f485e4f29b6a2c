// SPDX-License-Identifier: Apache-2.0
// For which keys a mask is neutral, against brute force: under random masks, an element of such a key is the one that
// is masked.
#include "fusion/keys/NeutralMasks.h"

#include "frontend/graph/Sizes.h"
#include "tests/fusion/keys/MaskedAttention.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct NeutralMasksTest : tests::MaskedAttention {
  SmallVector<fusion::NeutralMask> masksOf(const std::string &text) {
    FailureOr<fusion::Attention> attention = parse(text);
    return succeeded(attention) ? fusion::findNeutralMasks(*attention) : SmallVector<fusion::NeutralMask>{};
  }

  /// Lets the kernel return each mask's result and what it masks, one behind the other.
  void returnMasks(ArrayRef<fusion::NeutralMask> masks) {
    SmallVector<Value> values;
    for (const fusion::NeutralMask &mask : masks)
      values.append({mask.mask->getResult(0), mask.mask->getOperand(mask.scores)});
    kernelOp().getBody().front().getTerminator()->setOperands(values);
    auto type = FunctionType::get(&context, kernelOp().getArgumentTypes(), TypeRange(ValueRange(values)));
    kernelOp().setFunctionType(type);
  }

  /// How many elements are in the masks' intervals, all of which must be what is masked.
  int64_t checkMasks(const SmallVector<fusion::NeutralMask> &masks) {
    returnMasks(masks);
    std::vector<tests::Dense> values = results();
    int64_t neutral = 0;
    for (auto [i, mask] : llvm::enumerate(masks))
      for (int64_t element = 0; element < tests::maskRows * tests::maskKeys; ++element) {
        int64_t row = element / tests::maskKeys, key = element % tests::maskKeys;
        auto valueOf = [&](AffineExpr expr) { return graph::evaluate(expr, {row, 0}, {}); };
        if (llvm::any_of(mask.keys.from, [&](AffineExpr expr) { return key < valueOf(expr); }) ||
            llvm::any_of(mask.keys.below, [&](AffineExpr expr) { return key >= valueOf(expr); }))
          continue;
        ++neutral;
        double masked = values[2 * i].elements[element], score = values[2 * i + 1].elements[element];
        EXPECT_TRUE(masked == score || (std::isnan(masked) && std::isnan(score))) << row << " " << key;
      }
    return neutral;
  }

  /// The bounds of the only mask.
  std::pair<SmallVector<AffineExpr>, SmallVector<AffineExpr>> boundsOf(const std::string &text) {
    SmallVector<fusion::NeutralMask> masks = masksOf(text);
    if (masks.size() != 1)
      return {};
    std::pair bounds(masks[0].keys.from, masks[0].keys.below);
    EXPECT_GT(checkMasks(masks), 0);
    return bounds;
  }

  AffineExpr row = getAffineDimExpr(0, &context);
};

constexpr const char *causal = R"(
        %row = graph.iota dim 0 : tensor<7x9xi64>
        %key = graph.iota dim 1 : tensor<7x9xi64>
        %two = arith.constant dense<2> : tensor<7x9xi64>
        %position = arith.addi %row, %two : tensor<7x9xi64>
        %live = arith.cmpi sle, %key, %position : tensor<7x9xi64>
        %first = arith.subi %row, %two : tensor<7x9xi64>
        %near = arith.cmpi sge, %key, %first : tensor<7x9xi64>
        %never = arith.constant dense<0xFF800000> : tensor<7x9xf32>
        %zero = arith.constant dense<0.0> : tensor<7x9xf32>
)";

std::string selected(const std::string &condition) {
  return fmt::format("%x = arith.select {}, %scores, %never : tensor<7x9xi1>, tensor<7x9xf32>\n", condition);
}

} // namespace

TEST_F(NeutralMasksTest, AreNeutralForAllKeysThatTheyName) {
  int found = 0;
  for (unsigned seed = 0; seed < 6000 && !HasFailure(); ++seed) {
    tests::MaskText mask(seed);
    std::string logits = mask.logits({"0xFF800000", "-6.5504e+04"}), text = kernel(mask.text, logits);
    SmallVector<fusion::NeutralMask> masks = masksOf(text);
    found += !masks.empty() && checkMasks(masks) > 0;
    EXPECT_FALSE(HasFailure()) << text;
  }
  EXPECT_GT(found, 500);
}

TEST_F(NeutralMasksTest, SelectBelowADiagonal) {
  auto [from, below] = boundsOf(kernel(causal + selected("%live"), "%x"));
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(below, SmallVector<AffineExpr>{row + 3});
}

TEST_F(NeutralMasksTest, SelectInsideOfAWindow) {
  std::string both = "%both = arith.andi %live, %near : tensor<7x9xi1>\n";
  auto [from, below] = boundsOf(kernel(causal + both + selected("%both"), "%x"));
  EXPECT_EQ(from, SmallVector<AffineExpr>{row - 2});
  EXPECT_EQ(below, SmallVector<AffineExpr>{row + 3});
}

/// (1 - mask) * -65504, and a choice of 0 or -inf.
TEST_F(NeutralMasksTest, AddNothing) {
  for (const char *mask : {R"(
        %number = arith.uitofp %live : tensor<7x9xi1> to tensor<7x9xf32>
        %one = arith.constant dense<1.0> : tensor<7x9xf32>
        %other = arith.subf %one, %number : tensor<7x9xf32>
        %low = arith.constant dense<-6.5504e+04> : tensor<7x9xf32>
        %mask = arith.mulf %other, %low : tensor<7x9xf32>
        %x = arith.addf %mask, %scores : tensor<7x9xf32>
)",
                           R"(
        %mask = arith.select %live, %zero, %never : tensor<7x9xi1>, tensor<7x9xf32>
        %x = arith.addf %scores, %mask : tensor<7x9xf32>
)"}) {
    auto [from, below] = boundsOf(kernel(causal + std::string(mask), "%x"));
    EXPECT_TRUE(from.empty());
    EXPECT_EQ(below, SmallVector<AffineExpr>{row + 3});
  }
}

/// A padding mask stays: only the other one is neutral.
TEST_F(NeutralMasksTest, LeaveDataToItself) {
  std::string padded = causal + selected("%live") +
                       "%y = arith.select %data, %x, %never : tensor<7x9xi1>, tensor<7x9xf32>\n"
                       "%z = arith.addf %y, %bias : tensor<7x9xf32>\n";
  SmallVector<fusion::NeutralMask> masks = masksOf(kernel(padded, "%z"));
  ASSERT_EQ(masks.size(), 1u);
  EXPECT_EQ(masks[0].mask->getOperand(masks[0].scores), (*kernelOp().getOps<graph::ContractOp>().begin()).getResult());
  std::string joined = "%both = arith.andi %live, %data : tensor<7x9xi1>\n";
  EXPECT_TRUE(masksOf(kernel(causal + joined + selected("%both"), "%x")).empty());
}

/// A band of zeros in a constant, behind a slice; not one with a gap.
TEST_F(NeutralMasksTest, ReadConstants) {
  for (bool hasGap : {false, true}) {
    std::string mask = tests::constantMask(context, [&](int64_t row, int64_t column) {
      bool isOutside = column > row + 1 || column < row - 3, isGap = hasGap && row == 5 && column == 5;
      return isOutside || isGap ? -65504.0f : 0;
    });
    auto [from, below] = boundsOf(kernel(mask, "%x"));
    EXPECT_EQ(from, hasGap ? SmallVector<AffineExpr>{} : SmallVector<AffineExpr>{row - 1});
    EXPECT_EQ(below, hasGap ? SmallVector<AffineExpr>{} : SmallVector<AffineExpr>{row + 4});
  }
}
