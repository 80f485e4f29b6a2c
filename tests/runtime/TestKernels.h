// SPDX-License-Identifier: Apache-2.0
// Host kernels for the runtime's tests, which do not link the compiler.
//
// They are ordinary functions placed in a section of their own; the linker names that section's ends, and its bytes are
// a code object: each function is freestanding and position-independent, as KernelAbi.h asks, because it calls nothing
// and uses no constant from memory.
#pragma once

#include "runtime/Device.h"
#include "runtime/plan/KernelAbi.h"
#include "runtime/plan/Plan.h"

#define TEST_KERNEL                                                                                                    \
  extern "C" __attribute__((section("tw_test_kernels"), used, noinline, no_sanitize("address", "undefined"),           \
                            no_stack_protector)) void

namespace tilewright::runtime {

/// The bytes of all test kernels, with a symbol for each.
CodeObject testKernels();

/// The same kernels as PTX for sm_80 and later, for blocks of any size; without writeFetchAhead, as every GPU's are.
CodeObject testKernelsPtx();

/// The same kernels for `device`; for AMD's GPUs from files that the build compiles from TestKernels.ll.
CodeObject testKernelsFor(const DeviceInfo &device);

} // namespace tilewright::runtime
