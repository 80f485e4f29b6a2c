// SPDX-License-Identifier: Apache-2.0
// Replaces strings by ranks; formats and parses numbers.
#include "runtime/reference/StringNumbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tilewright::reference {

std::vector<Tensor> runOnRanks(Kernel kernel, const ReferenceCall &node, std::span<const Tensor> inputs,
                               size_t stringOutputs) {
  std::vector<std::string> strings = {""};
  auto isString = [](const Tensor &tensor) { return tensor.defined() && tensor.type() == DType::String; };
  for (const Tensor &input : inputs)
    if (isString(input))
      strings.insert(strings.end(), input.data<std::string>(), input.data<std::string>() + input.count());
  std::ranges::sort(strings);
  strings.erase(std::ranges::unique(strings).begin(), strings.end());

  std::vector<Tensor> numbered(inputs.begin(), inputs.end());
  for (Tensor &input : numbered) {
    if (!isString(input))
      continue;
    std::vector<int64_t> ranks;
    for (int64_t i = 0; i < input.count(); ++i)
      ranks.push_back(std::ranges::lower_bound(strings, input.data<std::string>()[i]) - strings.begin());
    input = store(DType::I64, input.shape(), ranks);
  }
  Call call(node, numbered);
  kernel(call);
  std::vector<Tensor> outputs = call.takeOutputs();
  for (size_t i = 0; i < std::min(stringOutputs, outputs.size()); ++i) {
    Tensor named = allocate(DType::String, outputs[i].shape());
    for (int64_t j = 0; j < named.count(); ++j)
      named.data<std::string>()[j] = strings.at(static_cast<size_t>(outputs[i].data<int64_t>()[j]));
    outputs[i] = std::move(named);
  }
  return outputs;
}

static std::string written(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "INF" : "-INF";
  return fmt::format("{:.8g}", value);
}
static std::string written(int64_t value) { return std::to_string(value); }
static std::string written(uint64_t value) { return std::to_string(value); }

template <typename T> static T parsed(const std::string &text) {
  char *end = nullptr;
  T value{};
  if constexpr (std::is_same_v<T, double>)
    value = std::strtod(text.c_str(), &end);
  else if constexpr (std::is_same_v<T, int64_t>)
    value = std::strtoll(text.c_str(), &end, 10);
  else
    value = std::strtoull(text.c_str(), &end, 10);
  require(end != text.c_str(), "expected a number, found the string '{}'", text.substr(0, 40));
  return value;
}

Tensor convertStrings(const Tensor &tensor, DType type) {
  bool from = tensor.type() == DType::String, to = type == DType::String;
  if (from == to)
    return convert(tensor, type);
  if (to) {
    Tensor result = allocate(type, tensor.shape());
    dispatch(tensor.type(), [&](auto zero) {
      Values<decltype(zero)> values(tensor);
      std::ranges::transform(values, result.data<std::string>(), [](auto value) { return written(value); });
    });
    return result;
  }
  return dispatch(type, [&](auto zero) {
    std::vector<decltype(zero)> values;
    for (int64_t i = 0; i < tensor.count(); ++i)
      values.push_back(parsed<decltype(zero)>(tensor.data<std::string>()[i]));
    return store(type, tensor.shape(), values);
  });
}

} // namespace tilewright::reference
