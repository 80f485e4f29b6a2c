// SPDX-License-Identifier: Apache-2.0
// Settings that are faster on one make of processor and slower on another. They are chosen where a kernel runs, because
// the artifact may have been compiled on another machine.
#pragma once

#include <cstdint>

namespace tilewright::runtime {

/// HostKernelArgs::fetchAhead for this machine, in bytes.
int64_t weightFetchDistance();

} // namespace tilewright::runtime
