// The table of devices.
#include "runtime/Device.h"

#include "runtime/cuda/CudaDevice.h"
#include "runtime/host/HostDevice.h"
#include "runtime/null/NullDevice.h"

#include <charconv>
#include <fmt/format.h>

namespace tilewright::runtime {

static Expected<std::shared_ptr<Device>> openHost(const std::string &) { return openHostDevice(); }

static Expected<std::shared_ptr<Device>> openCuda(const std::string &rest) {
  int ordinal = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), ordinal);
  if (!rest.empty() && (error != std::errc() || end != rest.data() + rest.size() || ordinal < 0))
    return Status(Code::Usage, fmt::format("'{}' is no device number; write cuda:0", rest));
  return openCudaDevice(ordinal);
}

static Expected<std::shared_ptr<Device>> openNull(const std::string &rest) {
  return std::shared_ptr<Device>(std::make_shared<NullDevice>(rest.empty() ? "host" : rest));
}

static Expected<std::shared_ptr<Device>> openHip(const std::string &) {
  return Status(Code::Unsupported,
                "launching AMD code is not built yet: this version compiles for gfx targets but runs on 'host' and 'cuda'");
}

static constexpr struct {
  std::string_view kind;
  Expected<std::shared_ptr<Device>> (*open)(const std::string &rest);
  bool listed; // one of this machine's, for people
} deviceKinds[] = {
    {"host", openHost, true},
    {"cuda", openCuda, true},
    {"hip", openHip, true},
    {"null", openNull, false},
};

Status Stream::beginRecording() { return {Code::Internal, "this device records nothing"}; }
Expected<std::unique_ptr<Recording>> Stream::endRecording() { return Status(Code::Internal, "this device records nothing"); }
Status Stream::replay(Recording &) { return {Code::Internal, "this device records nothing"}; }

Expected<std::shared_ptr<Device>> openDevice(const std::string &id) {
  size_t colon = id.find(':');
  std::string kind = id.substr(0, colon), rest = colon == std::string::npos ? "" : id.substr(colon + 1);
  for (const auto &row : deviceKinds)
    if (row.kind == kind)
      return row.open(rest);
  return Status(Code::Usage, fmt::format("there is no device '{}'; expected host, cuda, cuda:N or null", id));
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
    for (int ordinal = 1; row.kind == "cuda" && (device = openCudaDevice(ordinal)).ok(); ++ordinal)
      list.found.push_back((*device)->info());
  }
  return list;
}

} // namespace tilewright::runtime
