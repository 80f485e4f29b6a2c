// SPDX-License-Identifier: Apache-2.0
// cuBLAS and rocBLAS, opened at run time: C = A B in row-major order is their C' = B' A' in column-major order.
#include "tools/tilewright/bench/VendorLibrary.h"

#include "runtime/cuda/CudaDriver.h"
#include "runtime/gpu/GpuDevice.h"
#include "runtime/hip/HipDriver.h"
#include "tools/tilewright/bench/Measure.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

namespace {

using namespace runtime::gpu;

using Handle = struct BlasTag *;

/// One operand in column-major order; `stride` elements from one matrix of a batch to the next.
struct Operand {
  const void *data;
  int leading;
  long long stride;
};

struct Product {
  int m, n, k, batch;
  const void *alpha, *beta;
  Operand a, b, c;
};

// Prototypes and numbers follow NVIDIA's "cuBLAS" and AMD's "rocBLAS" manuals. A status of 0 is success.
using Create = int (*)(Handle *);
using Destroy = int (*)(Handle);
using CublasGemm = int (*)(Handle, int transA, int transB, int m, int n, int k, const void *alpha, const void *a,
                           int typeA, int lda, long long strideA, const void *b, int typeB, int ldb, long long strideB,
                           const void *beta, void *c, int typeC, int ldc, long long strideC, int batch, int compute,
                           int algorithm);
using RocblasGemm = int (*)(Handle, int transA, int transB, int m, int n, int k, const void *alpha, const void *a,
                            int typeA, int lda, long long strideA, const void *b, int typeB, int ldb, long long strideB,
                            const void *beta, const void *c, int typeC, int ldc, long long strideC, void *d, int typeD,
                            int ldd, long long strideD, int batch, int compute, int algorithm, int solution,
                            unsigned flags);

struct TypeRow {
  DType type;
  int element; // the library's number of the type
  int compute; // the accumulator's; TF32 is not allowed
};

int cublas(void *function, Handle handle, const TypeRow &type, const Product &p) {
  constexpr int notTransposed = 0, defaultAlgorithm = -1; // CUBLAS_OP_N, CUBLAS_GEMM_DEFAULT
  return reinterpret_cast<CublasGemm>(function)(
      handle, notTransposed, notTransposed, p.m, p.n, p.k, p.alpha, p.a.data, type.element, p.a.leading, p.a.stride,
      p.b.data, type.element, p.b.leading, p.b.stride, p.beta, const_cast<void *>(p.c.data), type.element, p.c.leading,
      p.c.stride, p.batch, type.compute, defaultAlgorithm);
}

int rocblas(void *function, Handle handle, const TypeRow &type, const Product &p) {
  constexpr int notTransposed = 111, standard = 0; // rocblas_operation_none, rocblas_gemm_algo_standard
  return reinterpret_cast<RocblasGemm>(function)(
      handle, notTransposed, notTransposed, p.m, p.n, p.k, p.alpha, p.a.data, type.element, p.a.leading, p.a.stride,
      p.b.data, type.element, p.b.leading, p.b.stride, p.beta, p.c.data, type.element, p.c.leading, p.c.stride,
      const_cast<void *>(p.c.data), type.element, p.c.leading, p.c.stride, p.batch, type.compute, standard, 0, 0);
}

// CUDA_R_32F and its siblings, CUBLAS_COMPUTE_32F and _64F; rocblas_datatype_f32_r and its siblings.
constexpr TypeRow cublasTypes[] = {
    {DType::F32, 0, 68}, {DType::F64, 1, 70}, {DType::F16, 2, 68}, {DType::BF16, 14, 68}};
constexpr TypeRow rocblasTypes[] = {
    {DType::F32, 151, 151}, {DType::F64, 152, 152}, {DType::F16, 150, 151}, {DType::BF16, 168, 151}};
constexpr const char *cublasLibraries[] = {"libcublas.so.13", "libcublas.so.12"};
constexpr const char *rocblasLibraries[] = {"librocblas.so", "librocblas.so.5", "librocblas.so.4", "librocblas.so.0"};

/// Names and entry points of a vendor's library.
struct LibraryRow {
  const char *kind, *name; // of the device and of the library
  std::span<const char *const> files;
  const char *create, *destroy, *gemm;
  std::span<const TypeRow> types;
  int (*multiply)(void *function, Handle, const TypeRow &, const Product &);
};
constexpr LibraryRow libraryRows[] = {
    {"cuda", "cuBLAS", cublasLibraries, "cublasCreate_v2", "cublasDestroy_v2", "cublasGemmStridedBatchedEx",
     cublasTypes, cublas},
    {"hip", "rocBLAS", rocblasLibraries, "rocblas_create_handle", "rocblas_destroy_handle",
     "rocblas_gemm_strided_batched_ex", rocblasTypes, rocblas},
};

constexpr size_t rounds = 15, callsOfRound = 20; // enough calls to hide the latency of a submission

struct BlasFunctions {
  Create create = nullptr;
  Destroy destroy = nullptr;
  void *gemm = nullptr;
};

class GpuBlas : public VendorLibrary {
public:
  GpuBlas(const LibraryRow &row, const BlasFunctions &functions, const char *library, runtime::Device &device,
          std::shared_ptr<Context> context)
      : row(row), functions(functions), library(library), device(device), context(std::move(context)) {}

  ~GpuBlas() override {
    Scope scope(*context);
    for (EventHandle event : {start, end})
      if (event)
        context->driver.eventDestroy(event);
    if (handle)
      functions.destroy(handle);
  }

  Status initialize() {
    TILEWRIGHT_GPU_ENTER(*context);
    if (int status = functions.create(&handle))
      return {Code::Device, fmt::format("{} of {} failed with status {}", row.create, library, status)};
    TILEWRIGHT_GPU_TRY(context->driver, eventCreate, "preparing to time " + name(), &start, 0);
    TILEWRIGHT_GPU_TRY(context->driver, eventCreate, "preparing to time " + name(), &end, 0);
    return {};
  }

  std::string name() const override { return fmt::format("{} ({})", row.name, library); }

  bool has(const ProductSize &size) const override {
    return rowOf(size.type) && std::min({size.batch, size.m, size.n, size.k}) > 0 &&
           std::max({size.batch, size.m, size.n, size.k}) <= INT_MAX;
  }

  Expected<double> time(const ProductSize &size) override {
    size_t element = elementBytes(size.type);
    std::shared_ptr<void> a, b, c;
    for (auto [memory, count] : {std::pair(&a, size.m * size.k), {&b, size.k * size.n}, {&c, size.m * size.n}}) {
      auto allocated = device.allocate(size.batch * count * element);
      TILEWRIGHT_TRY(allocated);
      *memory = *allocated;
    }
    TILEWRIGHT_TRY(fill(a.get(), size.batch * size.m * size.k * element));
    TILEWRIGHT_TRY(fill(b.get(), size.batch * size.k * size.n * element));
    TILEWRIGHT_GPU_ENTER(*context);
    std::vector<double> times;
    for (size_t round = 0; round <= rounds; ++round) {
      Expected<double> once = timeOnce(size, a.get(), b.get(), c.get());
      TILEWRIGHT_TRY(once);
      if (round > 0) // the first round selects and loads a kernel
        times.push_back(*once);
    }
    return summarize(std::move(times)).medianMs;
  }

private:
  const TypeRow *rowOf(DType type) const {
    auto found = std::ranges::find(row.types, type, &TypeRow::type);
    return found == row.types.end() ? nullptr : &*found;
  }

  /// Fills memory with small numbers of any type: zeros save power, so that the clock would be higher.
  Status fill(void *memory, size_t bytes) {
    auto stream = device.createStream();
    TILEWRIGHT_TRY(stream);
    TILEWRIGHT_TRY((*stream)->fill(memory, 0x3c, bytes));
    return statusOf((*stream)->synchronize());
  }

  /// Times products back to back between two events on the default stream, which these libraries use by default.
  /// Returns the time of one.
  Expected<double> timeOnce(const ProductSize &size, void *a, void *b, void *c) {
    const Driver &driver = context->driver;
    const TypeRow &type = *rowOf(size.type);
    const float one = 1, zero = 0;
    const double wideOne = 1, wideZero = 0;
    bool wide = size.type == DType::F64;
    const void *alpha = wide ? static_cast<const void *>(&wideOne) : &one,
               *beta = wide ? static_cast<const void *>(&wideZero) : &zero;
    int m = size.m, n = size.n, k = size.k, batch = size.batch;
    Product product = {
        n, m, k, batch, alpha, beta, {b, n, size.k * size.n}, {a, k, size.m * size.k}, {c, n, size.m * size.n}};
    TILEWRIGHT_GPU_TRY(driver, eventRecord, "timing " + name(), start, nullptr);
    int status = 0;
    for (size_t call = 0; call < callsOfRound && !status; ++call)
      status = row.multiply(functions.gemm, handle, type, product);
    if (status)
      return Status(Code::Device,
                    fmt::format("{} failed with status {} for {} x {} x {} x {}", row.gemm, status, batch, m, n, k));
    TILEWRIGHT_GPU_TRY(driver, eventRecord, "timing " + name(), end, nullptr);
    TILEWRIGHT_GPU_TRY(driver, streamSynchronize, "timing " + name(), nullptr);
    float milliseconds = 0;
    TILEWRIGHT_GPU_TRY(driver, eventElapsed, "timing " + name(), &milliseconds, start, end);
    return double(milliseconds) / callsOfRound;
  }

  const LibraryRow &row;
  const BlasFunctions functions;
  const char *library;
  runtime::Device &device;
  std::shared_ptr<Context> context;
  Handle handle = nullptr;
  EventHandle start = nullptr, end = nullptr;
};

/// A context of the device's GPU for the vendor's library. `id` is "cuda:N" or "hip:N".
Expected<std::shared_ptr<Context>> contextOf(const std::string &id) {
  int ordinal = 0;
  size_t colon = id.find(':');
  std::from_chars(id.data() + colon + 1, id.data() + id.size(), ordinal);
  if (id.starts_with("cuda")) {
    auto driver = openOnce<runtime::cuda::Driver>();
    TILEWRIGHT_TRY(driver);
    return runtime::openGpuContext(**driver, ordinal);
  }
  auto driver = openOnce<runtime::hip::Driver>();
  TILEWRIGHT_TRY(driver);
  return runtime::openGpuContext(**driver, ordinal);
}

} // namespace

Expected<std::unique_ptr<VendorLibrary>> openGpuBlas(runtime::Device &device) {
  const std::string &id = device.info().id;
  const LibraryRow &row = *std::ranges::find(libraryRows, id.substr(0, id.find(':')), &LibraryRow::kind);
  OpenedLibrary opened = openFirst(row.files);
  if (!opened.handle)
    return Status(Code::Device, fmt::format("no vendor library was found to compare products with; looked for {}",
                                            fmt::join(row.files, ", ")));
  const char *library = row.files[opened.row];
  BlasFunctions functions;
  for (auto [symbol, function] : {std::pair(row.create, reinterpret_cast<void **>(&functions.create)),
                                  {row.destroy, reinterpret_cast<void **>(&functions.destroy)},
                                  {row.gemm, &functions.gemm}})
    if (!(*function = dlsym(opened.handle, symbol)))
      return Status(Code::Device, fmt::format("{} has no {} to compare products with", library, symbol));
  auto context = contextOf(id);
  TILEWRIGHT_TRY(context);
  auto blas = std::make_unique<GpuBlas>(row, functions, library, device, std::move(*context));
  TILEWRIGHT_TRY(blas->initialize());
  return std::unique_ptr<VendorLibrary>(std::move(blas));
}

} // namespace tilewright
