// tilewright-device-cases OUT [TARGET] [--drop-masks|--drop-barriers]: compiles every case for a GPU into a folder that
// tilewright-device-check runs.
//
// OUT/cases.json lists for each case its file of PTX and how it is launched; faults are built in on purpose where asked for.
#include "tests/device/Cases.h"

#include "backend/Dialects.h"
#include "backend/nvptx/CompileNvptx.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::test;

static Expected<TargetCode> compileCase(const DeviceCase &c, const TargetDesc &target, InjectedFaults faults) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(c.kernel, &context);
  if (!module)
    return Status(Code::Internal, "the case's kernel does not parse");
  return compileNvptx(*module, target, {.faults = faults});
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  auto takes = [&](const char *word) { return std::erase(words, word) > 0; };
  InjectedFaults faults{takes("--drop-masks"), takes("--drop-barriers")};
  bool unknown = std::any_of(words.begin(), words.end(), [](const std::string &word) { return word.starts_with("-"); });
  if (words.empty() || unknown) {
    std::cerr << "usage: tilewright-device-cases OUT [TARGET] [--drop-masks] [--drop-barriers]\n";
    return 2;
  }
  std::filesystem::path folder = words[0];
  std::string name = words.size() > 1 ? words[1] : "sm_90a";
  Expected<const TargetDesc *> target = findTarget(name);
  if (!target) {
    std::cerr << target.status().message() << "\n";
    return 2;
  }
  if ((*target)->backend != Backend::Nvptx) {
    std::cerr << "expected an NVIDIA target, because tilewright-device-check loads PTX, got " << name << "\n";
    return 2;
  }
  std::filesystem::create_directories(folder);
  nlohmann::json list = nlohmann::json::array();
  for (const DeviceCase &c : deviceCases()) {
    Expected<TargetCode> code = compileCase(c, **target, faults);
    if (!code) {
      std::cerr << c.name << ": " << code.status().message() << "\n";
      return 1;
    }
    const KernelFacts &facts = code->kernels.at("k");
    std::ofstream(folder / (c.name + ".ptx"), std::ios::binary)
        .write(reinterpret_cast<const char *>(code->bytes.data()), code->bytes.size());
    list.push_back({{"name", c.name}, {"threads", facts.block[0]}, {"shared", facts.dynamicSharedBytes}});
  }
  std::ofstream(folder / "cases.json") << nlohmann::json{{"target", name}, {"cases", list}}.dump(1) << "\n";
  std::cout << list.size() << " cases for " << name << " in " << folder.string() << "\n";
  return 0;
}
