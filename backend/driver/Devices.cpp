// tilewright devices and tilewright version: what there is to run on, and what this is.
#include "backend/driver/Commands.h"

#include "runtime/Device.h"
#include "runtime/Version.h"

#include "llvm/Config/llvm-config.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

void addDevicesCommand(CLI::App &app, int &) {
  auto *command = app.add_subcommand("devices", "List the devices of this machine, and why others are missing");
  command->callback([] {
    runtime::DeviceList devices = runtime::listDevices();
    for (const runtime::DeviceInfo &device : devices.found)
      fmt::print("{:8} {} ({} processors, {:.1f} GiB), runs code for {}\n", device.id, device.name, device.processors, device.memoryBytes / 1073741824.0,
                 fmt::join(device.targets, ", "));
    for (const std::string &reason : devices.missing)
      fmt::print("missing: {}\n", reason);
  });
}

void addVersionCommand(CLI::App &app, int &) {
  auto *command = app.add_subcommand("version", "Print the versions of Tilewright and of its LLVM");
  command->callback([] { fmt::print("tilewright {} (LLVM {})\n", version(), LLVM_VERSION_STRING); });
}

} // namespace tilewright
