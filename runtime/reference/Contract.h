// SPDX-License-Identifier: Apache-2.0
// The contraction inside of matrix products, convolutions and Einsum:  c[m, n] += sum over k of a[m, k] *
// b[k, n].
//
// In double, or in integers modulo 2^64. b is packed a panel at a time, which stays in cache for all rows of a; packing
// also converts b from its type in memory, or transposes it. Four steps of k at once load and store each element of c a
// quarter as often. Written for the compiler's vectorizer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilewright::reference {

/// Adds the product of a [rows, depth] and b [depth, columns] to c [rows, columns]. a and c are row-major, with lda and
/// ldc elements from one row to the next. pack(k, count, n, length, to) writes rows [k, k + count) and columns [n, n +
/// length) of b to `to`, row-major.
template <typename T, typename Pack>
void contractPacked(int64_t rows, int64_t columns, int64_t depth, const T *a, int64_t lda, Pack pack, T *c,
                    int64_t ldc) {
  constexpr int64_t columnBlock = 512, depthBlock = 64; // 256 KiB of b, 4 KiB of each row of c
  std::vector<T> panel(std::min(columnBlock, columns) * std::min(depthBlock, depth));
  for (int64_t n0 = 0; n0 < columns; n0 += columnBlock)
    for (int64_t k0 = 0; k0 < depth; k0 += depthBlock) {
      int64_t length = std::min(columnBlock, columns - n0), taken = std::min(depthBlock, depth - k0);
      pack(k0, taken, n0, length, panel.data());
      for (int64_t m = 0; m < rows; ++m) {
        T *__restrict sum = c + m * ldc + n0;
        const T *row = a + m * lda + k0, *b = panel.data();
        int64_t k = 0;
        for (; k + 4 <= taken; k += 4, b += 4 * length) {
          const T *b1 = b + length, *b2 = b1 + length, *b3 = b2 + length;
          T a0 = row[k], a1 = row[k + 1], a2 = row[k + 2], a3 = row[k + 3];
          for (int64_t n = 0; n < length; ++n)
            sum[n] += (a0 * b[n] + a1 * b1[n]) + (a2 * b2[n] + a3 * b3[n]);
        }
        for (; k < taken; ++k, b += length)
          for (int64_t n = 0; n < length; ++n)
            sum[n] += row[k] * b[n];
      }
    }
}

/// The same with b in memory as T, row-major with ldb elements from one row to the next.
template <typename T>
void contract(int64_t rows, int64_t columns, int64_t depth, const T *a, int64_t lda, const T *b, int64_t ldb, T *c,
              int64_t ldc) {
  auto pack = [&](int64_t k, int64_t count, int64_t n, int64_t length, T *to) {
    for (int64_t i = 0; i < count; ++i)
      std::copy_n(b + (k + i) * ldb + n, length, to + i * length);
  };
  contractPacked(rows, columns, depth, a, lda, pack, c, ldc);
}

/// y[m] += sum over k of a[m, k] * x[k]: a product with one column, which needs no packing. Sixteen independent sums
/// hide the latency of additions.
template <typename T> void contractVector(int64_t rows, int64_t depth, const T *a, const T *x, T *y) {
  constexpr int64_t lanes = 16;
  for (int64_t m = 0; m < rows; ++m, a += depth) {
    T sums[lanes] = {};
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

/// The same in float, with the widest vectors of this machine.
void contractVector(int64_t rows, int64_t depth, const float *a, const float *x, float *y);

} // namespace tilewright::reference
