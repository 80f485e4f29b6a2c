// SPDX-License-Identifier: Apache-2.0
// Which keys count in a row, against brute force: under random masks, a key outside of the range has share 0 in what
// the model computes, or the row has no numbers at all.
#include "fusion/keys/KeyRange.h"

#include "frontend/graph/Sizes.h"
#include "tests/reference/GraphInterpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <fmt/format.h>
#include <random>

using namespace mlir;
using namespace tilewright;
using tests::Dense;

namespace {

constexpr int64_t rows = 7, keys = 9;

/// Random text of what masks are made of.
class MaskText {
public:
  explicit MaskText(unsigned seed) : random(seed) {}

  /// The logits, from the scores; `constants` are the numbers that may exclude a key.
  std::string logits(const std::vector<std::string> &constants) {
    std::string x = "%scores";
    for (int masks = 1 + pick(3); masks > 0; --masks)
      x = masked(x, constants[pick(constants.size())]);
    return x;
  }
  std::string text;

private:
  int pick(size_t n) { return static_cast<int>(random() % n); }
  std::string add(const std::string &operation) {
    std::string name = fmt::format("%t{}", count++);
    text += fmt::format("    {} = {}\n", name, operation);
    return name;
  }
  std::string i64(int value) { return add(fmt::format("arith.constant dense<{}> : tensor<7x9xi64>", value)); }
  std::string f32(const std::string &value) { return add("arith.constant dense<" + value + "> : tensor<7x9xf32>"); }

  std::string integer(int depth = 2) {
    switch (pick(depth > 0 ? 11 : 3)) {
    case 0:
    case 1:
      return add("graph.iota dim 1 : tensor<7x9xi64>");
    case 2:
      return add("graph.iota dim 0 : tensor<7x9xi64>");
    case 3:
      return "%numbers";
    case 9: // one of two that are the same number where the key is the row
      return add("graph.broadcast %segments dims [1] : tensor<9xi64> -> tensor<7x9xi64>");
    case 10: {
      std::string few =
          add("graph.slice %segments offsets affine_map<() -> (0)> strides [1] : tensor<9xi64> -> tensor<7xi64>");
      return add("graph.broadcast " + few + " dims [0] : tensor<7xi64> -> tensor<7x9xi64>");
    }
    case 4:
      return add(fmt::format("arith.maxsi {}, {} : tensor<7x9xi64>", integer(depth - 1), integer(depth - 1)));
    case 5:
      return add(fmt::format("arith.minsi {}, {} : tensor<7x9xi64>", integer(depth - 1), i64(pick(4))));
    case 6: {
      std::string x = integer(depth - 1), y = integer(depth - 1);
      std::string less = add(fmt::format("arith.cmpi slt, {}, {} : tensor<7x9xi64>", x, i64(0)));
      return add(fmt::format("arith.select {}, {}, {} : tensor<7x9xi1>, tensor<7x9xi64>", less, y, x));
    }
    default:
      return add(fmt::format("arith.{} {}, {} : tensor<7x9xi64>", pick(3) ? "addi" : "subi", integer(depth - 1),
                             i64(pick(6) - 2)));
    }
  }

  std::string condition(int depth = 2) {
    static constexpr const char *predicates[] = {"sle", "slt", "sge", "sgt", "eq", "ne"};
    switch (pick(depth > 0 ? 10 : 5)) {
    case 5:
      return "%data";
    case 6:
    case 7:
    case 8:
      return add(fmt::format("arith.{} {}, {} : tensor<7x9xi1>", pick(3) ? "andi" : "ori", condition(depth - 1),
                             condition(depth - 1)));
    case 9: {
      std::string yes = add("arith.constant dense<true> : tensor<7x9xi1>");
      return add(fmt::format("arith.xori {}, {} : tensor<7x9xi1>", condition(depth - 1), yes));
    }
    default:
      return add(fmt::format("arith.cmpi {}, {}, {} : tensor<7x9xi64>", predicates[pick(6)], integer(), integer()));
    }
  }

  std::string masked(const std::string &x, const std::string &constant) {
    switch (pick(7)) {
    case 0:
      return add(fmt::format("arith.addf {}, %bias : tensor<7x9xf32>", x));
    case 1:
      return add(fmt::format("arith.mulf {}, {} : tensor<7x9xf32>", x, f32("5.0e-01")));
    case 2:
      return add(fmt::format("arith.maximumf {}, {} : tensor<7x9xf32>", x, f32("-3.4e+38")));
    case 3:
    case 4: {
      std::string bias = add(fmt::format("arith.select {}, {}, {} : tensor<7x9xi1>, tensor<7x9xf32>", condition(),
                                         f32("0.0"), f32(constant)));
      return add(fmt::format("arith.addf {}, {} : tensor<7x9xf32>", bias, x));
    }
    default: {
      std::string is = condition(), never = f32(constant);
      bool kept = pick(2);
      return add(fmt::format("arith.select {}, {}, {} : tensor<7x9xi1>, tensor<7x9xf32>", is, kept ? x : never,
                             kept ? never : x));
    }
    }
  }

  std::mt19937 random;
  int count = 0;
};

struct KeyRangeTest : testing::Test {
  KeyRangeTest() {
    context.loadDialect<graph::GraphDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  }

  /// A kernel whose result are the shares of the keys: the values are the identity.
  static std::string kernel(const std::string &mask, const std::string &logits) {
    return fmt::format(R"(
      graph.kernel @k(%q: tensor<7x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x9xf32>, %numbers: tensor<7x9xi64>,
                      %data: tensor<7x9xi1>, %bias: tensor<7x9xf32>, %segments: tensor<9xi64>) -> tensor<7x9xf32> {{
        %scores = graph.contract %q, %k maps [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>,
            affine_map<(m, n, d) -> (m, n)>] : tensor<7x4xf32>, tensor<9x4xf32> -> tensor<7x9xf32>
        {}
        %max = graph.reduce <max> {} axes [1] : tensor<7x9xf32> -> tensor<7xf32>
        %maxs = graph.broadcast %max dims [0] : tensor<7xf32> -> tensor<7x9xf32>
        %below = arith.subf {}, %maxs : tensor<7x9xf32>
        %weights = math.exp %below : tensor<7x9xf32>
        %sum = graph.reduce <sum> %weights axes [1] : tensor<7x9xf32> -> tensor<7xf32>
        %sums = graph.broadcast %sum dims [0] : tensor<7xf32> -> tensor<7x9xf32>
        %shares = arith.divf %weights, %sums : tensor<7x9xf32>
        %mix = graph.contract %shares, %v maps [affine_map<(m, e, n) -> (m, n)>, affine_map<(m, e, n) -> (n, e)>,
            affine_map<(m, e, n) -> (m, e)>] : tensor<7x9xf32>, tensor<9x9xf32> -> tensor<7x9xf32>
        graph.return %mix : tensor<7x9xf32>
      }})",
                       mask, logits, logits);
  }

  fusion::KeyRange rangeOf(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      llvm::report_fatal_error(llvm::Twine(text));
    FailureOr<fusion::Attention> attention = fusion::takeApart(kernelOp());
    return succeeded(attention) ? fusion::findKeyRange(*attention) : fusion::KeyRange{};
  }
  graph::KernelOp kernelOp() { return *module->getOps<graph::KernelOp>().begin(); }

  std::vector<double> shares() {
    std::mt19937 random(3);
    std::vector<Dense> inputs;
    for (Type type : kernelOp().getArgumentTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      Dense dense{std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()), {}};
      for (int64_t i = 0; i < dense.count(); ++i)
        dense.elements.push_back(tensor.getElementType().isF32()        ? static_cast<double>(random() % 9) / 4 - 1
                                 : tensor.getElementType().isInteger(1) ? static_cast<double>(random() % 2)
                                                                        : static_cast<double>(random() % 9) - 3);
      inputs.push_back(dense);
    }
    for (int64_t i = 0; i < keys * keys; ++i)
      inputs[2].elements[i] = i % (keys + 1) == 0;
    auto result = graph::interpretKernel(kernelOp(), inputs, {});
    if (!result)
      llvm::report_fatal_error(llvm::Twine(result.status().message()));
    return (*result)[0].elements;
  }

  /// How many keys are outside of the range, all of which must have no share.
  int64_t checkRange(const fusion::KeyRange &range) {
    std::vector<double> share = shares();
    int64_t excluded = 0;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t key = 0; key < keys; ++key) {
        auto valueOf = [&](AffineExpr expr) { return graph::evaluate(expr, {row, 0}, {}); };
        bool counts = llvm::all_of(range.from, [&](AffineExpr expr) { return key >= valueOf(expr); }) &&
                      llvm::all_of(range.below, [&](AffineExpr expr) { return key < valueOf(expr); });
        excluded += !counts;
        EXPECT_TRUE(counts || share[row * keys + key] == 0 || std::isnan(share[row * keys])) << row << " " << key;
      }
    return excluded;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

TEST_F(KeyRangeTest, LeavesOutOnlyKeysWithoutAShare) {
  for (const std::vector<std::string> &constants : {std::vector<std::string>{"0xFF800000"},
                                                    {"-6.5504e+04"},
                                                    {"0xFF800000", "-3.4e+38", "-6.5504e+04", "-1.0e+04"}}) {
    int bounded = 0;
    for (unsigned seed = 0; seed < 4000 && !HasFailure(); ++seed) {
      MaskText mask(seed);
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
  std::vector<float> triangle(16 * 16);
  for (int64_t i = 0; i < 16 * 16; ++i)
    triangle[i] = i % 16 > i / 16 + 1 ? -65504 : 0;
  auto &pool = context.getLoadedDialect<graph::GraphDialect>()->constants();
  std::string key = pool.add(std::as_bytes(std::span(triangle)));
  std::string mask = fmt::format(R"(
        %table = graph.constant "{}" : tensor<16x16xf32>
        %part = graph.slice %table offsets affine_map<() -> (2, 0)> strides [1, 1] : tensor<16x16xf32> -> tensor<7x9xf32>
        %x = arith.addf %scores, %part : tensor<7x9xf32>
)",
                                 key);
  fusion::KeyRange range = rangeOf(kernel(mask, "%x"));
  ASSERT_EQ(range.below.size(), 1u);
  EXPECT_EQ(range.below[0], getAffineDimExpr(0, &context) + 4);
  checkRange(range);
}

} // namespace
