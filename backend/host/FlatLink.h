// SPDX-License-Identifier: Apache-2.0
// Links one relocatable x86-64 object into a flat block of bytes that runs wherever it is mapped.
#pragma once

#include "runtime/Status.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cstdint>
#include <vector>

namespace tilewright::host {

inline constexpr uint64_t imageAlignment = 64; // of sections, and of an image wherever it is mapped

struct FlatImage {
  std::vector<char> bytes;
  llvm::StringMap<uint64_t> symbols; // defined functions, as offsets
};

/// Lays the object's code and constants out one after another and applies its PC-relative relocations. An undefined
/// symbol, writable data or another kind of relocation is our own bug: Code::Internal, naming it.
Expected<FlatImage> linkFlat(llvm::MemoryBufferRef object);

} // namespace tilewright::host
