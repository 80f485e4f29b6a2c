// SPDX-License-Identifier: Apache-2.0
// The matrix product of a vendor's library, opened at run time if installed, which `bench` compares our contractions
// with.
//
//   host   cblas_sgemm of OpenBLAS, MKL or BLIS        (float32)
//   cuda   cublasGemmStridedBatchedEx of cuBLAS        (float32, float64, float16, bfloat16)
//   hip    rocblas_gemm_strided_batched_ex of rocBLAS  (the same)
#pragma once

#include "runtime/Device.h"

#include <array>
#include <memory>
#include <string>

namespace tilewright {

/// `batch` products of m x k by k x n, of operands of `type`.
struct ProductSize {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  DType type = DType::F32;
  auto operator<=>(const ProductSize &) const = default;
};

class VendorLibrary {
public:
  virtual ~VendorLibrary() = default;
  /// "OpenBLAS (libopenblas.so.0)".
  virtual std::string name() const = 0;
  /// Whether the library supports the product's type, and its sizes fit the library's integers.
  virtual bool has(const ProductSize &size) const = 0;
  /// The median milliseconds of the product alone, dense and row-major, on as many threads as the host device uses.
  virtual Expected<double> time(const ProductSize &size) = 0;
};

/// Opens the library for `device`. Code::Device, with a sentence that lists the names tried, if there is none.
Expected<std::unique_ptr<VendorLibrary>> openVendorLibrary(runtime::Device &device);

/// The implementations for the host and for GPUs. `device` must outlive the library.
Expected<std::unique_ptr<VendorLibrary>> openHostBlas();
Expected<std::unique_ptr<VendorLibrary>> openGpuBlas(runtime::Device &device);

/// The first of `libraries` that opens, never closed, and its index; null if none does.
struct OpenedLibrary {
  void *handle = nullptr;
  size_t row = 0;
};
OpenedLibrary openFirst(std::span<const char *const> libraries);

} // namespace tilewright
