// NVIDIA GPUs through the driver, which is opened at run time: one binary serves machines with and without it.
#pragma once

#include "runtime/Device.h"

namespace tilewright::runtime {

/// The names of the targets whose code a GPU of this compute capability (90 for 9.0) runs, best first.
std::vector<std::string> cudaTargets(int capability);

/// Device number `ordinal`, or Code::Device with what is missing: the driver's library, a GPU, or that many of them.
Expected<std::shared_ptr<Device>> openCudaDevice(int ordinal);

} // namespace tilewright::runtime
