// SPDX-License-Identifier: Apache-2.0
// Stands in for OpenBLAS, cuBLAS and rocBLAS where they are not installed: the functions that `bench` calls, which
// print their arguments on stderr and reject what the real ones reject.
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

namespace {

/// Prints `what` once for each distinct product.
void say(const std::string &what) {
  static std::set<std::string> said;
  if (said.insert(what).second)
    std::fprintf(stderr, "stand-in: %s\n", what.c_str());
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void openblas_set_num_threads(int threads) { say("threads " + std::to_string(threads)); }

void cblas_sgemm(int order, int transA, int transB, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc) {
  bool sound =
      order == 101 && transA == 111 && transB == 111 && alpha == 1 && beta == 0 && lda >= k && ldb >= n && ldc >= n;
  say((sound ? "sgemm " : "unsound sgemm ") + std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int x = 0; x < k; ++x)
        sum += a[i * lda + x] * b[x * ldb + j];
      c[i * ldc + j] = sum;
    }
}

int cublasCreate_v2(void **handle) {
  static int something;
  *handle = &something;
  return 0;
}

int cublasDestroy_v2(void *) {
  say("destroyed");
  return 0;
}

int cublasGemmStridedBatchedEx(void *handle, int transA, int transB, int m, int n, int k, const void *alpha,
                               const void *a, int typeA, int lda, long long strideA, const void *b, int typeB, int ldb,
                               long long strideB, const void *beta, void *c, int typeC, int ldc, long long strideC,
                               int batch, int compute, int algorithm) {
  constexpr int invalidValue = 7, r32f = 0, r64f = 1;
  auto columns = [](int type) { return type == r32f ? 4 : type == r64f ? 8 : 2; }; // bytes of an element
  double one = 0;
  float narrow = 0;
  compute == 70 ? std::memcpy(&one, alpha, 8) : (std::memcpy(&narrow, alpha, 4), &one);
  bool sound = handle && a && b && c && beta && transA == 0 && transB == 0 &&
               (compute == 70 ? one == 1 : compute == 68 && narrow == 1) && algorithm == -1 && typeA == typeB &&
               typeB == typeC && (typeA == r64f) == (compute == 70) && lda >= m && ldb >= k && ldc >= m && batch > 0 &&
               strideA == 1ll * m * k && strideB == 1ll * k * n && strideC == 1ll * m * n;
  if (!sound)
    return invalidValue;
  // Writes the whole result, so that too small a buffer is detected.
  std::memset(c, 0, batch * strideC * columns(typeC));
  say("gemm " + std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k) + " of " + std::to_string(batch));
  return 0;
}

int rocblas_create_handle(void **handle) { return cublasCreate_v2(handle); }

int rocblas_destroy_handle(void *handle) { return cublasDestroy_v2(handle); }

int rocblas_gemm_strided_batched_ex(void *handle, int transA, int transB, int m, int n, int k, const void *alpha,
                                    const void *a, int typeA, int lda, long long strideA, const void *b, int typeB,
                                    int ldb, long long strideB, const void *beta, const void *c, int typeC, int ldc,
                                    long long strideC, void *d, int typeD, int ldd, long long strideD, int batch,
                                    int compute, int algorithm, int solution, unsigned flags) {
  constexpr int invalidValue = 11, none = 111, f16 = 150, f32 = 151, f64 = 152, bf16 = 168;
  if (transA != none || transB != none || c != d || typeC != typeD || ldc != ldd || strideC != strideD ||
      algorithm != 0 || solution != 0 || flags != 0 || compute != (typeA == f64 ? f64 : f32) ||
      (typeA != f16 && typeA != f32 && typeA != f64 && typeA != bf16))
    return invalidValue;
  auto cudaType = [](int type) { return type == f32 ? 0 : type == f64 ? 1 : type == f16 ? 2 : 14; };
  return cublasGemmStridedBatchedEx(handle, 0, 0, m, n, k, alpha, a, cudaType(typeA), lda, strideA, b, cudaType(typeB),
                                    ldb, strideB, beta, d, cudaType(typeD), ldd, strideD, batch,
                                    compute == f64 ? 70 : 68, -1);
}
}
#pragma GCC visibility pop
