// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, Hardmax: along one axis since opset 13; before, over all dimensions from `axis` on as one.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <cmath>
#include <limits>

namespace tilewright::reference {

/// The tensor as outer x size x inner; distributions run along the middle.
static AxisView distribution(Call &call) {
  const Shape &shape = call.input(0).shape();
  int64_t rank = call.input(0).rank();
  if (call.opset() >= 13) {
    if (rank == 0)
      return AxisView({1}, 0);
    return AxisView(shape, normalizeAxis(call.integer("axis", -1), rank));
  }
  int64_t axis = call.integer("axis", 1);
  if (axis != rank) // before opset 13 the axis may be the rank: distributions of one element
    axis = normalizeAxis(axis, rank);
  return AxisView({product(std::span(shape).first(axis)), product(std::span(shape).subspan(axis))}, 1);
}

/// f(values, results) for each distribution; both are strided.
template <typename Function> static void perDistribution(Call &call, Function function) {
  AxisView view = distribution(call);
  Values<double> x(call.input(0));
  require(isFloat(call.input(0).type()), "expected floating-point input, found {}", name(call.input(0).type()));
  std::vector<double> row(view.size), results(x.size());
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.inner; ++i) {
      int64_t first = o * view.size * view.inner + i;
      for (int64_t k = 0; k < view.size; ++k)
        row[k] = x[first + k * view.inner];
      if (view.size)
        function(row);
      for (int64_t k = 0; k < view.size; ++k)
        results[first + k * view.inner] = row[k];
    }
  call.give(0, call.input(0).type(), call.input(0).shape(), results);
}

static double peak(const std::vector<double> &row) {
  double result = -std::numeric_limits<double>::infinity();
  for (double x : row)
    result = x != x || x > result ? x : result;
  return result;
}

void softmax(Call &call) {
  perDistribution(call, [](std::vector<double> &row) {
    double shift = peak(row), sum = 0;
    for (double &x : row)
      sum += x = std::exp(x - shift);
    for (double &x : row)
      x /= sum;
  });
}

void logSoftmax(Call &call) {
  perDistribution(call, [](std::vector<double> &row) {
    double shift = peak(row), sum = 0;
    for (double x : row)
      sum += std::exp(x - shift);
    for (double &x : row)
      x = x - shift - std::log(sum);
  });
}

void hardmax(Call &call) {
  perDistribution(call, [](std::vector<double> &row) {
    size_t best = 0;
    for (size_t k = 1; k < row.size(); ++k)
      if (row[k] > row[best])
        best = k;
    row.assign(row.size(), 0);
    row[best] = 1;
  });
}

} // namespace tilewright::reference
