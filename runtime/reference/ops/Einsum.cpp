// SPDX-License-Identifier: Apache-2.0
// Einsum, one operand after the other: each step is a batch of matrix products.
//
//     "bij,bjk->bik":   labels of both, needed later   b   batch
//                       of the left only               i   rows        left [b, i, j] x right [b, j, k] = [b, i, k]
//                       of both, not needed later      j   depth
//                       of the right only              k   columns
//
// Labels that occur in one operand only, and not in the output, are summed first.
#include "runtime/reference/Contract.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <map>

namespace tilewright::reference {

// A label is its letter; dimensions of an ellipsis are negative numbers from the back: -1 is the last.
using Labels = std::vector<int>;
using Sizes = std::map<int, int64_t>;

/// The values of an operand, row-major over its labels.
template <typename T> struct Operand {
  Labels labels;
  std::vector<T> values;
};

static bool has(const Labels &labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

static Shape shapeOf(const Labels &labels, const Sizes &sizes) {
  Shape shape;
  for (int label : labels)
    shape.push_back(sizes.at(label));
  return shape;
}

/// The labels of one term; three dots stand for `ellipsis` dimensions.
static Labels parseTerm(std::string_view term, int64_t ellipsis) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term.substr(i, 3) == "...") {
      for (int64_t d = ellipsis; d > 0; --d)
        labels.push_back(static_cast<int>(-d));
      i += 2;
    } else {
      require((term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z'),
              "expected letters and '...' in a term, found '{}'", term);
      labels.push_back(term[i]);
    }
  }
  return labels;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
  Sizes sizes;

  explicit Equation(Call &call) {
    std::string text = call.text("equation", "");
    std::erase(text, ' ');
    size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    int64_t widest = 0;
    for (int64_t k = 0; k < call.inputCount(); ++k) {
      size_t comma = left.find(',');
      require((comma == std::string::npos) == (k + 1 == call.inputCount()), "expected {} terms in '{}'",
              call.inputCount(), text);
      std::string term = left.substr(0, comma);
      left = comma == std::string::npos ? "" : left.substr(comma + 1);
      bool dots = term.find("...") != std::string::npos;
      int64_t ellipsis = dots ? call.input(k).rank() - static_cast<int64_t>(term.size()) + 3 : 0;
      require(ellipsis >= 0, "term '{}' has more letters than shape {} has dimensions", term, call.input(k).shape());
      widest = std::max(widest, ellipsis);
      addInput(parseTerm(term, ellipsis), call.input(k).shape(), term);
    }
    if (arrow != std::string::npos)
      output = parseTerm(text.substr(arrow + 2), widest);
    else
      inferOutput();
    for (size_t i = 0; i < output.size(); ++i)
      require(sizes.contains(output[i]) && std::count(output.begin(), output.end(), output[i]) == 1,
              "expected each output label of '{}' once, and in an input", text);
  }

  void addInput(Labels labels, const Shape &shape, std::string_view term) {
    require(labels.size() == shape.size(), "term '{}' does not have the {} dimensions of shape {}", term, shape.size(),
            shape);
    for (size_t d = 0; d < labels.size(); ++d) {
      auto [known, isNew] = sizes.try_emplace(labels[d], shape[d]);
      require(isNew || known->second == shape[d] || known->second == 1 || shape[d] == 1,
              "a label of term '{}' is of size {} and {}", term, known->second, shape[d]);
      known->second = known->second == 1 ? shape[d] : known->second;
    }
    inputs.push_back(std::move(labels));
  }

  /// The implicit output: the ellipsis, then the labels that occur once, in alphabetical order.
  void inferOutput() {
    for (auto [label, size] : sizes) {
      int64_t count = 0;
      for (const Labels &labels : inputs)
        count += std::count(labels.begin(), labels.end(), label);
      if (label < 0 || count == 1)
        output.push_back(label);
    }
  }
};

/// The operand with exactly `labels`: takes the diagonal of repeated labels, sums over missing ones, and broadcasts
/// dimensions of 1.
template <typename T>
static std::vector<T> arranged(const T *values, const Shape &shape, const Labels &own, const Labels &labels,
                               const Sizes &sizes) {
  Shape strides = stridesOf(shape), result = shapeOf(labels, sizes);
  Labels summed;
  for (int label : own)
    if (!has(labels, label) && !has(summed, label))
      summed.push_back(label);
  auto stridesOver = [&](const Labels &over) {
    Shape each(over.size(), 0);
    for (size_t i = 0; i < over.size(); ++i)
      for (size_t d = 0; d < own.size(); ++d)
        if (own[d] == over[i] && shape[d] != 1)
          each[i] += strides[d];
    return each;
  };
  checkSize(DType::F64, result);
  std::vector<T> sums;
  sums.reserve(product(result));
  walk(result, std::array{stridesOver(labels)}, [&](const auto &at) {
    T sum{};
    walk(shapeOf(summed, sizes), std::array{stridesOver(summed)},
         [&](const auto &below) { sum += values[at[0] + below[0]]; });
    sums.push_back(sum);
  });
  return sums;
}

/// The product of two operands, keeping the labels in `needed`.
template <typename T>
static Operand<T> multiplied(const Operand<T> &left, const Operand<T> &right, const Labels &needed,
                             const Sizes &sizes) {
  Labels batch, rows, depth, columns;
  for (int label : left.labels)
    if (has(right.labels, label))
      (has(needed, label) ? batch : depth).push_back(label);
    else if (has(needed, label))
      rows.push_back(label);
  for (int label : right.labels)
    if (!has(left.labels, label) && has(needed, label))
      columns.push_back(label);
  auto joined = [](std::initializer_list<Labels> parts) {
    Labels all;
    for (const Labels &part : parts)
      all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  std::vector<T> a =
      arranged(left.values.data(), shapeOf(left.labels, sizes), left.labels, joined({batch, rows, depth}), sizes);
  std::vector<T> b =
      arranged(right.values.data(), shapeOf(right.labels, sizes), right.labels, joined({batch, depth, columns}), sizes);
  int64_t m = product(shapeOf(rows, sizes)), k = product(shapeOf(depth, sizes)), n = product(shapeOf(columns, sizes));
  Operand<T> result{joined({batch, rows, columns}), {}};
  Shape shape = shapeOf(result.labels, sizes);
  checkSize(DType::F64, shape);
  result.values.resize(product(shape));
  for (int64_t i = 0, count = product(shapeOf(batch, sizes)); i < count; ++i)
    contract(m, n, k, a.data() + i * m * k, k, b.data() + i * k * n, n, result.values.data() + i * m * n, n);
  return result;
}

template <typename T> static std::vector<T> evaluate(Call &call, const Equation &equation) {
  Operand<T> result;
  for (size_t i = 0; i < equation.inputs.size(); ++i) {
    const Labels &own = equation.inputs[i];
    Labels distinct;
    for (int label : own)
      if (!has(distinct, label))
        distinct.push_back(label);
    Values<T> values(call.input(static_cast<int64_t>(i)));
    Operand<T> next{
        distinct, arranged(values.data(), call.input(static_cast<int64_t>(i)).shape(), own, distinct, equation.sizes)};
    if (i == 0) {
      result = std::move(next);
      continue;
    }
    Labels needed = equation.output;
    for (size_t later = i + 1; later < equation.inputs.size(); ++later)
      needed.insert(needed.end(), equation.inputs[later].begin(), equation.inputs[later].end());
    result = multiplied(result, next, needed, equation.sizes);
  }
  return arranged(result.values.data(), shapeOf(result.labels, equation.sizes), result.labels, equation.output,
                  equation.sizes);
}

void einsum(Call &call) {
  Equation equation(call);
  DType type = call.input(0).type();
  for (int64_t k = 0; k < call.inputCount(); ++k)
    require(call.input(k).type() == type && type != DType::Bool,
            "expected operands of one type of number, found {} and {}", name(type), name(call.input(k).type()));
  Shape shape = shapeOf(equation.output, equation.sizes);
  checkSize(type, shape);
  if (isFloat(type))
    return call.give(0, type, shape, evaluate<double>(call, equation));
  call.give(0, type, shape, evaluate<uint64_t>(call, equation)); // integers wrap
}

} // namespace tilewright::reference
