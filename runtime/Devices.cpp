// SPDX-License-Identifier: Apache-2.0
// The table of devices.
#include "runtime/Devices.h"

#include "runtime/gpu/GpuDevice.h"
#include "runtime/host/HostDevice.h"
#include "runtime/null/NullDevice.h"

#include <charconv>
#include <fmt/format.h>

namespace tilewright::runtime {

static Expected<std::shared_ptr<Device>> openHost(const std::string &) { return openHostDevice(); }

template <Expected<std::shared_ptr<Device>> (*open)(int ordinal)>
static Expected<std::shared_ptr<Device>> openNumbered(const std::string &rest) {
  int ordinal = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), ordinal);
  if (!rest.empty() && (error != std::errc() || end != rest.data() + rest.size() || ordinal < 0))
    return Status(Code::Usage, fmt::format("'{}' is no device number; write cuda:0 or hip:0", rest));
  return open(ordinal);
}

static Expected<std::shared_ptr<Device>> openNull(const std::string &rest) {
  return std::shared_ptr<Device>(std::make_shared<NullDevice>(rest.empty() ? "host" : rest));
}

static constexpr struct {
  std::string_view kind;
  Expected<std::shared_ptr<Device>> (*open)(const std::string &rest);
  bool listed; // by `tilewright devices`
} deviceKinds[] = {
    {"host", openHost, true},
    {"cuda", openNumbered<openCudaDevice>, true},
    {"hip", openNumbered<openHipDevice>, true},
    {"null", openNull, false},
};

Expected<std::shared_ptr<Device>> openDevice(const std::string &id) {
  size_t colon = id.find(':');
  std::string kind = id.substr(0, colon), rest = colon == std::string::npos ? "" : id.substr(colon + 1);
  for (const auto &row : deviceKinds)
    if (row.kind == kind)
      return row.open(rest);
  return Status(Code::Usage,
                fmt::format("there is no device '{}'; expected host, cuda, cuda:N, hip, hip:N or null", id));
}

DeviceList listDevices() {
  DeviceList list;
  for (const auto &row : deviceKinds) {
    if (!row.listed)
      continue;
    Expected<std::shared_ptr<Device>> device = row.open("");
    if (!device) {
      list.missing.push_back(fmt::format("{}: {}", row.kind, device.status().message()));
      continue;
    }
    list.found.push_back((*device)->info());
    for (int ordinal = 1; row.kind != "host" && (device = row.open(std::to_string(ordinal))).ok(); ++ordinal)
      list.found.push_back((*device)->info());
  }
  return list;
}

} // namespace tilewright::runtime
