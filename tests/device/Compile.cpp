// SPDX-License-Identifier: Apache-2.0
// tilewright-device-cases OUT [TARGET] [--drop-masks|--drop-barriers|--drop-awaits|--drop-ring-waits|
// --drop-store-waits|--drop-releases|--drop-acquires|--drop-arrivals|--all-are-last|--drop-product-waits|
// --release-early|--drop-proxy-fences|--give-early|--add-early|--drop-waits] [--only TEXT]: compiles every case
// for a GPU into a folder that tilewright-device-check runs.
//
// OUT/cases.json says how to launch each case; its code, PTX or a code object, is in a file of its name. The options
// inject faults; --only takes the cases whose names have the text.
#include "tests/device/Cases.h"
#include "tests/device/PlacedLaunch.h"

#include "backend/Dialects.h"
#include "backend/amdgcn/CompileAmdgcn.h"
#include "backend/nvptx/CompileNvptx.h"
#include "tilegen/emit/EmitTiles.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;

/// `launch` receives how the placed kernel is launched.
static Expected<TargetCode> compileCase(const DeviceCase &c, const TargetDesc &target, InjectedFaults faults,
                                        PlacedLaunch &launch) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(c.kernel, &context);
  if (!module)
    return Status(Code::Internal, "the case's kernel does not parse");
  if (mlir::failed(emitTiles(*module, target)))
    return Status(Code::Internal, "the case's kernel has no tiles");
  Expected<TargetCode> code = target.backend == Backend::Amdgcn ? compileAmdgcn(*module, target, {.faults = faults})
                                                                : compileNvptx(*module, target, {.faults = faults});
  if (code)
    launch = launchOf(module->lookupSymbol<tile::KernelOp>("k"), c.scalars);
  return code;
}

/// Kernels whose programs placing has numbered anew are launched as their placed form says.
static nlohmann::json rowOf(const DeviceCase &c, const KernelFacts &facts, const PlacedLaunch &launch) {
  nlohmann::json row = {{"name", c.name},
                        {"threads", facts.block[0]},
                        {"cluster", facts.cluster[0]},
                        {"shared", facts.dynamicSharedBytes},
                        {"static shared", facts.staticSharedBytes}};
  for (const PlacedTensorMap &map : launch.maps)
    row["maps"].push_back({{"buffer", map.buffer},
                           {"start", map.start},
                           {"sizes", map.sizes},
                           {"strides", map.strides},
                           {"box", map.box},
                           {"rounded", map.rounded},
                           {"lower", map.lower},
                           {"upper", map.upper},
                           {"steps", map.steps}});
  for (const PlacedWorkspace &workspace : launch.workspaces)
    row["workspaces"].push_back({{"bytes", workspace.bytes}, {"zeroed", workspace.zeroed}});
  if (launch.hasOwnGrid())
    row["grid"] = launch.grid;
  return row;
}

/// Replaces every s_waitcnt in CDNA machine code by an s_nop ("AMD Instinct MI300 ISA", SOPP), so that results are used
/// before they are ready.
static void dropWaits(std::vector<std::byte> &bytes) {
  constexpr uint32_t wait = 0xbf8c0000, mask = 0xffff0000, nop = 0xbf800000;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if ((word & mask) == wait)
      std::memcpy(bytes.data() + at, &nop, sizeof nop);
  }
}

static void writeList(const std::filesystem::path &folder, const std::string &target, const nlohmann::json &cases) {
  std::ofstream(folder / "cases.json") << nlohmann::json{{"target", target}, {"cases", cases}}.dump(1) << "\n";
  std::cout << cases.size() << " cases for " << target << " in " << folder.string() << "\n";
}

static int refuseUsage() {
  std::cerr << "usage: tilewright-device-cases OUT [TARGET] [--drop-masks] [--drop-barriers] [--drop-awaits] "
               "[--drop-ring-waits] [--drop-store-waits] "
               "[--drop-releases] [--drop-acquires] [--drop-arrivals] [--all-are-last] "
               "[--drop-product-waits] [--release-early] [--drop-proxy-fences] [--give-early] [--add-early] "
               "[--drop-waits] [--only TEXT]\n";
  return 2;
}

/// Takes the options that inject faults out of `words`.
static InjectedFaults takeFaults(std::vector<std::string> &words) {
  auto takes = [&](const char *word) { return std::erase(words, word) > 0; };
  return {takes("--drop-masks"),         takes("--drop-barriers"),    takes("--drop-awaits"),
          takes("--drop-ring-waits"),    takes("--drop-store-waits"), takes("--drop-releases"),
          takes("--drop-acquires"),      takes("--drop-arrivals"),    takes("--all-are-last"),
          takes("--drop-product-waits"), takes("--release-early"),    takes("--drop-proxy-fences"),
          takes("--give-early"),         takes("--add-early")};
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  InjectedFaults faults = takeFaults(words);
  bool withoutWaits = std::erase(words, "--drop-waits") > 0;
  std::string only;
  if (auto word = std::find(words.begin(), words.end(), "--only"); word != words.end() && word + 1 != words.end()) {
    only = word[1];
    words.erase(word, word + 2);
  }
  bool unknown = std::any_of(words.begin(), words.end(), [](const std::string &word) { return word.starts_with("-"); });
  if (words.empty() || unknown)
    return refuseUsage();
  std::filesystem::path folder = words[0];
  std::string name = words.size() > 1 ? words[1] : "sm_90a";
  Expected<const TargetDesc *> target = findTarget(name);
  if (!target) {
    std::cerr << target.status().message() << "\n";
    return 2;
  }
  bool amd = (*target)->backend == Backend::Amdgcn;
  if ((*target)->backend == Backend::Host || (withoutWaits && !amd)) {
    std::cerr << "expected " << (withoutWaits ? "AMD's GPUs, whose code waits by itself" : "a GPU") << ", got " << name
              << "\n";
    return 2;
  }
  std::filesystem::create_directories(folder);
  nlohmann::json list = nlohmann::json::array();
  for (const DeviceCase &c : deviceCases()) {
    if (c.name.find(only) == std::string::npos || !isFor(c, **target))
      continue;
    PlacedLaunch launch;
    Expected<TargetCode> code = compileCase(c, **target, faults, launch);
    auto saysWhy = [&](const char *why) { return code.status().message().find(why) != std::string::npos; };
    // The tiles of these cases are for NVIDIA's shared memory and matrix instructions.
    bool isForOthers = amd && !code &&
                       (saysWhy("bytes of shared memory because a block has that much") ||
                        saysWhy("expected a matrix instruction of the target for strips of a tile's columns"));
    if (isForOthers) {
      std::cout << "left out " << c.name << ": " << code.status().message() << "\n";
      continue;
    }
    if (!code) {
      std::cerr << c.name << ": " << code.status().message() << "\n";
      return 1;
    }
    const KernelFacts &facts = code->kernels.at("k");
    if (withoutWaits)
      dropWaits(code->bytes);
    std::ofstream(folder / (c.name + (amd ? ".hsaco" : ".ptx")), std::ios::binary)
        .write(reinterpret_cast<const char *>(code->bytes.data()), code->bytes.size());
    list.push_back(rowOf(c, facts, launch));
  }
  if (list.empty())
    std::cerr << "expected cases whose names have '" << only << "', found none\n";
  else
    writeList(folder, name, list);
  return list.empty();
}
