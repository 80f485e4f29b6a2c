// SPDX-License-Identifier: Apache-2.0
// tilewright-device-check FOLDER [--device cuda:0|hip:0] [--expect-failures] [--only TEXT] [--small] [--shard I N]
// runs the cases that tilewright-device-cases compiled, and checks their outputs. Most of the time goes into the
// driver's compiler and the expected outputs, both on one core: several processes with a shard each are faster.
//
// Exit code 0: all passed, and, where all were run at once, each family, type, layout and edge has its quota of cases.
// With --expect-failures (the folder has an injected fault): 0 if some case ran and was wrong.
#include "tests/device/CaseRun.h"

#include "runtime/Devices.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;

/// The least number of cases that must pass, by family, type, layout or edge.
// clang-format off
static const std::map<std::string, int> quotas = {
    {"family pointwise", 60}, {"family row reduction", 60}, {"family clustered rows", 50},
    {"family matmul", 150}, {"family gemv", 40},
    {"family conv", 12}, {"family window", 12}, {"family gather", 15}, {"family attention", 20},
    {"family shared sums", 30}, {"family clustered sums", 60}, {"family split keys", 20},
    {"family paired products", 20}, {"family gated steps", 15}, {"family pixels", 20},
    {"family sliding window", 25}, {"family steps", 10},
    {"type f32", 50}, {"type f16", 60}, {"type bf16", 50}, {"type f64", 20}, {"type i64", 10}, {"type i32", 10},
    {"type i8", 10},
    {"layout NN", 30}, {"layout NT", 15}, {"layout TN", 15}, {"layout TT", 15}, {"layout transposed", 10},
    {"layout broadcast", 15}, {"layout run-time sizes", 12},
    {"edge size 0", 3}, {"edge size 1", 20}, {"edge prime", 40}, {"edge power of two", 40},
    {"edge beside a power of two", 40}, {"edge over 65535 blocks", 5}};
// clang-format on

static Expected<std::vector<std::byte>> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status(Code::Io, "cannot read " + path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  auto *bytes = reinterpret_cast<const std::byte *>(text.data());
  return std::vector<std::byte>(bytes, bytes + text.size());
}

/// The tensor maps of a case's kernel, as tilewright-device-cases wrote them.
static std::vector<runtime::TensorMapArgs> mapsOf(const DeviceCase &c, const nlohmann::json &row,
                                                  const std::vector<void *> &addresses) {
  std::vector<runtime::TensorMapArgs> maps;
  for (const nlohmann::json &entry : row.value("maps", nlohmann::json::array())) {
    size_t buffer = entry.at("buffer");
    auto &map = maps.emplace_back(addresses[buffer], c.buffers[buffer].type, entry.at("sizes").size(),
                                  entry.at("start").get<int64_t>());
    std::ranges::copy(entry.at("sizes").get<std::vector<int64_t>>(), map.sizes.begin());
    std::ranges::copy(entry.at("strides").get<std::vector<int64_t>>(), map.strides.begin());
    std::ranges::copy(entry.at("box").get<std::vector<uint32_t>>(), map.box.begin());
    map.rounded = entry.at("rounded");
    map.arePixels = !entry.at("lower").empty();
    std::ranges::copy(entry.at("lower").get<std::vector<int32_t>>(), map.lower.begin());
    std::ranges::copy(entry.at("upper").get<std::vector<int32_t>>(), map.upper.begin());
    std::ranges::copy(entry.at("steps").get<std::vector<int32_t>>(), map.steps.begin());
  }
  return maps;
}

/// The memory that a case's kernel takes behind its buffers.
static Expected<std::vector<std::shared_ptr<void>>> allocateWorkspaces(runtime::Device &device, runtime::Stream &stream,
                                                                       const nlohmann::json &row) {
  std::vector<std::shared_ptr<void>> workspaces;
  for (const nlohmann::json &entry : row.value("workspaces", nlohmann::json::array())) {
    size_t bytes = entry.at("bytes");
    auto allocated = device.allocate(bytes);
    if (!allocated)
      return allocated.status();
    if (Status status = stream.fill(allocated->get(), entry.at("zeroed").get<bool>() ? 0 : 0xff, bytes); !status)
      return status;
    workspaces.push_back(*allocated);
  }
  return workspaces;
}

/// Runs one case. The string is what is wrong with it, which may be that the device stopped its kernel. A Status says
/// why there is nothing to judge.
static Expected<std::string> runCase(runtime::Device &device, runtime::Stream &stream, const DeviceCase &c,
                                     const nlohmann::json &row, const std::string &target, const std::string &folder) {
  bool amd = target.starts_with("gfx");
  auto bytes = readFile(folder + "/" + c.name + (amd ? ".hsaco" : ".ptx"));
  if (!bytes)
    return bytes.status();
  auto module = device.loadModule({amd ? runtime::CodeKind::Hsaco : runtime::CodeKind::Ptx, target, {}, *bytes});
  if (!module)
    return module.status();
  runtime::Kernel kernel;
  kernel.name = kernel.entry = "k";
  kernel.code = 0;
  for (size_t b = 0; b < c.buffers.size(); ++b)
    kernel.buffers.push_back(b + 1 < c.buffers.size() ? runtime::BufferAccess::Read : runtime::BufferAccess::Write);
  kernel.scalars = c.scalars.size();
  kernel.block = {row.at("threads").get<uint32_t>(), 1, 1};
  kernel.cluster = {row.at("cluster").get<uint32_t>(), 1, 1};
  kernel.dynamicSharedBytes = row.at("shared").get<uint32_t>();
  kernel.staticSharedBytes = row.at("static shared").get<uint32_t>();
  auto handle = (*module)->kernel(kernel);
  if (!handle)
    return handle.status();

  std::vector<CaseBuffer> memory = makeBuffers(c);
  std::vector<std::shared_ptr<void>> owners;
  std::vector<void *> addresses;
  for (const CaseBuffer &buffer : memory) {
    auto allocated = device.allocate(buffer.bytes.size());
    if (!allocated)
      return allocated.status();
    owners.push_back(*allocated);
    if (Status status = stream.copyIn(allocated->get(), buffer.bytes.data(), buffer.bytes.size()); !status)
      return status;
    addresses.push_back(static_cast<std::byte *>(allocated->get()) + CaseBuffer::guard);
  }
  auto workspaces = allocateWorkspaces(device, stream, row);
  if (!workspaces)
    return workspaces.status();
  for (const std::shared_ptr<void> &workspace : *workspaces) {
    addresses.push_back(workspace.get());
    kernel.buffers.push_back(runtime::BufferAccess::Write);
  }
  std::array<int64_t, 3> grid = row.value("grid", c.grid);
  std::vector<runtime::TensorMapArgs> maps = mapsOf(c, row, addresses);
  if (grid[0] && grid[1] && grid[2])
    if (Status status = stream.launch({*handle, &kernel, addresses, c.scalars, maps, grid, 0}); !status)
      return status;
  auto errorWord = stream.synchronize();
  if (!errorWord)
    return errorWord.status().message();
  CaseBuffer &output = memory.back();
  if (Status status = stream.copyOut(output.bytes.data(), owners.back().get(), output.bytes.size()); !status)
    return status;
  if (auto done = stream.synchronize(); !done)
    return done.status();
  return verdict(c, output, *errorWord);
}

using Counts = std::map<std::string, std::pair<int, int>>; // by family, type, layout or edge: passed, all

/// Prints how many cases passed. True if all cases ran and a quota was missed.
static bool missesQuota(const Counts &counts, bool all) {
  bool misses = false;
  for (auto &[key, count] : counts) {
    auto quota = quotas.find(key);
    bool missed = all && quota != quotas.end() && count.first < quota->second;
    misses |= missed;
    fmt::print("{:32} {:4} of {:4} passed{}\n", key, count.first, count.second,
               missed ? fmt::format(", expected at least {}", quota->second) : "");
  }
  for (auto &[key, least] : quotas)
    if (all && !counts.contains(key)) {
      fmt::print("{:32} no case, expected at least {}\n", key, least);
      misses = true;
    }
  return misses;
}

struct Options {
  std::string folder, device, only;
  bool expectsFailures = false, onlySmall = false, isVerbose = false;
  std::pair<size_t, size_t> shard = {0, 1};

  bool areAll() const { return only.empty() && !onlySmall && shard.second == 1; }
};

/// Runs the chosen cases of those in `list`. False if the device fails, which says nothing about the rest. If failures
/// are expected, `failed` counts cases that ran and were wrong: code that does not load has not seen a fault.
static bool runCases(const Options &options, runtime::Device &device, runtime::Stream &stream,
                     const nlohmann::json &list, Counts &counts, int &failed) {
  std::map<std::string, nlohmann::json> rows;
  for (auto &row : list.at("cases"))
    rows[row.at("name")] = row;
  size_t number = 0;
  for (const DeviceCase &c : deviceCases()) {
    if (!rows.contains(c.name) || c.name.find(options.only) == std::string::npos || (options.onlySmall && !c.small) ||
        number++ % options.shard.second != options.shard.first)
      continue;
    if (options.isVerbose)
      fmt::print(stderr, "{}\n", c.name);
    Expected<std::string> result = runCase(device, stream, c, rows[c.name], list.at("target"), options.folder);
    std::string wrong = result ? *result : result.status().message();
    failed += options.expectsFailures ? result && !wrong.empty() : !wrong.empty();
    if (!wrong.empty())
      fmt::print("{} {}: {}\n", options.expectsFailures && result ? "saw the fault" : "FAILED", c.name, wrong);
    for (const std::string &key :
         {"family " + c.family, "type " + typeText(c.type), "layout " + c.layout, "edge " + c.edge}) {
      counts[key].first += wrong.empty();
      ++counts[key].second;
    }
    if (!result && result.status().code() == Code::Device)
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs compiled device cases and judges them.");
  app.add_option("FOLDER", options.folder)->required();
  app.add_option("--device", options.device, "cuda:N or hip:N; number 0 of the kind that the code is for, if absent");
  app.add_option("--only", options.only, "only cases whose name contains this");
  app.add_option("--shard", options.shard, "I N: only every Nth of them, from the Ith on (counted from 0)");
  app.add_flag("--small", options.onlySmall, "only the small cases, for an emulator's slower ways of looking");
  app.add_flag("--verbose", options.isVerbose, "name each case before it runs, so that one that does not end is known");
  app.add_flag("--expect-failures", options.expectsFailures);
  CLI11_PARSE(app, argc, argv);
  if (auto [number, count] = options.shard; number >= count) {
    fmt::print(stderr, "--shard: expected I less than N, got {} {}\n", number, count);
    return 2;
  }

  std::ifstream file(options.folder + "/cases.json");
  nlohmann::json list = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (options.device.empty() && !list.is_discarded())
    options.device = list.at("target").get<std::string>().starts_with("gfx") ? "hip:0" : "cuda:0";
  auto device = runtime::openDevice(options.device);
  if (list.is_discarded() || !device) {
    fmt::print(stderr, "{}\n", device ? "cannot read " + options.folder + "/cases.json" : device.status().message());
    return device ? 6 : 5;
  }
  auto stream = (*device)->createStream();
  if (!stream) {
    fmt::print(stderr, "{}\n", stream.status().message());
    return 5;
  }
  Counts counts;
  int failed = 0;
  if (!runCases(options, **device, **stream, list, counts, failed)) {
    fmt::print("the device failed; the rest was not run\n");
    if (!options.expectsFailures || !failed)
      return 5;
  }
  if (counts.empty()) {
    fmt::print(stderr, "expected cases in {} whose names have '{}', found none\n", options.folder, options.only);
    return 1;
  }
  bool missed = missesQuota(counts, options.areAll());
  if (options.expectsFailures) {
    fmt::print("{} cases saw the injected fault\n", failed);
    return failed ? 0 : 1;
  }
  return failed || missed ? 1 : 0;
}
