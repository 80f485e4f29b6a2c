// SPDX-License-Identifier: Apache-2.0
// The host as a device: code copied from the artifact into executable memory, programs spread over the thread pool.
#pragma once

#include "runtime/Device.h"

namespace tilewright::runtime {

Expected<std::shared_ptr<Device>> openHostDevice();

} // namespace tilewright::runtime
