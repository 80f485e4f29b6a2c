// GPUs through their vendor's driver, which is opened at run time: one binary serves machines with and without it.
#pragma once

#include "runtime/gpu/Driver.h"

namespace tilewright::runtime {

/// Device number `ordinal`, or Code::Device with what is missing: the driver's library, a GPU, or that many of them.
Expected<std::shared_ptr<Device>> openCudaDevice(int ordinal);
Expected<std::shared_ptr<Device>> openHipDevice(int ordinal);

/// The driver of "cuda:N" or "hip:N", and that GPU's context: what a vendor's library works in beside the device.
Expected<std::shared_ptr<gpu::Context>> openGpuContext(const gpu::Driver &driver, int ordinal);

} // namespace tilewright::runtime
