// SPDX-License-Identifier: Apache-2.0
// Makes the plan of a kernel (KernelPlan.h) from its tile operations. No code is emitted.
#pragma once

#include "backend/host/HostOptions.h"
#include "backend/host/plan/KernelPlan.h"
#include "runtime/Status.h"

namespace tilewright::host {

/// Fails with Code::Unsupported for operations that no program of this backend can run.
Expected<KernelPlan> planKernel(tile::KernelOp kernel, const VectorUnit &vectors);

} // namespace tilewright::host
