// SPDX-License-Identifier: Apache-2.0
// Repairs the checksums of a mutated artifact, opens it, and runs it if it loads.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <span>

namespace tilewright::test {

/// Corrects the checksums in `bytes`, opens the artifact, and runs its plans on the null device, and on the host if
/// they have no code (a mutated plan may call correct code with wrong sizes, which nothing can detect). Symbolic sizes
/// are small. A mutated artifact must be refused by a sentence, or run.
Status openAndRun(std::span<const std::byte> bytes);

} // namespace tilewright::test
