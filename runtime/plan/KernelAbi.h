// SPDX-License-Identifier: Apache-2.0
// How compiled kernels are called. The compiler emits code against this file; changing it is a new major version of the
// artifact.
//
// Host and GPU kernels get buffers, then i64 scalars, then the error word to report a fault in:
//   - A buffer is the address of its first byte. Inputs, outputs, constants and temporaries start at a multiple of 64
//     bytes (an alias at its root plus the plan's byte offset). A buffer of zero bytes has some address, which must
//     not be dereferenced.
//   - A zeroed buffer (ValueKind::Zeroed) holds zeros when a kernel starts; the kernel must leave it so.
//   - Buffers that one launch writes overlap no other buffer of that launch, unless the plan names the same bytes
//     twice.
//   - An index that a kernel takes from data is checked by the kernel. A bad one writes `(code << 32) | index` to the
//     error word, where `code` is a Fault and `index` selects a sentence of Plan::faults, and continues with a valid
//     index. Of several faults any one may be reported. The word is read at the end of the run.
//
// Host: `extern "C" void entry(const HostKernelArgs *, int64_t first, int64_t last)` runs programs [first, last) of the
// grid, linearized with x fastest: program p is x = p % grid[0], y = p / grid[0] % grid[1], z = p / (grid[0] *
// grid[1]). Any split of the range over threads gives the same bytes. Code is freestanding and position-independent: it
// calls nothing outside itself, holds no writable data, and needs the CPU features that the plan lists.
//
// GPU: the kernel's parameters are, in order, one 64-bit global pointer for each buffer, one i64 for each scalar, the
// 64-bit pointer of the error word, and by value the launch's tensor maps, as the driver encodes them. Block, cluster
// and shared memory come from the plan's Kernel, the grid from its Launch. A kernel with the flag startsEarly may be
// launched so that it begins before the kernels ahead of it in its stream have ended: it waits for their end, and for
// what they wrote, before it reads anything but constants or writes (PTX ISA, "griddepcontrol").
#pragma once

#include <cstdint>

namespace tilewright {

/// Size and alignment of an encoded tensor map (CUDA Driver API, "CUtensorMap").
inline constexpr uint64_t tensorMapBytes = 128, tensorMapAlignment = 64;

struct HostKernelArgs {
  void *const *buffers;
  const int64_t *scalars;
  const int64_t *grid; // three extents
  void *workspace;     // scratch memory of this thread: the launch's workspaceBytes, 64-byte aligned, not cleared
  uint64_t *errorWord;
  int64_t fetchAhead; // how far ahead of its reads, in bytes, a product prefetches its weights; 0: not ahead
};

using HostKernel = void (*)(const HostKernelArgs *args, int64_t firstProgram, int64_t lastProgram);

/// What went wrong in a kernel; upper half of the error word. 0 means that nothing did.
enum class Fault : uint32_t {
  IndexOutOfRange = 1,
  GuardFailed = 2,
};

constexpr uint64_t errorWordOf(Fault fault, uint32_t sentence) { return uint64_t(fault) << 32 | sentence; }

} // namespace tilewright
