// The one contraction that matrix products, convolutions and Einsum are made of:  c[m, n] += sum over k of a[m, k] * b[k, n].
//
// In double, or in integers modulo 2^64. Blocked so that the slice of b stays in cache while all rows of a pass over it; four k
// are taken at once so that each element of c is loaded and stored a quarter as often. Written for the compiler's vectorizer.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilewright::reference {

/// Row-major; lda, ldb and ldc are elements from one row to the next.
template <typename T>
void contract(int64_t rows, int64_t columns, int64_t depth, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc) {
  constexpr int64_t columnBlock = 512, depthBlock = 64; // 256 KiB of b, 4 KiB of each row of c
  if (columns == 1 && ldb == 1) {
    for (int64_t m = 0; m < rows; ++m) {
      T lanes[4] = {};
      int64_t k = 0;
      for (; k + 4 <= depth; k += 4)
        for (int64_t lane = 0; lane < 4; ++lane)
          lanes[lane] += a[m * lda + k + lane] * b[k + lane];
      for (; k < depth; ++k)
        lanes[0] += a[m * lda + k] * b[k];
      c[m * ldc] += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
    return;
  }
  for (int64_t n0 = 0; n0 < columns; n0 += columnBlock)
    for (int64_t k0 = 0; k0 < depth; k0 += depthBlock) {
      int64_t length = std::min(columnBlock, columns - n0), k1 = std::min(depth, k0 + depthBlock);
      for (int64_t m = 0; m < rows; ++m) {
        T *__restrict sum = c + m * ldc + n0;
        const T *row = a + m * lda;
        int64_t k = k0;
        for (; k + 4 <= k1; k += 4) {
          const T *b0 = b + k * ldb + n0, *b1 = b0 + ldb, *b2 = b1 + ldb, *b3 = b2 + ldb;
          T a0 = row[k], a1 = row[k + 1], a2 = row[k + 2], a3 = row[k + 3];
          for (int64_t n = 0; n < length; ++n)
            sum[n] += (a0 * b0[n] + a1 * b1[n]) + (a2 * b2[n] + a3 * b3[n]);
        }
        for (; k < k1; ++k) {
          const T *bk = b + k * ldb + n0;
          for (int64_t n = 0; n < length; ++n)
            sum[n] += row[k] * bk[n];
        }
      }
    }
}

} // namespace tilewright::reference
