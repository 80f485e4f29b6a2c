// SPDX-License-Identifier: Apache-2.0
// GPUs through their vendor's driver, opened at run time, so that one binary serves machines with and without it.
#pragma once

#include "runtime/gpu/Driver.h"

namespace tilewright::runtime {

/// Device number `ordinal`. Code::Device if the driver's library or that device is missing.
Expected<std::shared_ptr<Device>> openCudaDevice(int ordinal);
Expected<std::shared_ptr<Device>> openHipDevice(int ordinal);

/// The context of GPU number `ordinal`, for a vendor's library that runs beside the device.
Expected<std::shared_ptr<gpu::Context>> openGpuContext(const gpu::Driver &driver, int ordinal);

} // namespace tilewright::runtime
