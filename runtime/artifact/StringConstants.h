// SPDX-License-Identifier: Apache-2.0
// Strings in the pool of constants: for each a u32 length, then that many bytes.
#pragma once

#include "runtime/Tensor.h"

#include <span>
#include <string>

namespace tilewright::runtime {

std::vector<std::byte> encodeStrings(const Tensor &strings);

/// Whether `bytes` are exactly `count` encoded strings.
bool countsStrings(std::span<const std::byte> bytes, uint64_t count);

/// Decodes an entry that `countsStrings` accepts.
Tensor decodeStrings(std::span<const std::byte> bytes, Shape shape);

} // namespace tilewright::runtime
