// SPDX-License-Identifier: Apache-2.0
// Scales that move behind masks, against what the kernel computed before; and logits as a multiple of their units.
#include "fusion/keys/ScaledLogits.h"

#include "tests/fusion/keys/MaskedAttention.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct ScaledLogitsTest : tests::MaskedAttention {
  std::string text() {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  /// Whether the scale moves. What the kernel computes must stay the same.
  bool movesScale(const std::string &kernelText) {
    FailureOr<fusion::Attention> attention = parse(kernelText);
    if (failed(attention))
      return false;
    std::string before = text();
    std::vector<tests::Dense> expected = results();
    fusion::scaleLast(*attention);
    EXPECT_TRUE(succeeded(verify(*module)));
    std::vector<tests::Dense> found = results();
    for (int64_t i = 0; i < expected[0].count(); ++i) {
      double a = found[0].elements[i], b = expected[0].elements[i];
      EXPECT_TRUE(std::abs(a - b) <= 1e-6 || (std::isnan(a) && std::isnan(b))) << i << " " << a << " " << b;
    }
    return text() != before;
  }

  std::optional<fusion::ScaledLogits> scaledOf(const std::string &mask, const std::string &logits) {
    FailureOr<fusion::Attention> attention = parse(kernel(mask, logits));
    EXPECT_TRUE(succeeded(attention));
    return succeeded(attention) ? fusion::scaledLogits(*attention) : std::nullopt;
  }
};

constexpr const char *constants = R"(
        %eighth = arith.constant dense<1.25e-01> : tensor<7x9xf32>
        %two = arith.constant dense<2.0> : tensor<7x9xf32>
        %zero = arith.constant dense<0.0> : tensor<7x9xf32>
        %never = arith.constant dense<0xFF800000> : tensor<7x9xf32>
        %low = arith.constant dense<-6.5504e+04> : tensor<7x9xf32>
        %lowest = arith.constant dense<-3.40282347e+38> : tensor<7x9xf32>
        %s = arith.mulf %scores, %eighth : tensor<7x9xf32>
)";

} // namespace

TEST_F(ScaledLogitsTest, MovesScalesBehindRandomMasks) {
  int moved = 0;
  for (unsigned seed = 0; seed < 5000 && !HasFailure(); ++seed) {
    tests::MaskText mask(seed);
    std::string logits = mask.logits({"0xFF800000", "-6.5504e+04", "-3.4e+38"}), text = kernel(mask.text, logits);
    moved += movesScale(text);
    EXPECT_FALSE(HasFailure()) << text;
  }
  EXPECT_GT(moved, 100);
}

TEST_F(ScaledLogitsTest, MovesScalesBehindSumsAndSelections) {
  std::string sum = "%mask = arith.select %data, %zero, %low : tensor<7x9xi1>, tensor<7x9xf32>\n"
                    "%x = arith.addf %mask, %s : tensor<7x9xf32>\n",
              selection = "%y = arith.select %data, %never, %x : tensor<7x9xi1>, tensor<7x9xf32>\n";
  EXPECT_TRUE(movesScale(kernel(constants + sum, "%x")));
  EXPECT_TRUE(movesScale(kernel(constants + sum + selection, "%y")));
  std::string divided = "%d = arith.divf %scores, %two : tensor<7x9xf32>\n"
                        "%x = arith.select %data, %d, %never : tensor<7x9xi1>, tensor<7x9xf32>\n";
  EXPECT_TRUE(movesScale(kernel(constants + divided, "%x")));
}

/// There is no mask; the mask may be too large; something else reads the scaled scores.
TEST_F(ScaledLogitsTest, LeavesScales) {
  EXPECT_FALSE(movesScale(kernel(constants, "%s")));
  EXPECT_FALSE(movesScale(kernel(constants + std::string("%x = arith.addf %s, %bias : tensor<7x9xf32>\n"), "%x")));
  std::string lowest = "%x = arith.select %data, %s, %lowest : tensor<7x9xi1>, tensor<7x9xf32>\n";
  EXPECT_FALSE(movesScale(kernel(constants + lowest, "%x")));
  std::string twice = "%is = arith.cmpf ogt, %s, %zero : tensor<7x9xf32>\n"
                      "%x = arith.select %is, %s, %never : tensor<7x9xi1>, tensor<7x9xf32>\n";
  EXPECT_FALSE(movesScale(kernel(constants + twice, "%x")));
}

TEST_F(ScaledLogitsTest, AreAMultipleOfTheirUnits) {
  std::optional<fusion::ScaledLogits> plain = scaledOf("", "%scores");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->scale, 1);
  std::string twice = "%x = arith.divf %s, %two : tensor<7x9xf32>\n";
  std::optional<fusion::ScaledLogits> scaled = scaledOf(constants + twice, "%x");
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->scale, 0.0625);
  EXPECT_TRUE(scaled->units.getDefiningOp<graph::ContractOp>());
  std::string negative = "%minus = arith.negf %two : tensor<7x9xf32>\n%x = arith.divf %s, %minus : tensor<7x9xf32>\n";
  std::optional<fusion::ScaledLogits> unscaled = scaledOf(constants + negative, "%x");
  ASSERT_FALSE(unscaled); // a divisor that is computed may be anything
}

TEST_F(ScaledLogitsTest, HaveRoom) {
  auto hasRoom = [&](const std::string &mask) { return scaledOf(constants + mask, "%x").has_value(); };
  EXPECT_TRUE(hasRoom("%x = arith.select %data, %s, %never : tensor<7x9xi1>, tensor<7x9xf32>\n"));
  EXPECT_TRUE(hasRoom("%x = arith.select %data, %s, %low : tensor<7x9xi1>, tensor<7x9xf32>\n"));
  EXPECT_FALSE(hasRoom("%x = arith.select %data, %s, %lowest : tensor<7x9xi1>, tensor<7x9xf32>\n"));
  EXPECT_FALSE(hasRoom("%x = arith.addf %s, %bias : tensor<7x9xf32>\n"));
  std::string half = "%h = arith.truncf %bias : tensor<7x9xf32> to tensor<7x9xf16>\n"
                     "%b = arith.extf %h : tensor<7x9xf16> to tensor<7x9xf32>\n"
                     "%x = arith.addf %s, %b : tensor<7x9xf32>\n";
  EXPECT_TRUE(hasRoom(half));
  std::string number = "%n = arith.sitofp %numbers : tensor<7x9xi64> to tensor<7x9xf32>\n"
                       "%m = arith.mulf %n, %low : tensor<7x9xf32>\n"
                       "%x = arith.subf %s, %m : tensor<7x9xf32>\n";
  EXPECT_TRUE(hasRoom(number));
  std::string capped = "%t = math.tanh %s : tensor<7x9xf32>\n%x = arith.maximumf %t, %low : tensor<7x9xf32>\n";
  EXPECT_TRUE(hasRoom(capped));
  EXPECT_FALSE(hasRoom("%x = math.exp %s : tensor<7x9xf32>\n"));
}
