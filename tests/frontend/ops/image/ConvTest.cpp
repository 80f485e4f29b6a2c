// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings.
#include "tests/frontend/import/ImporterTest.h"
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using List = std::vector<int64_t>;

std::vector<Case> convolutions() {
  return {
      {"Conv", {{{1, 3, 7, 8}}, {{4, 3, 3, 3}}, {{4}}}, {{"pads", List{1, 1, 1, 1}}, {"strides", List{2, 1}}}},
      {"Conv", {{{2, 3, 5, 5}}, {{4, 3, 1, 1}}}},
      {"Conv", {{{2, 3, 5, 5}}, {{4, 3, 1, 1}}}, {{"strides", List{2, 2}}}},
      {"Conv", {{{1, 4, 6, 6}}, {{4, 1, 3, 3}}}, {{"group", int64_t(4)}, {"dilations", List{2, 2}}}},
      {"Conv", {{{1, 2, 6, 6}}, {{6, 1, 3, 3}}, {{6}}}, {{"group", int64_t(2)}}},
      {"Conv", {{{1, 4, 6, 6}}, {{6, 2, 3, 3}}}, {{"group", int64_t(2)}, {"auto_pad", std::string("SAME_UPPER")}}},
      {"Conv", {{{1, 3, 10}}, {{2, 3, 4}}}, {{"auto_pad", std::string("SAME_LOWER")}, {"strides", List{2}}}},
      {"Conv", {{{1, 2, 4, 5, 6}}, {{3, 2, 2, 2, 2}}}},
      // Taps that only meet padding
      {"Conv", {{{1, 3, 1, 1}}, {{4, 3, 3, 3}}}, {{"pads", List{1, 1, 1, 1}}}},
      {"Conv", {{{1, 3, 2, 3}}, {{4, 3, 7, 5}}, {{4}}}, {{"pads", List{3, 4, 3, 4}}, {"strides", List{2, 1}}}},
      {"Conv", {{{1, 3, 2, 2}}, {{4, 3, 3, 3}}}, {{"pads", List{2, 3, 2, 3}}, {"dilations", List{2, 3}}}},
      {"Conv",
       {{{1, 4, 1, 2}}, {{4, 1, 3, 3}}},
       {{"group", int64_t(4)}, {"pads", List{1, 1, 1, 1}}, {"strides", List{2, 2}}}},
      {"Conv", {{{1, 3, 1}}, {{2, 3, 5}}}, {{"pads", List{7, 0}}}},
      {"MaxPool",
       {{{1, 3, 7, 8}}},
       {{"kernel_shape", List{3, 2}}, {"strides", List{2, 2}}, {"pads", List{1, 0, 1, 1}}}},
      {"MaxPool", {{{1, 3, 7, 8}}}, {{"kernel_shape", List{3, 3}}, {"strides", List{2, 2}}, {"ceil_mode", int64_t(1)}}},
      {"MaxPool", {{{1, 3, 7}, DType::U8}}, {{"kernel_shape", List{3}}}},
      {"AveragePool", {{{1, 3, 7, 8}}}, {{"kernel_shape", List{3, 3}}, {"pads", List{1, 1, 1, 1}}}},
      {"AveragePool",
       {{{1, 3, 7, 8}}},
       {{"kernel_shape", List{3, 3}}, {"pads", List{1, 1, 1, 1}}, {"count_include_pad", int64_t(1)}}},
      {"AveragePool",
       {{{1, 3, 7, 8}}},
       {{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}, {"ceil_mode", int64_t(1)}}},
      // Along one dimension after the other, as windows have more than nine elements.
      {"MaxPool", {{{1, 3, 9, 8}}}, {{"kernel_shape", List{5, 4}}, {"pads", List{2, 1, 1, 2}}}},
      {"MaxPool",
       {{{2, 2, 11, 9}}},
       {{"kernel_shape", List{4, 3}}, {"strides", List{3, 2}}, {"dilations", List{2, 3}}, {"ceil_mode", int64_t(1)}}},
      {"MaxPool",
       {{{1, 2, 7, 8}}},
       {{"kernel_shape", List{5, 5}}, {"strides", List{2, 3}}, {"auto_pad", std::string("SAME_LOWER")}}},
      {"MaxPool", {{{1, 3, 7, 8}, DType::U8}}, {{"kernel_shape", List{5, 5}}, {"pads", List{2, 2, 2, 2}}}},
      {"MaxPool", {{{1, 2, 5, 6, 7}}}, {{"kernel_shape", List{3, 1, 4}}, {"strides", List{2, 2, 1}}}},
      {"AveragePool", {{{1, 3, 7, 8}}}, {{"kernel_shape", List{5, 4}}, {"pads", List{2, 1, 1, 2}}}},
      {"AveragePool",
       {{{1, 2, 9, 8}}},
       {{"kernel_shape", List{4, 5}},
        {"strides", List{2, 3}},
        {"pads", List{1, 2, 2, 2}},
        {"count_include_pad", int64_t(1)}}},
      {"AveragePool", {{{1, 3, 4, 5}}}, {{"kernel_shape", List{4, 5}}}},
      {"GlobalAveragePool", {{{2, 3, 4, 5}}}},
      {"GlobalMaxPool", {{{2, 3, 4, 5}}}},
      {"ConvInteger", {{{1, 2, 5, 5}, DType::U8}, {{3, 2, 3, 3}, DType::U8}, {{}, DType::U8}}},
      // As many groups as channels: one result for each, and three, with a zero point for each.
      {"ConvInteger",
       {{{2, 4, 6, 5}, DType::U8}, {{4, 1, 3, 3}, DType::I8}, {{}, DType::U8}, {{4}, DType::I8}},
       {{"group", int64_t(4)}, {"pads", List{1, 1, 1, 1}}, {"strides", List{2, 1}}}},
      {"ConvInteger", {{{1, 2, 5, 5}, DType::U8}, {{6, 1, 3, 2}, DType::U8}}, {{"group", int64_t(2)}}},
      {"LpPool", {{{1, 2, 6}}}, {{"kernel_shape", List{2}}, {"strides", List{2}}}},
  };
}

std::vector<Case> transposedConvolutions() {
  return {
      {"ConvTranspose", {{{1, 3, 4, 5}}, {{3, 2, 3, 3}}, {{2}}}},
      {"ConvTranspose",
       {{{1, 3, 4, 5}}, {{3, 2, 3, 2}}},
       {{"strides", List{2, 3}}, {"pads", List{1, 0, 1, 1}}, {"output_padding", List{1, 0}}}},
      {"ConvTranspose", {{{1, 4, 5}}, {{4, 1, 3}}}, {{"group", int64_t(2)}, {"dilations", List{2}}}},
      {"ConvTranspose",
       {{{1, 2, 4, 4}}, {{2, 3, 3, 3}}},
       {{"strides", List{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 3}}}, {{"strides", List{3}}, {"output_shape", List{10}}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 1}}}, {{"strides", List{2}}}},
      // By phases, where the weights are constants and the stride divides the result.
      {"ConvTranspose", {{{2, 3, 4, 5}}, weights({3, 2, 2, 2}), {{2}}}, {{"strides", List{2, 2}}}},
      {"ConvTranspose", {{{1, 3, 4, 5}}, weights({3, 2, 4, 4})}, {{"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}}},
      {"ConvTranspose",
       {{{1, 3, 4, 5}}, weights({3, 2, 3, 3})},
       {{"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}, {"output_padding", List{1, 1}}}},
      {"ConvTranspose", {{{1, 2, 4, 3}}, weights({2, 3, 1, 5})}, {{"strides", List{1, 3}}, {"pads", List{0, 2, 0, 0}}}},
      {"ConvTranspose", {{{1, 2, 4}}, weights({2, 3, 2})}, {{"strides", List{4}}, {"output_padding", List{2}}}},
      {"ConvTranspose", {{{1, 2, 4}}, weights({2, 3, 7})}, {{"strides", List{2}}, {"pads", List{6, 5}}}},
      {"ConvTranspose", {{{1, 2, 4}}, weights({2, 3, 2})}, {{"strides", List{2}}, {"pads", List{2, 2}}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 1}}}, {{"strides", List{3}}, {"pads", List{1, 2}}}},
      // Half of the phases look at other elements than the other half: in both dimensions, in one, in an even number of
      // phases, and where the outermost tap is of one half alone.
      {"ConvTranspose",
       {{{2, 3, 4, 5}}, weights({3, 2, 4, 4}), {{2}}},
       {{"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}}},
      {"ConvTranspose", {{{1, 3, 4, 5}}, weights({3, 2, 4, 2})}, {{"strides", List{2, 2}}, {"pads", List{1, 0, 1, 0}}}},
      {"ConvTranspose", {{{1, 3, 4, 5}}, weights({3, 2, 3, 4})}, {{"strides", List{1, 2}}, {"pads", List{1, 1, 1, 1}}}},
      {"ConvTranspose", {{{1, 2, 6}}, weights({2, 3, 16})}, {{"strides", List{8}}, {"pads", List{4, 4}}}},
      {"ConvTranspose", {{{1, 2, 6}}, weights({2, 3, 6})}, {{"strides", List{4}}, {"pads", List{1, 1}}}},
  };
}

/// By phases: weights that are computed, and groups of channels.
std::vector<Case> transposedByPhases() {
  int64_t two = 2;
  std::string upper = "SAME_UPPER", lower = "SAME_LOWER", valid = "VALID";
  return {
      // Computed weights, which are the cases of constant ones above.
      {"ConvTranspose", {{{2, 3, 4, 5}}, {{3, 2, 2, 2}}, {{2}}}, {{"strides", List{2, 2}}}},
      {"ConvTranspose", {{{2, 3, 4, 5}}, {{3, 2, 4, 4}}, {{2}}}, {{"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}}},
      {"ConvTranspose", {{{1, 2, 4, 3}}, {{2, 3, 1, 5}}}, {{"strides", List{1, 3}}, {"pads", List{0, 2, 0, 0}}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 2}}}, {{"strides", List{4}}, {"output_padding", List{2}}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 7}}}, {{"strides", List{2}}, {"pads", List{6, 5}}}},
      {"ConvTranspose", {{{1, 2, 6}}, {{2, 3, 16}}}, {{"strides", List{8}}, {"pads", List{4, 4}}}},
      {"ConvTranspose", {{{1, 2, 6}}, {{2, 3, 6}}}, {{"strides", List{4}}, {"pads", List{1, 1}}}},
      {"ConvTranspose", {{{1, 2, 3, 4, 2}}, {{2, 3, 3, 2, 5}}}, {{"strides", List{2, 3, 2}}}},
      {"ConvTranspose", {{{1, 2, 4, 4}}, {{2, 3, 3, 3}}}, {{"strides", List{2, 2}}, {"auto_pad", upper}}},
      {"ConvTranspose", {{{1, 2, 4, 4}}, {{2, 3, 5, 3}}}, {{"strides", List{3, 2}}, {"auto_pad", lower}}},
      {"ConvTranspose", {{{1, 2, 4, 4}}, {{2, 3, 3, 1}}}, {{"strides", List{2, 2}}, {"auto_pad", valid}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 3}}}, {{"strides", List{2}}, {"output_shape", List{7}}}},
      // Groups, of computed weights and of constant ones.
      {"ConvTranspose", {{{1, 6, 4, 5}}, {{6, 2, 3, 3}}, {{4}}}, {{"strides", List{2, 2}}, {"group", two}}},
      {"ConvTranspose", {{{1, 6, 4, 5}}, weights({6, 2, 3, 3}), {{4}}}, {{"strides", List{2, 2}}, {"group", two}}},
      {"ConvTranspose",
       {{{2, 6, 4, 3}}, {{6, 3, 4, 4}}},
       {{"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}, {"group", int64_t(3)}}},
      {"ConvTranspose",
       {{{2, 6, 4, 3}}, weights({6, 3, 4, 2})},
       {{"strides", List{2, 2}}, {"pads", List{1, 0, 1, 0}}, {"group", int64_t(3)}}},
      {"ConvTranspose", {{{1, 4, 5}}, {{4, 3, 1}}}, {{"strides", List{3}}, {"group", two}}},
      {"ConvTranspose", {{{1, 4, 5}}, {{4, 1, 2}}}, {{"strides", List{2}}, {"pads", List{2, 2}}, {"group", two}}},
      {"ConvTranspose", {{{1, 4, 2, 3, 2}}, {{4, 2, 2, 3, 1}}}, {{"strides", List{2, 2, 2}}, {"group", two}}},
      {"ConvTranspose",
       {{{1, 4, 4, 4}}, {{4, 2, 3, 5}}},
       {{"strides", List{2, 3}}, {"auto_pad", upper}, {"group", two}}},
      // A group for each channel: of few phases with zeros, of many as sums, cropped or not.
      {"ConvTranspose", {{{1, 3, 4, 4}}, {{3, 1, 4, 4}}}, {{"strides", List{2, 2}}, {"group", int64_t(3)}}},
      {"ConvTranspose",
       {{{2, 3, 3, 2}}, {{3, 1, 8, 8}}, {{3}}},
       {{"strides", List{4, 4}}, {"pads", List{2, 2, 2, 2}}, {"group", int64_t(3)}}},
      {"ConvTranspose", {{{1, 3, 3, 2}}, weights({3, 2, 5, 4})}, {{"strides", List{8, 8}}, {"group", int64_t(3)}}},
      {"ConvTranspose", {{{1, 3, 3, 2}}, {{3, 2, 4, 4}}}, {{"strides", List{4, 4}}, {"group", int64_t(3)}}},
  };
}

/// Groups that are images, each of which has weights of its own, and images that are planes.
std::vector<Case> ofImagesInGroups() {
  std::pair<std::string, AttributeValue> two{"group", int64_t(2)}, three{"group", int64_t(3)};
  auto four = [](const char *name, int64_t value) {
    return std::pair<std::string, AttributeValue>(name, List(4, value));
  };
  std::pair<std::string, AttributeValue> steps{"strides", List{2, 2}};
  Input x = reshaped({3, 4, 6, 5}, {1, 12, 6, 5}), pair = reshaped({2, 3, 4, 5}, {1, 6, 4, 5});
  return {
      {"Conv", {x, {{6, 4, 3, 3}}}, {three, four("pads", 1)}},
      {"Conv", {x, {{6, 4, 3, 3}}, {{6}}}, {three, steps}},
      {"Conv", {x, weights({6, 4, 3, 3}), weights({6})}, {three, {"dilations", List{2, 1}}, four("pads", 2)}},
      {"Conv", {x, {{9, 4, 1, 1}}, {{9}}}, {three}},
      {"Conv", {weights({1, 12, 5, 4}), {{6, 4, 3, 3}}}, {three}},
      {"Conv", {x, {{9, 4, 1, 1}}}, {three, steps}},
      {"Conv", {reshaped({2, 3, 7}, {1, 6, 7}), {{8, 3, 4}}, {{8}}}, {two}},
      {"Conv", {reshaped({2, 3, 1, 2}, {1, 6, 1, 2}), {{8, 3, 3, 3}}}, {two, four("pads", 1)}},
      // Two images, which lie otherwise; an image's channels that are not the groups'; and one channel each.
      {"Conv", {reshaped({6, 2, 4, 4}, {2, 6, 4, 4}), {{6, 2, 3, 3}}}, {three}},
      {"Conv", {reshaped({6, 2, 4, 4}, {1, 12, 4, 4}), {{6, 4, 3, 3}}}, {three}},
      {"Conv", {reshaped({3, 1, 4, 4}, {1, 3, 4, 4}), {{6, 1, 3, 3}}}, {three}},
      // One filter for the planes of images; of other images; with taps that only meet padding; and two filters.
      {"Conv", {reshaped({2, 3, 6, 5}, {6, 1, 6, 5}), {{1, 1, 4, 3}}, {{1}}}, {four("pads", 1)}},
      {"Conv", {reshaped({2, 3, 6, 5}, {6, 1, 6, 5}), weights({1, 1, 3, 3})}, {steps}},
      {"Conv", {reshaped({2, 3, 9}, {6, 1, 9}), {{1, 1, 3}}}, {{"dilations", List{2}}}},
      {"Conv", {reshaped({2, 3, 5, 6}, {6, 1, 6, 5}), {{1, 1, 3, 3}}}},
      {"Conv", {reshaped({2, 3, 1, 2}, {6, 1, 1, 2}), {{1, 1, 3, 3}}}, {four("pads", 1)}},
      {"Conv", {reshaped({2, 3, 6, 5}, {6, 1, 6, 5}), {{2, 1, 3, 3}}, {{2}}}, {four("pads", 1)}},
      {"ConvTranspose", {pair, {{6, 2, 3, 3}}}, {two, steps}},
      {"ConvTranspose", {pair, {{6, 2, 3, 3}}, {{4}}}, {two, steps, {"output_padding", List{1, 1}}, four("pads", 1)}},
      {"ConvTranspose", {pair, weights({6, 2, 4, 4}), {{4}}}, {two, steps, four("pads", 1)}},
      {"ConvTranspose", {pair, {{6, 2, 4, 2}}}, {two, steps, {"pads", List{1, 0, 1, 0}}}},
      {"ConvTranspose", {pair, {{6, 2, 1, 1}}}, {two, steps}},
      {"ConvTranspose", {pair, {{6, 2, 3, 3}}, {{4}}}, {two, {"dilations", List{2, 2}}}},
      {"ConvTranspose", {reshaped({2, 1, 4, 4}, {1, 2, 4, 4}), {{2, 2, 8, 8}}}, {two, {"strides", List{4, 4}}}},
  };
}

struct ImportedConvolutions : ImporterTest {
  /// Computed weights [8, 2, 4, 4] with two groups or, if `depthwise`, as many as channels.
  std::string transposed(bool depthwise, int64_t stride) {
    TinyModel m;
    m.input("x", {"n", 8, 6, 6});
    m.input("w", {8, 2, 4, 4}).output("y");
    onnx::NodeProto *node = m.node("ConvTranspose", {"x", "w"}, {"y"});
    setAttribute(node, "group", int64_t(depthwise ? 8 : 2));
    setAttribute(node, "strides", List{stride, stride});
    return text(m);
  }

  /// The contractions of a 3x3 ConvInteger from `channels` to as many.
  size_t contractionsOfBytes(int channels, int groups) {
    TinyModel m;
    m.input("x", {1, channels, 8, 8}, DType::U8);
    m.input("w", {channels, channels / groups, 3, 3}, DType::I8).output("y");
    setAttribute(m.node("ConvInteger", {"x", "w"}, {"y"}), "group", int64_t(groups));
    return count(text(m), "graph.contract ");
  }

  /// The reductions of a MaxPool of `size` x `size`.
  size_t reductionsOfPooling(int64_t size) {
    TinyModel m;
    m.input("x", {1, 2, 20, 20}).output("y");
    setAttribute(m.node("MaxPool", {"x"}, {"y"}), "kernel_shape", std::vector<int64_t>{size, size});
    return count(text(m), "graph.reduce ");
  }
};

TEST_F(ImportedConvolutions, OfBytesAreReductionsIfEachChannelIsAGroup) {
  EXPECT_EQ(contractionsOfBytes(8, 8), 0u);
  EXPECT_EQ(contractionsOfBytes(8, 4), 1u);
}

TEST_F(ImportedConvolutions, GroupsThatAreImagesAreNoDimensionOfTheirOwn) {
  TinyModel m;
  m.input("x", {4, 8, 6, 6}).input("w", {12, 8, 3, 3}).output("y");
  for (auto [name, size] : {std::pair("one", 1), std::pair("four", 4)}) {
    onnx::TensorProto *sizes = m.initializer(name, {4}, DType::I64);
    for (int64_t dim : {size, -1, 6, 6})
      sizes->add_int64_data(dim);
  }
  m.node("Reshape", {"x", "one"}, {"channels"});
  onnx::NodeProto *node = m.node("Conv", {"channels", "w"}, {"z"});
  setAttribute(node, "group", int64_t(4)), setAttribute(node, "pads", List(4, 1));
  m.node("Reshape", {"z", "four"}, {"y"});
  std::string graph = text(m);
  EXPECT_EQ(count(graph, "tensor<4x6x6x8xf32> -> tensor<4x6x6x3x3x8xf32>"), 1u);
  EXPECT_EQ(count(graph, "-> tensor<4x6x6x3xf32>"), 1u);
}

TEST_F(ImportedConvolutions, TransposedHaveNoZerosInTheImage) {
  std::string groups = transposed(false, 2);
  EXPECT_EQ(count(groups, "graph.contract "), 1u);
  EXPECT_EQ(count(groups, "graph.pad "), 1u); // a weight that phases have which lack one
  EXPECT_EQ(count(groups, "graph.gather "), 1u);
}

TEST_F(ImportedConvolutions, TransposedSumsOfFewPhasesHaveZeros) {
  EXPECT_EQ(count(transposed(true, 2), "graph.gather "), 0u);
  EXPECT_EQ(count(transposed(true, 2), "graph.pad "), 2u);
  EXPECT_EQ(count(transposed(true, 4), "graph.gather "), 1u);
  EXPECT_EQ(count(transposed(true, 4), "graph.contract "), 0u);
}

TEST_F(ImportedConvolutions, PoolingsOfManyElementsReduceOneDimensionAfterTheOther) {
  EXPECT_EQ(reductionsOfPooling(3), 1u);
  EXPECT_EQ(reductionsOfPooling(4), 2u);
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Convolutions, HandlersTest, testing::ValuesIn(convolutions()), caseName);
INSTANTIATE_TEST_SUITE_P(TransposedConvolutions, HandlersTest, testing::ValuesIn(transposedConvolutions()), caseName);
INSTANTIATE_TEST_SUITE_P(ImagesInGroups, HandlersTest, testing::ValuesIn(ofImagesInGroups()), caseName);
INSTANTIATE_TEST_SUITE_P(TransposedByPhases, HandlersTest, testing::ValuesIn(transposedByPhases()), caseName);

} // namespace tilewright::test
