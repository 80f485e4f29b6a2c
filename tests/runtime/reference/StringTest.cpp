// SPDX-License-Identifier: Apache-2.0
// Strings, sequences and optional values in the reference: known small cases, most of them what ONNX Runtime gives.
#include "tests/runtime/reference/Evaluate.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::test;

static Tensor strings(Shape shape, std::vector<std::string> values) {
  Tensor tensor = Tensor::allocate(DType::String, std::move(shape));
  std::ranges::move(values, tensor.data<std::string>());
  return tensor;
}

static std::vector<std::string> textOf(const Tensor &tensor) {
  EXPECT_EQ(tensor.type(), DType::String);
  return {tensor.data<std::string>(), tensor.data<std::string>() + tensor.count()};
}

static std::vector<Tensor> run(const Node &node, std::vector<Tensor> inputs) {
  Expected<std::vector<Tensor>> outputs = node(std::move(inputs));
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs ? *outputs : std::vector<Tensor>(node.outputs);
}

using Texts = std::vector<std::string>;

TEST(ReferenceString, ConcatenatesAndCompares) {
  EXPECT_EQ(textOf(run({"StringConcat", 20}, {strings({2, 1}, {"a", "b"}), strings({2}, {"x", "yz"})})[0]),
            (Texts{"ax", "ayz", "bx", "byz"}));
  expectOutputs({"Equal", 19}, {strings({3}, {"a", "", "c"}), strings({1}, {"c"})},
                {tensor(DType::Bool, {3}, {0, 0, 1})});
}

TEST(ReferenceString, SplitsAtSpaceOrDelimiters) {
  std::vector<Tensor> spaced = run({"StringSplit", 20, {}, 2}, {strings({3}, {"a  b", " c ", ""})});
  EXPECT_EQ(textOf(spaced[0]), (Texts{"a", "b", "c", "", "", ""}));
  expectTensor(spaced[1], indices({2, 1, 0}));
  std::vector<Tensor> limited = run({"StringSplit", 20, {{"delimiter", std::string("-")}, {"maxsplit", int64_t{1}}}, 2},
                                    {strings({1}, {"a--b-c"})});
  EXPECT_EQ(textOf(limited[0]), (Texts{"a", "-b-c"}));
}

TEST(ReferenceString, MatchesAndNormalizes) {
  expectOutputs({"RegexFullMatch", 20, {{"pattern", std::string("a+(b|c)")}}}, {strings({3}, {"aab", "ab!", "c"})},
                {tensor(DType::Bool, {3}, {1, 0, 0})});
  expectMalformed({"RegexFullMatch", 20, {{"pattern", std::string("(")}}}, {strings({1}, {"x"})},
                  "is no regular expression");
  expectOutputs({"RegexFullMatch", 20, {{"pattern", std::string("(a|aa)*b")}}},
                {strings({1}, {std::string(5000, 'a')})}, {tensor(DType::Bool, {1}, {0})});
  Attributes upper = {{"case_change_action", std::string("UPPER")}, {"stopwords", Texts{"MONDAY"}}};
  EXPECT_EQ(textOf(run({"StringNormalizer", 10, upper}, {strings({3}, {"monday", "\xc3\xa9t\xc3\xa9", "\xff"})})[0]),
            (Texts{"\xc3\x89T\xc3\x89", "\xff"}));
  EXPECT_EQ(textOf(run({"StringNormalizer", 10, upper}, {strings({1, 1}, {"Monday"})})[0]), Texts{""});
}

/// What ONNX Runtime 1.31 gives, but for one case.
TEST(ReferenceString, Tokenizes) {
  auto tokens = [](Attributes attributes, Texts texts) {
    attributes["pad_value"] = std::string("#");
    return run({"Tokenizer", 1, std::move(attributes), 1, "com.microsoft"},
               {strings({static_cast<int64_t>(texts.size())}, texts)})[0];
  };
  auto by = [](const char *expression, int64_t least = 1, int64_t mark = 0) {
    return Attributes{{"tokenexp", std::string(expression)}, {"mincharnum", least}, {"mark", mark}};
  };
  auto at = [](Texts separators, int64_t least = 1) {
    return Attributes{{"separators", std::move(separators)}, {"mincharnum", least}};
  };
  EXPECT_EQ(textOf(tokens(by("[a-z]+"), {"ab cd", "x"})), (Texts{"ab", "cd", "x", "#"}));
  EXPECT_EQ(textOf(tokens(by("[a-z]+", 1, 1), {"ab cd", "x"})),
            (Texts{"\x02", "ab", "cd", "\x03", "\x02", "x", "\x03", "#"}));
  EXPECT_EQ(textOf(tokens(by("a|bc.?", 2), {"abc a bcd"})), (Texts{"bc ", "bcd"}));
  EXPECT_EQ(textOf(tokens(by("a|ab"), {"ab"})), Texts{"ab"}) << "the longest alternative; ONNX Runtime takes the first";
  EXPECT_EQ(textOf(tokens(by("."), {"\xc3\xa9x"})), (Texts{"\xc3\xa9", "x"})) << "code points";
  EXPECT_EQ(textOf(tokens(by("[a-z]*"), {"", "ab"})), (Texts{"#", "ab"}));
  EXPECT_EQ(tokens(by("[a-z]+", 1, 1), {"", " "}).shape(), (Shape{2, 0})) << "no marks where there are no tokens";
  EXPECT_EQ(textOf(tokens(at({" ", ","}), {"a b,c", "d,,e"})), (Texts{"a", "b", "c", "d", "e", "#"}));
  EXPECT_EQ(textOf(tokens(at({"[0-9]"}, 2), {"xy1y22zz"})), (Texts{"xy", "zz"}));
  EXPECT_EQ(textOf(tokens(at({""}), {"a\xc3\xa9"})), (Texts{"a", "\xc3\xa9"}));
  expectMalformed({"Tokenizer", 1, by("("), 1, "com.microsoft"}, {strings({1}, {"x"})}, "is no regular expression");
  expectMalformed({"Tokenizer", 1, by("x"), 1, "com.microsoft"}, {strings({1}, {"\xff"})}, "expected strings of UTF-8");
  expectMalformed({"Tokenizer", 1, {}, 1, "com.microsoft"}, {strings({1}, {"x"})}, "found neither");
}

TEST(ReferenceString, ConvertsAsOnnxRuntimeDoes) {
  Attributes toString = {{"to", int64_t{8}}}, toFloat = {{"to", int64_t{1}}}, toInt = {{"to", int64_t{7}}};
  EXPECT_EQ(textOf(run({"Cast", 13, toString}, {floats({5}, {0.1, 1e20, 3, HUGE_VAL, -0.0})})[0]),
            (Texts{"0.1", "1e+20", "3", "INF", "-0"}));
  EXPECT_EQ(textOf(run({"Cast", 13, toString}, {tensor(DType::Bool, {2}, {1, 0})})[0]), (Texts{"1", "0"}));
  expectOutputs({"Cast", 13, toFloat}, {strings({3}, {"1.5", "-INF", " 2"})}, {floats({3}, {1.5, -HUGE_VAL, 2})});
  expectOutputs({"Cast", 13, toInt}, {strings({2}, {"-7", "1.9"})}, {indices({-7, 1})});
  expectMalformed({"Cast", 13, toInt}, {strings({1}, {"x"})}, "expected a number, found the string 'x'");
}

TEST(ReferenceString, MovesAsNumbersDo) {
  Tensor words = strings({2, 2}, {"a", "b", "c", "a"});
  EXPECT_EQ(textOf(run({"Transpose", 13}, {words})[0]), (Texts{"a", "c", "b", "a"}));
  EXPECT_EQ(textOf(run({"Gather", 13}, {words, indices({1, 0})})[0]), (Texts{"c", "a", "a", "b"}));
  EXPECT_EQ(textOf(run({"Where", 16}, {tensor(DType::Bool, {2, 1}, {1, 0}), words, strings({1}, {"-"})})[0]),
            (Texts{"a", "b", "-", "-"}));
  std::vector<Tensor> unique = run({"Unique", 11, {}, 4}, {strings({4}, {"d", "b", "d", ""})});
  EXPECT_EQ(textOf(unique[0]), (Texts{"", "b", "d"}));
  expectTensor(unique[1], indices({3, 1, 0}));
  Expected<std::vector<Tensor>> refused = Node{"Add", 14}({words, words});
  EXPECT_EQ(refused.status().message(), "Add: it has no kernel for a string");
}

TEST(ReferenceSequence, BuildsAndTakesApart) {
  Tensor one = vector({1}), two = vector({2, 3}), sequence = run({"SequenceConstruct", 11}, {one, two})[0];
  expectOutputs({"SequenceLength", 11}, {sequence}, {ints({}, {2})});
  expectOutputs({"SequenceAt", 11}, {sequence, ints({}, {-1})}, {two});
  expectMalformed({"SequenceAt", 11}, {sequence, ints({}, {2})}, "position 2 is outside of a sequence of 2");
  Tensor longer = run({"SequenceInsert", 11}, {sequence, vector({9}), ints({}, {0})})[0];
  expectOutputs({"SequenceAt", 11}, {longer, ints({}, {0})}, {vector({9})});
  expectMalformed({"SequenceInsert", 11}, {sequence, indices({1})}, "expected an element of float32, found int64");
  Tensor shorter = run({"SequenceErase", 11}, {longer})[0];
  expectOutputs({"ConcatFromSequence", 11, {{"axis", int64_t{0}}}}, {shorter}, {vector({9, 1})});
  expectMalformed({"SequenceAt", 11}, {run({"SequenceEmpty", 11}, {})[0], ints({}, {0})}, "the sequence is empty");
}

TEST(ReferenceSequence, SplitsAndJoins) {
  Tensor parts = run({"SplitToSequence", 11, {{"axis", int64_t{1}}}}, {counting({2, 3}), ints({}, {2})})[0];
  ASSERT_EQ(parts.count(), 2);
  expectTensor(parts.data<Tensor>()[1], floats({2, 1}, {2, 5}));
  Tensor rows = run({"SplitToSequence", 11, {{"keepdims", int64_t{0}}}}, {counting({2, 3})})[0];
  expectTensor(rows.data<Tensor>()[1], vector({3, 4, 5}));
  expectOutputs({"ConcatFromSequence", 11, {{"axis", int64_t{-1}}, {"new_axis", int64_t{1}}}}, {rows},
                {floats({3, 2}, {0, 3, 1, 4, 2, 5})});
}

TEST(ReferenceSequence, HoldsOptionalValues) {
  Tensor empty = run({"Optional", 15}, {})[0], full = run({"Optional", 15}, {vector({5})})[0];
  auto has = [](double value) { return tensor(DType::Bool, {}, {value}); };
  expectOutputs({"OptionalHasElement", 18}, {empty}, {has(0)});
  expectOutputs({"OptionalHasElement", 18}, {full}, {has(1)});
  expectOutputs({"OptionalHasElement", 18}, {}, {has(0)});
  expectOutputs({"OptionalGetElement", 18}, {full}, {vector({5})});
  expectMalformed({"OptionalGetElement", 18}, {empty}, "the optional value is empty");
}
