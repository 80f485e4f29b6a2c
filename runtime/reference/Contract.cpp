// SPDX-License-Identifier: Apache-2.0
#include "runtime/reference/Contract.h"

namespace tilewright::reference {

// The release is built for the x86-64 baseline. Recurrences spend their time in products with one column, so these have
// a version for 32-byte vectors.
#if defined(__x86_64__) && defined(__linux__)
__attribute__((target_clones("default", "arch=x86-64-v3")))
#endif
void contractVector(int64_t rows, int64_t depth, const float *a, const float *x, float *y) {
  constexpr int64_t lanes = 32;
  for (int64_t m = 0; m < rows; ++m, a += depth) {
    float sums[lanes] = {};
    int64_t k = 0;
    for (; k + lanes <= depth; k += lanes)
      for (int64_t lane = 0; lane < lanes; ++lane)
        sums[lane] += a[k + lane] * x[k + lane];
    for (; k < depth; ++k)
      sums[0] += a[k] * x[k];
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        sums[lane] += sums[lane + half];
    y[m] += sums[0];
  }
}

} // namespace tilewright::reference
