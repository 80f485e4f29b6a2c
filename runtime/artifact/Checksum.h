// SPDX-License-Identifier: Apache-2.0
// The checksums of an artifact's sections (Format.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tilewright::runtime {

/// XXH3-64 of `bytes`.
uint64_t hashBytes(std::span<const std::byte> bytes);

/// XXH3-64 of the list of the XXH3-64s of the section's chunks; large sections are hashed by several threads.
uint64_t sectionChecksum(std::span<const std::byte> section);

} // namespace tilewright::runtime
