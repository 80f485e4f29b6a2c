// SPDX-License-Identifier: Apache-2.0
// Opens a driver's library and looks up its functions.
#include "runtime/gpu/Driver.h"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>

namespace tilewright::runtime::gpu {

Status Driver::encode(const TensorMapArgs &, const std::string &kernel, void *) const {
  return {Code::Device,
          fmt::format("kernel '{}' copies by an engine that {}'s GPUs do not have; compile again for this GPU", kernel,
                      vendor.name)};
}

Status Driver::check(Result result, const char *symbol, const std::string &what) const {
  if (result == success)
    return {};
  const char *name = nameOf(result), *text = textOf(result);
  return {Code::Device, fmt::format("{} failed with {} ({}) while {}", symbol, name ? name : std::to_string(result),
                                    text ? text : "unknown to this driver", what)};
}

const char *Driver::findFunctions(void *library) {
  const char *missing = nullptr;
#define X(member, cuda, hip, parameters)                                                                               \
  member = reinterpret_cast<decltype(member)>(::dlsym(library, symbols.member));                                       \
  missing = member ? missing : symbols.member;
  TILEWRIGHT_GPU_FUNCTIONS(X)
#undef X
  return missing;
}

Status openDriver(Driver &driver, std::span<const char *const> libraries, const char *leastVersion,
                  const char *advice) {
  void *library = nullptr;
  std::string why; // of the first name; the others are alternative spellings
  for (size_t i = 0; i < libraries.size() && !library; ++i) {
    library = ::dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    const char *error = library ? nullptr : ::dlerror();
    why = why.empty() && error ? error : why;
  }
  if (!library)
    return {Code::Device,
            fmt::format("there is no {} driver on this machine ({}); {}", driver.vendor.name, why, advice)};
  if (const char *missing = driver.findFunctions(library))
    return {Code::Device, fmt::format("this machine's {} driver has no {}; {} or newer is needed", driver.vendor.name,
                                      missing, leastVersion)};
  TILEWRIGHT_GPU_TRY(driver, init, fmt::format("starting the {} driver", driver.vendor.name), 0);
  TILEWRIGHT_GPU_TRY(driver, getVersion, "asking for the driver's version", &driver.version);
  return {};
}

Context::~Context() {
  if (retained)
    driver.release(*this);
}

Expected<std::shared_ptr<void>> Context::allocatePinned(size_t bytes) {
  TILEWRIGHT_GPU_ENTER(*this);
  void *memory = nullptr;
  TILEWRIGHT_GPU_TRY(driver, memAllocHost, fmt::format("allocating {} bytes of pinned host memory", bytes), &memory,
                     std::max<size_t>(bytes, 1), 0);
  return std::shared_ptr<void>(memory, [context = shared_from_this()](void *pinned) {
    Scope freeing(*context);
    context->driver.memFreeHost(pinned);
  });
}

} // namespace tilewright::runtime::gpu
