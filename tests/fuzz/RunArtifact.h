// Opens the bytes of an artifact whose checksums are wrong for being mutated, and runs what loads.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <span>

namespace tilewright::test {

/// Writes the right checksums over those in `bytes`, opens it, and runs its plans on the null device, and on the host
/// where they have no code of their own (a mutated plan may call good code with wrong sizes, against which nothing but
/// trust in the artifact helps). Sizes of run-time symbols are small. What a mutation makes of an artifact is refused
/// by a sentence or runs.
Status openAndRun(std::span<const std::byte> bytes);

} // namespace tilewright::test
