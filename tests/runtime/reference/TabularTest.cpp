// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml: small cases whose results can be followed by hand. tests/oracle/contrib.py compares many more with ONNX
// Runtime.
#include "tests/runtime/reference/Evaluate.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::test;

using Ints = std::vector<int64_t>;
using Reals = std::vector<float>;
using Texts = std::vector<std::string>;

static Node tabular(std::string_view op, Attributes attributes, size_t outputs = 1, int64_t version = 3) {
  return {op, version, std::move(attributes), outputs, "ai.onnx.ml"};
}

/// x[0] <= 0.5 ? leaf 1 : leaf 2, with one vote for each leaf.
static Attributes stump(std::string kind, Ints ids, Reals weights) {
  return {{"nodes_treeids", Ints{0, 0, 0}},
          {"nodes_nodeids", Ints{0, 1, 2}},
          {"nodes_featureids", Ints{0, 0, 0}},
          {"nodes_values", Reals{0.5f, 0, 0}},
          {"nodes_truenodeids", Ints{1, 0, 0}},
          {"nodes_falsenodeids", Ints{2, 0, 0}},
          {"nodes_modes", Texts{"BRANCH_LEQ", "LEAF", "LEAF"}},
          {kind + "_treeids", Ints{0, 0}},
          {kind + "_nodeids", Ints{1, 2}},
          {kind + "_ids", std::move(ids)},
          {kind + "_weights", std::move(weights)}};
}

TEST(ReferenceTabular, TreesRegress) {
  Tensor x = floats({3, 1}, {0, 1, NAN});
  Attributes attributes = stump("target", {0, 0}, {10, 20});
  expectOutputs(tabular("TreeEnsembleRegressor", attributes), {x}, {floats({3, 1}, {10, 20, 20})});
  attributes["nodes_missing_value_tracks_true"] = Ints{1, 0, 0};
  attributes["base_values"] = Reals{1};
  expectOutputs(tabular("TreeEnsembleRegressor", attributes), {x}, {floats({3, 1}, {11, 21, 11})});
  attributes["nodes_truenodeids"] = Ints{0, 0, 0};
  expectMalformed(tabular("TreeEnsembleRegressor", attributes), {x}, "goes round in a circle");
  attributes["nodes_truenodeids"] = Ints{7, 0, 0};
  expectMalformed(tabular("TreeEnsembleRegressor", attributes), {x}, "tree 0 has no node 7");
  attributes = stump("target", {0, 0}, {10, 20});
  attributes["nodes_featureids"] = Ints{1, 0, 0};
  expectMalformed(tabular("TreeEnsembleRegressor", attributes), {x}, "expected features below 1, found 1");
}

/// Rows and trees are walked several at a time if all nodes compare alike, and else one by one.
TEST(ReferenceTabular, TreesTakeManyRows) {
  using Compare = bool (*)(double, double);
  const std::pair<std::string, Compare> comparisons[] = {{"BRANCH_LEQ", [](double a, double b) { return a <= b; }},
                                                         {"BRANCH_LT", [](double a, double b) { return a < b; }},
                                                         {"BRANCH_GTE", [](double a, double b) { return a >= b; }},
                                                         {"BRANCH_GT", [](double a, double b) { return a > b; }},
                                                         {"BRANCH_EQ", [](double a, double b) { return a == b; }}};
  for (const auto &[first, compareFirst] : comparisons)
    for (const auto &[second, compareSecond] : comparisons) {
      Attributes attributes{{"nodes_treeids", Ints{0, 0, 0, 1, 1, 1}},
                            {"nodes_nodeids", Ints{0, 1, 2, 0, 1, 2}},
                            {"nodes_featureids", Ints{0, 0, 0, 0, 0, 0}},
                            {"nodes_values", Reals{3, 0, 0, 40, 0, 0}},
                            {"nodes_truenodeids", Ints{1, 0, 0, 1, 0, 0}},
                            {"nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 0}},
                            {"nodes_modes", Texts{first, "LEAF", "LEAF", second, "LEAF", "LEAF"}},
                            {"target_treeids", Ints{0, 0, 1, 1}},
                            {"target_nodeids", Ints{1, 2, 1, 2}},
                            {"target_ids", Ints{0, 0, 0, 0}},
                            {"target_weights", Reals{1, 2, 10, 20}}};
      Tensor expected = Tensor::allocate(DType::F32, {70, 1});
      for (int i = 0; i < 70; ++i)
        reinterpret_cast<float *>(expected.bytes())[i] =
            (compareFirst(i, 3) ? 1 : 2) + (compareSecond(i, 40) ? 10 : 20);
      expectOutputs(tabular("TreeEnsembleRegressor", attributes), {counting({70, 1})}, {expected});
    }
}

TEST(ReferenceTabular, TreesClassify) {
  Tensor x = floats({2, 1}, {0, 1});
  Attributes one = stump("class", {0, 0}, {0.25f, 0.75f});
  one["classlabels_int64s"] = Ints{5, 7};
  expectOutputs(tabular("TreeEnsembleClassifier", one, 2), {x},
                {indices({5, 7}), floats({2, 2}, {0.75, 0.25, 0.25, 0.75})});
  Attributes three = stump("class", {0, 2}, {1, 2});
  three["classlabels_int64s"] = Ints{5, 6, 7};
  expectOutputs(tabular("TreeEnsembleClassifier", three, 2), {x},
                {indices({5, 7}), floats({2, 3}, {1, 0, 0, 0, 0, 2})});
  Attributes byIndex{
      {"tree_roots", Ints{0}},         {"nodes_featureids", Ints{0}},    {"nodes_truenodeids", Ints{0}},
      {"nodes_falsenodeids", Ints{1}}, {"nodes_trueleafs", Ints{1}},     {"nodes_falseleafs", Ints{1}},
      {"leaf_targetids", Ints{0, 0}},  {"n_targets", int64_t(1)},        {"nodes_modes", tensor(DType::U8, {1}, {6})},
      {"nodes_splits", vector({0})},   {"leaf_weights", vector({3, 4})}, {"membership_values", vector({1, 2, NAN})}};
  expectOutputs(tabular("TreeEnsemble", byIndex, 1, 5), {x}, {floats({2, 1}, {4, 3})});
}

TEST(ReferenceTabular, LinearModels) {
  Tensor x = floats({2, 2}, {1, 2, 3, -4});
  expectOutputs(tabular("LinearRegressor", {{"coefficients", Reals{1, 1}}, {"intercepts", Reals{10}}}), {x},
                {floats({2, 1}, {13, 9})});
  Attributes classes{
      {"coefficients", Reals{1, 0, 0, 1}}, {"intercepts", Reals{0, 0}}, {"classlabels_ints", Ints{4, 9}}};
  expectOutputs(tabular("LinearClassifier", classes, 2), {x}, {indices({9, 4}), x});
  classes["post_transform"] = "LOGISTIC";
  double high = 1 / (1 + std::exp(-1.0));
  expectOutputs(tabular("LinearClassifier", classes, 2), {floats({1, 2}, {0, 1})},
                {indices({9}), floats({1, 2}, {0.5, high})});
  expectMalformed(tabular("LinearRegressor", {{"coefficients", Reals{1}}}), {x}, "expected 2 coefficients");
  Attributes machine{
      {"coefficients", Reals{2}}, {"support_vectors", Reals{1, 1}}, {"n_supports", int64_t(1)}, {"rho", Reals{0.5f}}};
  expectOutputs(tabular("SVMRegressor", machine), {x}, {floats({2, 1}, {6.5, -1.5})});
  Attributes distances{{"kernel_type", "RBF"},         {"kernel_params", Reals{0.5, 0, 0}},
                       {"coefficients", Reals{2, -1}}, {"support_vectors", Reals{0, 0, 1, 2}},
                       {"n_supports", int64_t{2}},     {"rho", Reals{0.25}}};
  expectOutputs(tabular("SVMRegressor", distances), {floats({2, 2}, {1, 0, 1, 2})},
                {floats({2, 1}, {2 * std::exp(-0.5) - std::exp(-2.0) + 0.25, 2 * std::exp(-2.5) - 1 + 0.25})});
  Attributes pair{{"coefficients", Reals{1, -1}},
                  {"support_vectors", Reals{1, 0, 0, 1}},
                  {"vectors_per_class", Ints{1, 1}},
                  {"rho", Reals{0}},
                  {"classlabels_ints", Ints{4, 9}}};
  expectOutputs(tabular("SVMClassifier", pair, 2), {x}, {indices({9, 4}), floats({2, 2}, {1, -1, -7, 7})});
}

TEST(ReferenceTabular, Features) {
  Tensor x = floats({1, 2}, {3, -4});
  expectOutputs(tabular("Scaler", {{"offset", Reals{1}}, {"scale", Reals{2, 3}}}), {x}, {floats({1, 2}, {4, -15})});
  expectOutputs(tabular("Normalizer", {{"norm", "L2"}}), {x}, {floats({1, 2}, {0.6, -0.8})});
  expectOutputs(tabular("Imputer", {{"imputed_value_floats", Reals{9}}, {"replaced_value_float", -4.0f}}), {x},
                {floats({1, 2}, {3, 9})});
  expectOutputs(tabular("Binarizer", {{"threshold", 0.0f}}), {x}, {floats({1, 2}, {1, 0})});
  expectOutputs(
      tabular("LabelEncoder", {{"keys_floats", Reals{3}}, {"values_int64s", Ints{8}}, {"default_int64", int64_t(-2)}}),
      {x}, {ints({1, 2}, {8, -2})});
  expectOutputs(tabular("OneHotEncoder", {{"cats_int64s", Ints{1, 3}}}), {x}, {floats({1, 2, 2}, {0, 1, 0, 0})});
  expectMalformed(tabular("OneHotEncoder", {{"cats_int64s", Ints{1, 3}}, {"zeros", int64_t(0)}}), {x},
                  "element 1 is none of the 2 categories");
  expectOutputs(tabular("FeatureVectorizer", {{"inputdimensions", Ints{2, 1}}}), {x, floats({1, 1}, {5})},
                {floats({1, 3}, {3, -4, 5})});
  expectOutputs(tabular("ArrayFeatureExtractor", {}), {x, indices({1})}, {floats({1, 1}, {-4})});
}

//===- Strings ----------------------------------------------------------------------------------------------------===//

static Tensor strings(Shape shape, const Texts &texts) {
  Tensor tensor = Tensor::allocate(DType::String, std::move(shape));
  std::ranges::copy(texts, tensor.data<std::string>());
  return tensor;
}

/// The one output of a node, which must be strings.
static Texts textsOf(const Node &node, std::vector<Tensor> inputs) {
  Expected<std::vector<Tensor>> outputs = node(std::move(inputs));
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  if (!outputs.ok() || outputs->front().type() != DType::String)
    return {"no strings"};
  const auto *first = outputs->front().data<std::string>();
  return {first, first + outputs->front().count()};
}

TEST(ReferenceTabular, LabelEncoderTranslatesStrings) {
  Tensor words = strings({3}, {"b", "?", "a"});
  Node classes = tabular("LabelEncoder", {{"classes_strings", Texts{"a", "b"}}, {"default_string", "none"}}, 1, 1);
  expectOutputs(classes, {words}, {indices({1, -1, 0})});
  EXPECT_EQ(textsOf(classes, {indices({0, 5, 1})}), (Texts{"a", "none", "b"}));
  expectOutputs(tabular("LabelEncoder", {{"keys_strings", Texts{"a", "b"}}, {"values_floats", Reals{1, 2}}}), {words},
                {vector({2, -0.0, 1})});
  EXPECT_EQ(textsOf(tabular("LabelEncoder", {{"keys_strings", Texts{"a", "b"}}, {"values_strings", Texts{"A", "B"}}}),
                    {words}),
            (Texts{"B", "_Unused", "A"}));
  Attributes tensors{{"keys_tensor", strings({2}, {"a", "b"})},
                     {"values_tensor", tensor(DType::I16, {2}, {4, 5})},
                     {"default_tensor", tensor(DType::I16, {1}, {42})}};
  expectOutputs(tabular("LabelEncoder", tensors, 1, 4), {words}, {tensor(DType::I16, {3}, {5, 42, 4})});
  expectMalformed(tabular("LabelEncoder", {{"keys_strings", Texts{"a"}}, {"values_int64s", Ints{1}}}), {indices({1})},
                  "expected strings like the keys, found int64");
}

TEST(ReferenceTabular, CategoriesAreStringsToo) {
  Tensor words = strings({3}, {"b", "?", "a"});
  Attributes both{{"cats_strings", Texts{"a", "b"}}, {"cats_int64s", Ints{10, 20}}};
  expectOutputs(tabular("CategoryMapper", both, 1, 1), {words}, {indices({20, -1, 10})});
  EXPECT_EQ(textsOf(tabular("CategoryMapper", both, 1, 1), {indices({20, 7})}), (Texts{"b", "_Unused"}));
  expectOutputs(tabular("OneHotEncoder", {{"cats_strings", Texts{"a", "b"}}}), {words},
                {floats({3, 2}, {0, 1, 0, 0, 1, 0})});
  EXPECT_EQ(textsOf(tabular("ArrayFeatureExtractor", {}), {strings({2}, {"A", "B"}), indices({1, 0, 1})}),
            (Texts{"B", "A", "B"}));
  Attributes grams{{"mode", "TF"},
                   {"min_gram_length", int64_t(1)},
                   {"max_gram_length", int64_t(2)},
                   {"ngram_counts", Ints{0, 2}},
                   {"ngram_indexes", Ints{0, 1, 2}},
                   {"pool_strings", Texts{"a", "b", "a", "b"}}};
  expectOutputs({"TfIdfVectorizer", 9, grams}, {strings({4}, {"a", "b", "?", "b"})}, {vector({1, 2, 1})});
}

TEST(ReferenceTabular, ClassifiersGiveStrings) {
  Tensor x = floats({2, 1}, {0, 1});
  Attributes trees = stump("class", {0, 0}, {0.25f, 0.75f});
  trees["classlabels_strings"] = Texts{"no", "yes"};
  EXPECT_EQ(textsOf(tabular("TreeEnsembleClassifier", trees, 2), {x}), (Texts{"no", "yes"}));
  Attributes bothVote = stump("class", {0, 1}, {1, 2}); // both scores are positive, as ONNX Runtime adds them up
  bothVote["classlabels_strings"] = Texts{"no", "yes"};
  EXPECT_EQ(textsOf(tabular("TreeEnsembleClassifier", bothVote, 2), {x}), (Texts{"yes", "yes"}));
  Attributes linear{{"coefficients", Reals{2}}, {"intercepts", Reals{-1}}, {"classlabels_strings", Texts{"no", "yes"}}};
  EXPECT_EQ(textsOf(tabular("LinearClassifier", linear, 2), {x}), (Texts{"no", "yes"}));
}

TEST(ReferenceTabular, MapsOfScores) {
  Node zip = tabular("ZipMap", {{"classlabels_strings", Texts{"a", "b"}}}, 1, 1);
  Expected<std::vector<Tensor>> rows = zip({floats({2, 2}, {1, 2, 3, 4})});
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  ASSERT_EQ(rows->front().type(), DType::Sequence);
  ASSERT_EQ(rows->front().count(), 2);
  const Tensor &second = rows->front().data<Tensor>()[1];
  ASSERT_EQ(second.type(), DType::Map);
  EXPECT_EQ(second.data<Tensor>()[0].data<std::string>()[1], "b");
  expectTensor(second.data<Tensor>()[1], vector({3, 4}));
  expectOutputs(tabular("DictVectorizer", {{"string_vocabulary", Texts{"b", "?", "a"}}}, 1, 1), {second},
                {floats({1, 3}, {4, 0, 3})});
  expectMalformed(zip, {floats({1, 3}, {1, 2, 3})}, "expected a score for each of 2 labels, found 3");
}
