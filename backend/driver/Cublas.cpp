// cuBLAS, opened at run time: C = A B in row-major order is its C' = B' A' in column-major order.
#include "backend/driver/VendorLibrary.h"

#include "backend/driver/Measure.h"
#include "runtime/cuda/CudaDriver.h"
#include "runtime/cuda/CudaStream.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <dlfcn.h>
#include <fmt/format.h>

namespace tilewright {

namespace {

using namespace runtime::cuda;

// Prototypes and numbers follow NVIDIA's "cuBLAS" manual. A status of 0 is success.
using Handle = struct CublasTag *;
// clang-format off
/// One row for each function: member, symbol, parameters.
#define TILEWRIGHT_CUBLAS_FUNCTIONS(X)                                                                                      \
  X(create,  cublasCreate_v2,               (Handle *))                                                                     \
  X(destroy, cublasDestroy_v2,              (Handle))                                                                       \
  X(gemm,    cublasGemmStridedBatchedEx,    (Handle, int transA, int transB, int m, int n, int k, const void *alpha,         \
                                             const void *a, int typeA, int lda, long long strideA,                          \
                                             const void *b, int typeB, int ldb, long long strideB, const void *beta,        \
                                             void *c, int typeC, int ldc, long long strideC, int batch, int compute, int algorithm))
// clang-format on

constexpr const char *libraries[] = {"libcublas.so.13", "libcublas.so.12"};

struct TypeRow {
  DType type;
  int cudaType;    // cudaDataType_t
  int computeType; // cublasComputeType_t: the accumulator's; TF32 is not allowed
};
constexpr TypeRow typeRows[] = {
    {DType::F32, 0, 68},   // CUDA_R_32F, CUBLAS_COMPUTE_32F
    {DType::F64, 1, 70},   // CUDA_R_64F, CUBLAS_COMPUTE_64F
    {DType::F16, 2, 68},   // CUDA_R_16F
    {DType::BF16, 14, 68}, // CUDA_R_16BF
};
constexpr int notTransposed = 0, defaultAlgorithm = -1; // CUBLAS_OP_N, CUBLAS_GEMM_DEFAULT
constexpr size_t rounds = 15, callsOfRound = 20; // so many that the calls, not the way to the device, are timed

struct Functions {
#define X(member, symbol, parameters) int(*member) parameters = nullptr;
  TILEWRIGHT_CUBLAS_FUNCTIONS(X)
#undef X
};

class Cublas : public VendorLibrary {
public:
  Cublas(const Functions &functions, const char *library, runtime::Device &device, std::shared_ptr<runtime::CudaContext> context)
      : functions(functions), library(library), device(device), context(std::move(context)) {}

  ~Cublas() override {
    runtime::CudaScope scope(*context);
    for (EventHandle event : {start, end})
      if (event)
        context->driver.eventDestroy(event);
    if (handle)
      functions.destroy(handle);
  }

  Status initialize() {
    runtime::CudaScope scope(*context);
    if (int status = functions.create(&handle))
      return {Code::Device, fmt::format("cublasCreate of {} failed with status {}", library, status)};
    TILEWRIGHT_CUDA_TRY(context->driver, eventCreate, "preparing to time cuBLAS", &start, 0);
    TILEWRIGHT_CUDA_TRY(context->driver, eventCreate, "preparing to time cuBLAS", &end, 0);
    return {};
  }

  std::string name() const override { return fmt::format("cuBLAS ({})", library); }

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
    runtime::CudaScope scope(*context);
    std::vector<double> times;
    for (size_t round = 0; round <= rounds; ++round) {
      Expected<double> once = timeOnce(size, a.get(), b.get(), c.get());
      TILEWRIGHT_TRY(once);
      if (round > 0) // the first one chooses and loads a kernel
        times.push_back(*once);
    }
    return summarize(std::move(times)).medianMs;
  }

private:
  static const TypeRow *rowOf(DType type) {
    auto row = std::ranges::find(typeRows, type, &TypeRow::type);
    return row == std::end(typeRows) ? nullptr : row;
  }

  /// Small numbers of every type: zeros would flatter the clock.
  Status fill(void *memory, size_t bytes) {
    auto stream = device.createStream();
    TILEWRIGHT_TRY(stream);
    TILEWRIGHT_TRY((*stream)->fill(memory, 0x3c, bytes));
    return statusOf((*stream)->synchronize());
  }

  /// Products one after the other between two events on the default stream, where cuBLAS works unless told otherwise; the time of one.
  Expected<double> timeOnce(const ProductSize &size, void *a, void *b, void *c) {
    const Driver &driver = context->driver;
    const TypeRow &type = *rowOf(size.type);
    const float one = 1, zero = 0;
    const double wideOne = 1, wideZero = 0;
    bool wide = size.type == DType::F64;
    const void *alpha = wide ? static_cast<const void *>(&wideOne) : &one, *beta = wide ? static_cast<const void *>(&wideZero) : &zero;
    int m = size.m, n = size.n, k = size.k, batch = size.batch;
    TILEWRIGHT_CUDA_TRY(driver, eventRecord, "timing cuBLAS", start, nullptr);
    int status = 0;
    for (size_t call = 0; call < callsOfRound && !status; ++call)
      status = functions.gemm(handle, notTransposed, notTransposed, n, m, k, alpha, b, type.cudaType, n, size.k * size.n, a, type.cudaType,
                              k, size.m * size.k, beta, c, type.cudaType, n, size.m * size.n, batch, type.computeType, defaultAlgorithm);
    if (status)
      return Status(Code::Device,
                    fmt::format("cublasGemmStridedBatchedEx failed with status {} for {} x {} x {} x {}", status, batch, m, n, k));
    TILEWRIGHT_CUDA_TRY(driver, eventRecord, "timing cuBLAS", end, nullptr);
    TILEWRIGHT_CUDA_TRY(driver, streamSynchronize, "timing cuBLAS", nullptr);
    float milliseconds = 0;
    TILEWRIGHT_CUDA_TRY(driver, eventElapsed, "timing cuBLAS", &milliseconds, start, end);
    return double(milliseconds) / callsOfRound;
  }

  const Functions functions;
  const char *library;
  runtime::Device &device;
  std::shared_ptr<runtime::CudaContext> context;
  Handle handle = nullptr;
  EventHandle start = nullptr, end = nullptr;
};

/// The primary context of the device "cuda:N": the one that the device itself and cuBLAS use.
Expected<std::shared_ptr<runtime::CudaContext>> primaryContext(const std::string &id) {
  Expected<const Driver *> driver = Driver::open();
  TILEWRIGHT_TRY(driver);
  auto context = std::make_shared<runtime::CudaContext>(**driver);
  size_t colon = id.find(':');
  int ordinal = 0;
  if (colon != std::string::npos)
    std::from_chars(id.data() + colon + 1, id.data() + id.size(), ordinal);
  TILEWRIGHT_CUDA_TRY(**driver, deviceGet, "looking for the GPU", &context->device, ordinal);
  TILEWRIGHT_CUDA_TRY(**driver, primaryContextRetain, "opening the GPU", &context->handle, context->device);
  return context;
}

} // namespace

Expected<std::unique_ptr<VendorLibrary>> openCublas(runtime::Device &device) {
  OpenedLibrary opened = openFirst(libraries);
  if (!opened.handle)
    return Status(Code::Device,
                  fmt::format("no vendor library was found to compare products with; looked for {}, {}", libraries[0], libraries[1]));
  const char *library = libraries[opened.row], *missing = nullptr;
  Functions functions;
#define X(member, symbol, parameters)                                                                                                      \
  functions.member = reinterpret_cast<decltype(functions.member)>(dlsym(opened.handle, #symbol));                                          \
  missing = functions.member ? missing : #symbol;
  TILEWRIGHT_CUBLAS_FUNCTIONS(X)
#undef X
  if (missing)
    return Status(Code::Device, fmt::format("{} has no {} to compare products with", library, missing));
  auto context = primaryContext(device.info().id);
  TILEWRIGHT_TRY(context);
  auto cublas = std::make_unique<Cublas>(functions, library, device, std::move(*context));
  TILEWRIGHT_TRY(cublas->initialize());
  return std::unique_ptr<VendorLibrary>(std::move(cublas));
}

} // namespace tilewright
