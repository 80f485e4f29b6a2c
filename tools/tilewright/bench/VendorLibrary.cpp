// SPDX-License-Identifier: Apache-2.0
// Opens vendor libraries, and implements the host's: C = A B through the C interface to BLAS.
#include "tools/tilewright/bench/VendorLibrary.h"

#include "runtime/Tensor.h"
#include "runtime/execute/ThreadPool.h"
#include "tools/tilewright/bench/Measure.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

namespace {

// Arguments and codes follow the reference C interface to BLAS (netlib), with 32-bit integers.
using Sgemm = void (*)(int order, int transA, int transB, int m, int n, int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc);
using SetThreads = void (*)(long); // some libraries take an int, passed in the same register
constexpr int rowMajor = 101, noTranspose = 111;

struct HostRow {
  const char *library, *name, *setThreads;
};
constexpr HostRow hostRows[] = {
    {"libopenblas.so.0", "OpenBLAS", "openblas_set_num_threads"},
    {"libmkl_rt.so.2", "MKL", "MKL_Set_Num_Threads"},
    {"libmkl_rt.so", "MKL", "MKL_Set_Num_Threads"},
    {"libblis.so.4", "BLIS", "bli_thread_set_num_threads"},
    {"libblis.so", "BLIS", "bli_thread_set_num_threads"},
};

class HostBlas : public VendorLibrary {
public:
  HostBlas(const HostRow &row, Sgemm sgemm) : row(row), sgemm(sgemm) {}

  std::string name() const override { return fmt::format("{} ({})", row.name, row.library); }

  bool has(const ProductSize &size) const override {
    return size.type == DType::F32 && std::min({size.batch, size.m, size.n, size.k}) > 0 &&
           std::max({size.m, size.n, size.k}) <= INT_MAX;
  }

  Expected<double> time(const ProductSize &size) override {
    Tensor a = filled({size.batch, size.m, size.k}), b = filled({size.batch, size.k, size.n}),
           c = filled({size.batch, size.m, size.n});
    const int m = size.m, n = size.n, k = size.k;
    auto once = [&] {
      for (int64_t i = 0; i < size.batch; ++i)
        sgemm(rowMajor, noTranspose, noTranspose, m, n, k, 1, a.data<float>() + i * m * k, k,
              b.data<float>() + i * k * n, n, 0, c.data<float>() + i * m * n, n);
    };
    once(); // starts its threads and allocates its buffers
    std::vector<double> times;
    using Clock = std::chrono::steady_clock;
    for (Clock::time_point start = Clock::now(), from = start;
         times.size() < 3 || (times.size() < 15 && from - start < std::chrono::milliseconds(200));) {
      once();
      Clock::time_point to = Clock::now();
      times.push_back(std::chrono::duration<double, std::milli>(to - from).count());
      from = to;
    }
    return summarize(std::move(times)).medianMs;
  }

private:
  static Tensor filled(Shape shape) {
    Tensor tensor = Tensor::allocate(DType::F32, std::move(shape));
    std::fill_n(tensor.data<float>(), tensor.count(), 0.01f);
    return tensor;
  }

  const HostRow &row;
  Sgemm sgemm;
};

} // namespace

OpenedLibrary openFirst(std::span<const char *const> libraries) {
  for (size_t i = 0; i < libraries.size(); ++i)
    if (void *handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL))
      return {handle, i};
  return {};
}

Expected<std::unique_ptr<VendorLibrary>> openHostBlas() {
  std::vector<const char *> libraries;
  for (const HostRow &row : hostRows)
    libraries.push_back(row.library);
  OpenedLibrary opened = openFirst(libraries);
  if (!opened.handle)
    return Status(Code::Device, fmt::format("no vendor library was found to compare products with; looked for {}",
                                            fmt::join(libraries, ", ")));
  const HostRow &row = hostRows[opened.row];
  auto sgemm = reinterpret_cast<Sgemm>(dlsym(opened.handle, "cblas_sgemm"));
  if (!sgemm)
    return Status(Code::Device, fmt::format("{} has no cblas_sgemm to compare products with", row.library));
  if (auto setThreads = reinterpret_cast<SetThreads>(dlsym(opened.handle, row.setThreads)))
    setThreads(runtime::ThreadPool::instance().threads());
  return std::unique_ptr<VendorLibrary>(std::make_unique<HostBlas>(row, sgemm));
}

Expected<std::unique_ptr<VendorLibrary>> openVendorLibrary(runtime::Device &device) {
  if (device.info().id.starts_with("cuda") || device.info().id.starts_with("hip"))
    return openGpuBlas(device);
  if (device.info().id == "host")
    return openHostBlas();
  return Status(Code::Device, fmt::format("no vendor library is known for the device {}", device.info().id));
}

} // namespace tilewright
