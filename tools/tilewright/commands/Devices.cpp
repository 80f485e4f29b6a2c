// SPDX-License-Identifier: Apache-2.0
// tilewright devices and tilewright version.
#include "tools/tilewright/Json.h"
#include "tools/tilewright/commands/Commands.h"

#include "runtime/Devices.h"
#include "runtime/Version.h"
#include "runtime/artifact/Format.h"

#include "llvm/Config/llvm-config.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tilewright {

static void printDevices(const runtime::DeviceList &devices) {
  for (const runtime::DeviceInfo &device : devices.found)
    fmt::print("{:8} {} ({} processors, {:.1f} GiB), runs code for {}\n", device.id, device.name, device.processors,
               device.memoryBytes / 1073741824.0, fmt::join(device.targets, ", "));
  for (const std::string &reason : devices.missing)
    fmt::print("missing: {}\n", reason);
}

static nlohmann::json jsonDevices(const runtime::DeviceList &devices) {
  nlohmann::json json = {{"schema", jsonSchema}, {"devices", nlohmann::json::array()}, {"missing", devices.missing}};
  for (const runtime::DeviceInfo &device : devices.found)
    json["devices"].push_back({{"id", device.id},
                               {"name", device.name},
                               {"processors", device.processors},
                               {"memory_bytes", device.memoryBytes},
                               {"driver", device.driver},
                               {"targets", device.targets}});
  return json;
}

void addDevicesCommand(CLI::App &app, int &) {
  auto *command = app.add_subcommand("devices", "List the devices of this machine, and why others are missing");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  command->callback([json] {
    runtime::DeviceList devices = runtime::listDevices();
    if (*json)
      fmt::print("{}\n", toText(jsonDevices(devices), 2));
    else
      printDevices(devices);
  });
}

void addVersionCommand(CLI::App &app, int &) {
  auto *command = app.add_subcommand(
      "version", "Print the versions of Tilewright, of its LLVM and of the artifacts that it writes");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  command->callback([json] {
    std::string artifact = fmt::format("{}.{}", runtime::format::majorVersion, runtime::format::minorVersion);
    if (*json)
      fmt::print("{}\n", toText(nlohmann::json{{"schema", jsonSchema},
                                               {"tilewright", version()},
                                               {"llvm", LLVM_VERSION_STRING},
                                               {"artifact", artifact}},
                                2));
    else
      fmt::print("tilewright {} (LLVM {}), artifact version {}\n", version(), LLVM_VERSION_STRING, artifact);
  });
}

} // namespace tilewright
