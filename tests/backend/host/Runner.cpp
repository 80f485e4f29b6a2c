// SPDX-License-Identifier: Apache-2.0
// The code is copied to anonymous memory, which then becomes executable and is no longer writable.
#include "tests/backend/host/Runner.h"

#include "backend/Dialects.h"
#include "runtime/plan/KernelAbi.h"

#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <sys/mman.h>

namespace tilewright::test {

std::vector<HostOptions> hostLevels() {
  std::vector<HostOptions> levels;
  if (__builtin_cpu_supports("x86-64-v4"))
    levels.push_back({"x86-64-v4", 512});
  if (__builtin_cpu_supports("x86-64-v3"))
    levels.push_back({"x86-64-v3", 256});
  return levels;
}

Runner::Runner(const std::string &tileText, const HostOptions &options) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(tileText, &context);
  if (!module) {
    message = "the test's tile text does not parse";
    return;
  }
  auto start = std::chrono::steady_clock::now();
  Expected<HostCode> compiled = compileHost(*module, options);
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!compiled) {
    message = compiled.status().message();
    return;
  }
  codeBytes = compiled->bytes.size();
  code = mmap(nullptr, codeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(code, compiled->bytes.data(), codeBytes);
  mprotect(code, codeBytes, PROT_READ | PROT_EXEC);
  for (const HostKernelCode &kernel : compiled->kernels)
    kernels[kernel.name] = kernel;
}

Runner::~Runner() {
  if (code)
    munmap(code, codeBytes);
}

uint64_t Runner::run(const std::string &name, std::vector<void *> buffers, std::vector<int64_t> scalars,
                     std::array<int64_t, 3> grid) {
  const HostKernelCode &kernel = kernels.at(name);
  workspace.resize(kernel.workspaceBytes + 64);
  auto aligned = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
  uint64_t errorWord = 0;
  HostKernelArgs arguments{buffers.data(), scalars.data(), grid.data(), aligned, &errorWord, /*fetchAhead=*/4096};
  auto entry = reinterpret_cast<HostKernel>(static_cast<char *>(code) + kernel.entry);
  // Two calls, as two threads would make, which have a workspace each: any split of the grid must do.
  int64_t programs = grid[0] * grid[1] * grid[2], half = programs / 2;
  for (auto [first, last] : {std::pair(int64_t(0), half), {half, programs}}) {
    std::ranges::fill(workspace, char(0xff));
    entry(&arguments, first, last);
  }
  return errorWord;
}

} // namespace tilewright::test
