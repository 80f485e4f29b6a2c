// SPDX-License-Identifier: Apache-2.0
// The table of device kinds, by name.
#pragma once

#include "runtime/Device.h"

namespace tilewright::runtime {

/// Opens "host", "cuda", "cuda:N", "hip", "hip:N", "null" or "null:TARGET". Code::Usage for another name, Code::Device
/// with one sentence where the driver or device is missing.
Expected<std::shared_ptr<Device>> openDevice(const std::string &id);

/// All devices of this machine, and for each absent kind the reason.
struct DeviceList {
  std::vector<DeviceInfo> found;
  std::vector<std::string> missing;
};
DeviceList listDevices();

} // namespace tilewright::runtime
