// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml: operators that prepare features.
#include "runtime/reference/Compose.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

/// Entry i of a list with one number for all features, or one for each.
static double featureAt(const std::vector<float> &list, int64_t i, int64_t features) {
  return list.size() == 1 ? list[0] : list[i % features];
}

static int64_t lastSize(const Tensor &x) { return x.rank() == 0 ? 1 : x.shape().back(); }

/// (x - offset) * scale. The difference is rounded to float32 as in ONNX Runtime: a tree behind it may compare with
/// thresholds that are equal to data.
void scaler(Call &call) {
  const Tensor &x = call.input(0);
  std::vector<float> scale = call.reals("scale").value_or(std::vector<float>{1}),
                     offset = call.reals("offset").value_or(std::vector<float>{0});
  int64_t features = lastSize(x);
  auto fits = [&](const std::vector<float> &list) {
    return list.size() == 1 || static_cast<int64_t>(list.size()) == features;
  };
  require(fits(scale) && fits(offset), "expected one scale and offset or {}, found {} and {}", features, scale.size(),
          offset.size());
  Values<double> values(x);
  std::vector<double> result(values.begin(), values.end());
  for (int64_t i = 0; i < values.size(); ++i)
    result[i] = static_cast<float>(values[i] - featureAt(offset, i, features)) * featureAt(scale, i, features);
  call.give(0, DType::F32, x.shape(), result);
}

/// Each row divided by its largest element, the sum of its absolute values, or its length.
void normalizer(Call &call) {
  const Tensor &x = call.input(0);
  std::string norm = call.text("norm", "MAX");
  require(norm == "MAX" || norm == "L1" || norm == "L2", "expected norm to be MAX, L1 or L2, found '{}'", norm);
  Values<double> values(x);
  std::vector<double> result(values.begin(), values.end());
  int64_t size = lastSize(x);
  for (int64_t first = 0; size > 0 && first < values.size(); first += size) {
    std::span<double> row(result.data() + first, static_cast<size_t>(size));
    double sum = norm == "MAX" ? -HUGE_VAL : 0;
    for (double value : row)
      sum = norm == "MAX" ? std::max(sum, value) : sum + (norm == "L1" ? std::abs(value) : value * value);
    double divisor = norm == "L2" ? std::sqrt(sum) : sum;
    for (double &value : row)
      value = divisor == 0 ? value : value / divisor;
  }
  call.give(0, DType::F32, x.shape(), result);
}

void imputer(Call &call) {
  const Tensor &x = call.input(0);
  bool floats = isFloat(x.type());
  std::vector<double> imputed;
  if (floats)
    std::ranges::copy(call.reals("imputed_value_floats").value_or(std::vector<float>()), std::back_inserter(imputed));
  else
    std::ranges::copy(call.integers("imputed_value_int64s").value_or(std::vector<int64_t>()),
                      std::back_inserter(imputed));
  double replaced =
      floats ? call.real("replaced_value_float", 0) : static_cast<double>(call.integer("replaced_value_int64", 0));
  int64_t features = lastSize(x);
  require(imputed.size() == 1 || (!imputed.empty() && static_cast<int64_t>(imputed.size()) == features),
          "expected one imputed value or {}, found {}", features, imputed.size());
  Values<double> values(x);
  std::vector<double> result(values.begin(), values.end());
  for (int64_t i = 0; i < values.size(); ++i)
    if (values[i] == replaced || (std::isnan(values[i]) && std::isnan(replaced)))
      result[i] = imputed[imputed.size() == 1 ? 0 : i % features];
  call.give(0, x.type(), x.shape(), result);
}

void binarizer(Call &call) {
  const Tensor &x = call.input(0);
  Values<double> values(x);
  std::vector<double> result;
  for (double value : values)
    result.push_back(value > call.real("threshold", 0));
  call.give(0, x.type(), x.shape(), result);
}

//===- Columns ----------------------------------------------------------------------------------------------------===//

/// Concatenates all inputs as columns of floats, `inputdimensions` of each.
void featureVectorizer(Call &call) {
  std::vector<Tensor> parts;
  std::vector<int64_t> sizes = call.integers("inputdimensions").value_or(std::vector<int64_t>());
  for (int64_t i = 0; i < call.inputCount(); ++i) {
    const Tensor &x = call.input(i);
    int64_t rows = x.rank() <= 1 ? 1 : x.shape()[0];
    Tensor flat = convert(x, DType::F32).reshaped({rows, rows ? x.count() / rows : 0});
    int64_t size = i < static_cast<int64_t>(sizes.size()) ? sizes[i] : flat.shape()[1];
    require(size == flat.shape()[1], "expected {} columns in input {}, found {}", size, i, flat.shape()[1]);
    parts.push_back(flat);
  }
  require(!parts.empty(), "expected inputs, found none");
  call.give(0, composed("Concat", parts, {{"axis", int64_t(1)}}));
}

/// Gathers along the last dimension; a vector gives one row.
void arrayFeatureExtractor(Call &call) {
  const Tensor &x = call.input(0), &y = call.input(1);
  require(x.rank() >= 1 && y.count() > 0, "expected columns of a tensor of rank 1 or more, found shapes {} and {}",
          x.shape(), y.shape());
  Tensor picked = composed("Gather", {x, y.reshaped({y.count()})}, {{"axis", x.rank() - 1}});
  call.give(0, x.rank() == 1 ? picked.reshaped({1, y.count()}) : picked);
}

} // namespace tilewright::reference
