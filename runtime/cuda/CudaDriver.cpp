// Opening libcuda.so.1 and finding its symbols.
#include "runtime/cuda/CudaDriver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mutex>
#include <string_view>

namespace tilewright::runtime::cuda {

static const char *symbolOf(std::string_view member) {
#define X(itsMember, symbol, parameters)                                                                                                   \
  if (member == #itsMember)                                                                                                                \
    return #symbol;
  TILEWRIGHT_CUDA_FUNCTIONS(X)
#undef X
  return "a CUDA call";
}

Status Driver::check(Result result, const char *call, const std::string &what) const {
  if (result == success)
    return {};
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return {Code::Device, fmt::format("{} failed with {} ({}) while {}", symbolOf(call), name ? name : std::to_string(result),
                                    text ? text : "unknown to this driver", what)};
}

static Status load(Driver &driver) {
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = ::dlerror();
    return {Code::Device, fmt::format("there is no NVIDIA driver on this machine ({}); install it, or run on the device 'host'",
                                      why ? why : "libcuda.so.1")};
  }
  const char *missing = nullptr;
#define X(member, symbol, parameters)                                                                                                      \
  driver.member = reinterpret_cast<decltype(driver.member)>(::dlsym(library, #symbol));                                                    \
  missing = driver.member ? missing : #symbol;
  TILEWRIGHT_CUDA_FUNCTIONS(X)
#undef X
  if (missing)
    return {Code::Device, fmt::format("this machine's NVIDIA driver has no {}; CUDA 11.8 or newer is needed", missing)};
  TILEWRIGHT_CUDA_TRY(driver, init, "starting the NVIDIA driver", 0);
  return driver.check(driver.driverGetVersion(&driver.version), "driverGetVersion", "asking for the driver's version");
}

Expected<const Driver *> Driver::open() {
  static std::mutex mutex;
  static Driver driver; // never closed: contexts of other libraries in this process use it too
  static bool ready = false;
  std::scoped_lock lock(mutex);
  if (!ready) {
    driver = Driver();
    TILEWRIGHT_TRY(load(driver));
    ready = true;
  }
  return &driver;
}

} // namespace tilewright::runtime::cuda
