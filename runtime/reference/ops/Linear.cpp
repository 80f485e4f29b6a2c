// SPDX-License-Identifier: Apache-2.0
// Det: the determinant of square matrices, by elimination with the largest pivot.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

static double determinant(std::vector<double> a, int64_t n) {
  double result = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t r = k + 1; r < n; ++r)
      if (std::abs(a[r * n + k]) > std::abs(a[pivot * n + k]))
        pivot = r;
    if (a[pivot * n + k] == 0)
      return 0;
    if (pivot != k) {
      std::swap_ranges(a.begin() + k * n, a.begin() + (k + 1) * n, a.begin() + pivot * n);
      result = -result;
    }
    result *= a[k * n + k];
    for (int64_t r = k + 1; r < n; ++r) {
      double factor = a[r * n + k] / a[k * n + k];
      for (int64_t c = k; c < n; ++c)
        a[r * n + c] -= factor * a[k * n + c];
    }
  }
  return result;
}

void det(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() >= 2 && x.shape().back() == x.shape()[x.rank() - 2], "expected square matrices, found shape {}",
          x.shape());
  int64_t n = x.shape().back();
  Shape shape(x.shape().begin(), x.shape().end() - 2);
  Values<double> values(x);
  std::vector<double> result;
  for (int64_t m = 0, count = product(shape); m < count; ++m)
    result.push_back(determinant({values.data() + m * n * n, values.data() + (m + 1) * n * n}, n));
  call.give(0, x.type(), shape, result);
}

} // namespace tilewright::reference
