// SPDX-License-Identifier: Apache-2.0
// The kernels themselves, and the bytes they compile to.
#include "tests/runtime/TestKernels.h"

using tilewright::HostKernelArgs;

// The optimizer could turn a loop into a call of memset or memcpy, which is outside of the section.
#pragma clang optimize off

/// y[row, :] = x[row, :] + bias; buffers x, bias, y; scalar: columns. A program is a row.
TEST_KERNEL addBias(const HostKernelArgs *args, int64_t first, int64_t last) {
  const float *x = static_cast<const float *>(args->buffers[0]);
  const float *bias = static_cast<const float *>(args->buffers[1]);
  float *y = static_cast<float *>(args->buffers[2]);
  int64_t columns = args->scalars[0];
  for (int64_t row = first; row < last; ++row)
    for (int64_t column = 0; column < columns; ++column)
      y[row * columns + column] = x[row * columns + column] + bias[column];
}

/// y = table[index]; buffers table, index, y; scalars: table length, fault sentence. A program is an element.
TEST_KERNEL gatherChecked(const HostKernelArgs *args, int64_t first, int64_t last) {
  const float *table = static_cast<const float *>(args->buffers[0]);
  const int64_t *index = static_cast<const int64_t *>(args->buffers[1]);
  float *y = static_cast<float *>(args->buffers[2]);
  for (int64_t i = first; i < last; ++i) {
    int64_t at = index[i];
    if (at < 0 || at >= args->scalars[0]) {
      *args->errorWord = uint64_t(1) << 32 | static_cast<uint64_t>(args->scalars[1]);
      at = 0;
    }
    y[i] = table[at];
  }
}

/// Writes each program's number and its coordinates, copied through the workspace: y[p] = (p, x, y, z). Buffer y.
TEST_KERNEL writeCoordinates(const HostKernelArgs *args, int64_t first, int64_t last) {
  int64_t *y = static_cast<int64_t *>(args->buffers[0]);
  int64_t *scratch = static_cast<int64_t *>(args->workspace);
  for (int64_t p = first; p < last; ++p) {
    scratch[0] = p % args->grid[0];
    scratch[1] = p / args->grid[0] % args->grid[1];
    scratch[2] = p / (args->grid[0] * args->grid[1]);
    y[4 * p] = p;
    y[4 * p + 1] = scratch[0];
    y[4 * p + 2] = scratch[1];
    y[4 * p + 3] = scratch[2];
  }
}

/// y = x + a counter, which is 0 again afterwards, unless x is negative: then the kernel stops halfway, with fault
/// number 0. Buffers x, counter, y.
TEST_KERNEL addCounter(const HostKernelArgs *args, int64_t, int64_t) {
  float x = *static_cast<const float *>(args->buffers[0]);
  int32_t *counter = static_cast<int32_t *>(args->buffers[1]);
  *static_cast<float *>(args->buffers[2]) = x + static_cast<float>(*counter);
  *counter += 1;
  if (x < 0)
    *args->errorWord = uint64_t(2) << 32;
  else
    *counter = 0;
}

/// Writes HostKernelArgs::fetchAhead. Buffer y.
TEST_KERNEL writeFetchAhead(const HostKernelArgs *args, int64_t, int64_t) {
  *static_cast<int64_t *>(args->buffers[0]) = args->fetchAhead;
}

#pragma clang optimize on

extern "C" const std::byte __start_tw_test_kernels[], __stop_tw_test_kernels[];

namespace tilewright::runtime {

CodeObject testKernels() {
  auto offset = [](tilewright::HostKernel kernel) {
    return static_cast<uint64_t>(reinterpret_cast<const std::byte *>(kernel) - __start_tw_test_kernels);
  };
  CodeObject code;
  code.kind = CodeKind::HostX86;
  code.target = "host";
  code.symbols = {{"addBias", offset(addBias)},
                  {"gatherChecked", offset(gatherChecked)},
                  {"writeCoordinates", offset(writeCoordinates)},
                  {"addCounter", offset(addCounter)},
                  {"writeFetchAhead", offset(writeFetchAhead)}};
  code.bytes = {__start_tw_test_kernels, static_cast<size_t>(__stop_tw_test_kernels - __start_tw_test_kernels)};
  return code;
}

} // namespace tilewright::runtime
