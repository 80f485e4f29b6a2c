// SPDX-License-Identifier: Apache-2.0
// Memory for tensors, arenas and weights on the host.
#pragma once

#include <cstddef>

namespace tilewright::runtime {

/// At least `bytes` bytes (0 is 1), 64-byte aligned, not cleared; null if out of memory. Free with std::free.
///
/// From 2 MiB on it asks for huge pages: a weight that is streamed through once (a matrix times a vector) reads about
/// twice as fast from them as from 4 KiB pages under virtualization, where a TLB miss walks two page tables (31 against
/// 16 GB/s on one Zen 5 core).
void *allocateHostMemory(size_t bytes);

} // namespace tilewright::runtime
