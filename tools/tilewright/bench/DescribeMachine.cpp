// SPDX-License-Identifier: Apache-2.0
// Describes the machine of a measurement, and times the vendor's library.
#include "tools/tilewright/bench/BenchReport.h"

#include "runtime/Version.h"
#include "runtime/execute/ThreadPool.h"

#include <fmt/format.h>
#include <fstream>
#include <map>

namespace tilewright {

/// The processor's name in /proc/cpuinfo.
static std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown";
}

std::vector<std::pair<std::string, std::string>> describeMachine(const runtime::DeviceInfo &device) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"device", fmt::format("{} ({})", device.name, device.id)},
      {"memory", fmt::format("{:.1f} GiB", device.memoryBytes / 1073741824.0)},
      {"processors", std::to_string(device.processors)},
  };
  if (!device.driver.empty())
    facts.emplace_back("driver", device.driver);
  facts.emplace_back("host processor", processorName());
  if (device.hostMemory)
    facts.emplace_back("threads", std::to_string(runtime::ThreadPool::instance().threads()));
  facts.emplace_back("tilewright", version());
  return facts;
}

Status timeVendor(runtime::Device &device, BenchReport &report) {
  auto library = openVendorLibrary(device);
  if (!library) {
    report.vendorAbsent = library.status().message();
    return {};
  }
  report.vendor = (*library)->name();
  std::map<ProductSize, double> known;
  for (GroupRow &row : report.groups) {
    double sum = 0;
    bool has = !row.products.empty();
    for (const ProductSize &size : row.products)
      has &= (*library)->has(size);
    for (size_t i = 0; has && i < row.products.size(); ++i) {
      auto [entry, isNew] = known.try_emplace(row.products[i], 0);
      if (isNew) {
        Expected<double> time = (*library)->time(row.products[i]);
        TILEWRIGHT_TRY(time);
        entry->second = *time;
      }
      sum += entry->second;
    }
    if (has)
      row.vendorMs = sum;
  }
  return {};
}

} // namespace tilewright
