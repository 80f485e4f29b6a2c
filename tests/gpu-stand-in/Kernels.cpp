// SPDX-License-Identifier: Apache-2.0
// The runtime's test kernels in C++, and launches.
#include "tests/gpu-stand-in/StandIn.h"

#include <cstdlib>
#include <fmt/format.h>

namespace tilewright::test::standin {

struct KernelCall {
  std::vector<uint64_t> parameters;
  unsigned grid[3];
  template <typename T> T *pointer(size_t i) const { return reinterpret_cast<T *>(parameters[i]); }
};

static void addBias(const KernelCall &call) {
  const float *x = call.pointer<float>(0), *bias = call.pointer<float>(1);
  float *y = call.pointer<float>(2);
  uint64_t columns = call.parameters[3];
  for (uint64_t i = 0; i < call.grid[0] * columns; ++i)
    y[i] = x[i] + bias[i % columns];
}

static void gatherChecked(const KernelCall &call) {
  for (unsigned i = 0; i < call.grid[0]; ++i) {
    uint64_t at = call.pointer<uint64_t>(1)[i];
    if (at >= call.parameters[3]) {
      *call.pointer<uint64_t>(5) = uint64_t(1) << 32 | call.parameters[4];
      at = 0;
    }
    call.pointer<float>(2)[i] = call.pointer<float>(0)[at];
  }
}

static void writeCoordinates(const KernelCall &call) {
  uint64_t *y = call.pointer<uint64_t>(0);
  for (uint64_t p = 0, z = 0; z < call.grid[2]; ++z)
    for (uint64_t row = 0; row < call.grid[1]; ++row)
      for (uint64_t x = 0; x < call.grid[0]; ++x, ++p, y += 4) {
        y[0] = p;
        y[1] = x;
        y[2] = row;
        y[3] = z;
      }
}

static constexpr struct {
  const char *name;
  size_t parameters;
  void (*run)(const KernelCall &);
} kernels[] = {{"addBias", 5, addBias}, {"gatherChecked", 6, gatherChecked}, {"writeCoordinates", 2, writeCoordinates}};

static std::function<Result()> workOf(const std::string &name, const unsigned (&grid)[3], void **parameters) {
  const char *faulty = std::getenv("STAND_IN_FAULT");
  bool blocking = setting("CUDA_LAUNCH_BLOCKING", 0) || setting("HIP_LAUNCH_BLOCKING", 0);
  if (faulty && name == faulty)
    return [blocking] { return world.faulted = true, blocking ? illegalAddress : success; };
  for (const auto &kernel : kernels)
    if (name == kernel.name) {
      KernelCall call = {{}, {grid[0], grid[1], grid[2]}};
      for (size_t i = 0; i < kernel.parameters; ++i)
        call.parameters.push_back(*static_cast<uint64_t *>(parameters[i])); // parameters are copied at the launch
      return [run = kernel.run, call] { return run(call), success; };
    }
  return [] { return success; };
}

Result launch(FunctionHandle function, const unsigned (&grid)[3], const unsigned (&block)[3], StreamHandle stream,
              void **parameters) {
  for (unsigned axis = 0; axis < 3; ++axis)
    if (grid[axis] == 0 || block[axis] == 0)
      return invalidValue;
  if (uint64_t(block[0]) * block[1] * block[2] > 1024 || !parameters)
    return invalidValue;
  if (Result current = deviceIsCurrent(); current != success)
    return current;
  std::function<Result()> work = workOf(function->name, grid, parameters);
  if (reinterpret_cast<uintptr_t>(stream) <= 2 || !stream->capture)
    return work();
  stream->capture->nodes.push_back(std::move(work));
  return success;
}

} // namespace tilewright::test::standin
