// SPDX-License-Identifier: Apache-2.0
// What is faster on one make of processor and slower on another: decided where a kernel runs, as an artifact may have
// been compiled elsewhere.
#pragma once

#include <cstdint>

namespace tilewright::runtime {

/// HostKernelArgs::fetchAhead for this machine, in bytes.
int64_t weightFetchDistance();

} // namespace tilewright::runtime
