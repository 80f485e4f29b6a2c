// SPDX-License-Identifier: Apache-2.0
// Arithmetic on the addresses of a plan's values.
#pragma once

#include "runtime/artifact/Format.h"

#include <cstddef>
#include <cstdint>

namespace tilewright::runtime {

inline std::byte *advance(void *base, uint64_t offset) { return static_cast<std::byte *>(base) + offset; }

/// Whether kernels may use memory at this address for a value (KernelAbi.h).
inline bool isAligned(const void *address) { return reinterpret_cast<uintptr_t>(address) % format::alignment == 0; }

} // namespace tilewright::runtime
