// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml: operators that translate labels and categories.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"
#include "runtime/reference/ops/ml/Labels.h"

#include <numeric>

namespace tilewright::reference {

/// The keys or the values of a label encoder, by the prefix of their attributes.
static Labels labelList(Call &call, const std::string &prefix) {
  if (const Tensor *tensor = call.tensor(prefix + "_tensor"))
    return Labels(*tensor);
  if (auto reals = call.reals(prefix + "_floats"))
    return Labels(
        store(DType::F32, {static_cast<int64_t>(reals->size())}, std::vector<double>(reals->begin(), reals->end())));
  return Labels::either(call, prefix + "_int64s", prefix + "_strings");
}

/// What an encoder writes for an element that is none of its keys.
static Tensor missingLabel(Call &call, DType type) {
  if (const Tensor *given = call.tensor("default_tensor"); given && given->count() == 1)
    return type == DType::String ? *given : convert(*given, type);
  if (type == DType::String)
    return stringTensor({call.text("default_string", "_Unused")});
  if (isFloat(type))
    return store(type, {1}, std::vector<double>{call.real("default_float", -0.0)});
  return store(type, {1}, std::vector<int64_t>{call.integer("default_int64", -1)});
}

static void translate(Call &call, const Labels &keys, const Labels &values) {
  const Tensor &x = call.input(0);
  require(keys.size() == values.size(), "expected as many keys as values, found {} and {}", keys.size(), values.size());
  call.give(0, values.at(keys.positions(x), x.shape(), missingLabel(call, values.type())));
}

/// Strings to numbers or numbers to strings, by which of two lists of equal length the elements belong to.
static void translateEitherWay(Call &call, const Labels &numbers, const Labels &strings) {
  bool fromStrings = call.input(0).type() == DType::String;
  translate(call, fromStrings ? strings : numbers, fromStrings ? numbers : strings);
}

/// Maps each element from key to value. Version 1 has strings alone, whose positions are the numbers.
void labelEncoder(Call &call) {
  if (auto classes = call.texts("classes_strings")) {
    std::vector<int64_t> numbers(classes->size());
    std::iota(numbers.begin(), numbers.end(), 0);
    return translateEitherWay(call, Labels(store(DType::I64, {static_cast<int64_t>(numbers.size())}, numbers)),
                              Labels(stringTensor(*classes)));
  }
  translate(call, labelList(call, "keys"), labelList(call, "values"));
}

void categoryMapper(Call &call) {
  translateEitherWay(call, Labels::either(call, "cats_int64s", ""), Labels::either(call, "", "cats_strings"));
}

/// Adds a last dimension with a one at the index of the element's category.
void oneHotEncoder(Call &call) {
  const Tensor &x = call.input(0);
  Labels categories = Labels::either(call, "cats_int64s", "cats_strings");
  require(categories.size() > 0, "expected categories, found none");
  Shape shape = x.shape();
  shape.push_back(categories.size());
  checkSize(DType::F64, shape);
  std::vector<int64_t> places = categories.positions(isFloat(x.type()) ? convert(x, DType::I64) : x);
  std::vector<double> result(product(shape));
  for (size_t i = 0; i < places.size(); ++i) {
    require(places[i] >= 0 || call.integer("zeros", 1), "element {} is none of the {} categories", i,
            categories.size());
    if (places[i] >= 0)
      result[static_cast<int64_t>(i) * categories.size() + places[i]] = 1;
  }
  call.give(0, DType::F32, shape, result);
}

//===- Maps -------------------------------------------------------------------------------------------------------===//

/// A row of scores becomes a map from labels to scores; rows become a sequence of maps.
void zipMap(Call &call) {
  const Tensor &x = call.input(0);
  Labels labels = Labels::either(call, "classlabels_int64s", "classlabels_strings");
  require(x.rank() == 1 || x.rank() == 2, "expected scores of shape [classes] or [rows, classes], found {}", x.shape());
  require(x.shape().back() == labels.size(), "expected a score for each of {} labels, found {}", labels.size(),
          x.shape().back());
  Values<double> scores(x);
  std::vector<Tensor> maps;
  for (int64_t row = 0; row < (x.rank() == 2 ? x.shape()[0] : 1); ++row) {
    const double *first = scores.data() + row * labels.size();
    Tensor values = store(DType::F32, {labels.size()}, std::vector<double>(first, first + labels.size()));
    maps.push_back(Tensor::of(DType::Map, {labels.tensor(), std::move(values)}));
  }
  call.give(0, Tensor::of(DType::Sequence, std::move(maps)));
}

/// The values of a map in the order of a vocabulary; 0, or the empty string, where the map lacks a key. [1, words].
void dictVectorizer(Call &call) {
  const Tensor &map = call.input(0);
  require(map.type() == DType::Map, "expected a map, found {}", name(map.type()));
  const Tensor &keys = map.data<Tensor>()[0], &values = map.data<Tensor>()[1];
  Labels words = Labels::either(call, "int64_vocabulary", "string_vocabulary");
  require((!isObject(values.type()) || values.type() == DType::String) && keys.count() == values.count(),
          "expected a map with one number or string for each key, found {} keys and values of {}", keys.count(),
          name(values.type()));
  Tensor missing = values.type() == DType::String ? stringTensor({""}) : allocate(values.type(), {1});
  call.give(0, Labels(values).at(Labels(keys).positions(words.tensor()), {1, words.size()}, missing));
}

} // namespace tilewright::reference
