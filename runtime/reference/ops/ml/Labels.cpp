// SPDX-License-Identifier: Apache-2.0
// Finds elements in lists of labels.
#include "runtime/reference/ops/ml/Labels.h"

#include <cmath>
#include <unordered_map>

namespace tilewright::reference {

Tensor stringTensor(const std::vector<std::string> &strings) {
  Tensor tensor = allocate(DType::String, {static_cast<int64_t>(strings.size())});
  std::ranges::copy(strings, tensor.data<std::string>());
  return tensor;
}

Labels Labels::either(Call &call, std::string_view integers, std::string_view strings) {
  if (auto texts = call.texts(strings); texts && !texts->empty())
    return Labels(stringTensor(*texts));
  auto list = call.integers(integers).value_or(std::vector<int64_t>());
  return Labels(store(DType::I64, {static_cast<int64_t>(list.size())}, list));
}

/// Positions by elements of type T, read by `element(tensor, i)`. NaN, which equals nothing, has a place of its own.
template <typename T, typename Element>
static std::vector<int64_t> find(const Tensor &entries, const Tensor &x, Element element) {
  std::unordered_map<T, int64_t> places;
  int64_t placeOfNaN = -1;
  auto isNaN = [](const T &value) {
    if constexpr (std::is_floating_point_v<T>)
      return std::isnan(value);
    return false;
  };
  auto keys = element(entries), values = element(x);
  for (int64_t i = 0; i < entries.count(); ++i)
    (isNaN(keys[i]) ? placeOfNaN : places[keys[i]]) = i;
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x.count(); ++i) {
    auto place = isNaN(values[i]) ? places.end() : places.find(values[i]);
    found.push_back(isNaN(values[i]) ? placeOfNaN : place == places.end() ? -1 : place->second);
  }
  return found;
}

std::vector<int64_t> Labels::positions(const Tensor &x) const {
  bool strings = type() == DType::String;
  require(strings == (x.type() == DType::String), "expected {} like the keys, found {}",
          strings ? "strings" : "numbers", name(x.type()));
  if (strings)
    return find<std::string>(entries, x, [](const Tensor &tensor) { return tensor.data<std::string>(); });
  if (isFloat(type()) || isFloat(x.type()))
    return find<double>(entries, x, [](const Tensor &tensor) { return Values<double>(tensor); });
  return find<int64_t>(entries, x, [](const Tensor &tensor) { return Values<int64_t>(tensor); });
}

Tensor Labels::at(const std::vector<int64_t> &positions, const Shape &shape, const Tensor &otherwise) const {
  if (type() == DType::String) {
    Tensor result = allocate(type(), shape);
    for (size_t i = 0; i < positions.size(); ++i)
      result.data<std::string>()[i] =
          (positions[i] < 0 ? otherwise : entries).data<std::string>()[std::max<int64_t>(0, positions[i])];
    return result;
  }
  return dispatch(type(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> from(entries);
    T missing = otherwise.defined() ? Values<T>(otherwise)[0] : T();
    std::vector<T> result;
    for (int64_t position : positions)
      result.push_back(position < 0 ? missing : from[position]);
    return store(type(), shape, result);
  });
}

} // namespace tilewright::reference
