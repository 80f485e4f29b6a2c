// SPDX-License-Identifier: Apache-2.0
// Times tile kernels in this process: tilewright-tile-bench FILE.mlir [KERNEL] [--flops N] [--seconds N] [--symbol N]
// [--v3] [--llvm OUT.ll] [--code OUT.bin]
//
// Buffers get random values; every symbol has the value of --symbol (1). Packed constants get random values too, which
// does not change the time.
#include "backend/host/HostBackend.h"

#include "backend/Dialects.h"
#include "runtime/host/CpuTuning.h"
#include "runtime/plan/KernelAbi.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Parser/Parser.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>
#include <sys/mman.h>

using namespace tilewright;

/// Processor time of this thread, which other programs on the machine disturb least.
static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// The peak GFLOP/s of one core: twelve independent chains of multiply-adds in 512-bit vectors.
static double peakOf512() {
  double best = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    long turns = 200000;
    double start = now();
    asm volatile("1:\n"
#define FMA(i) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #i "\n"
                 FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6) FMA(7) FMA(8) FMA(9) FMA(10) FMA(11)
#undef FMA
                     "dec %0\n jnz 1b\n"
                 : "+r"(turns)
                 :
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
    best = std::max(best, 12.0 * 32 * 200000 / (now() - start));
  }
  return best * 1e-9;
}

static void *randomBytes(size_t bytes, mlir::Type type) {
  auto *data = static_cast<char *>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
  std::mt19937 generator(1);
  if (type.isF32())
    for (size_t i = 0; i < bytes / 4; ++i)
      reinterpret_cast<float *>(data)[i] = float(generator() % 2000) / 1000 - 1;
  else
    std::memset(data, 0, bytes);
  return data;
}

namespace {

struct BenchOptions {
  HostOptions host;
  std::string file, kernel, llvmFile, codeFile, llvmText;
  double flops = 0, seconds = 1; // of one run, and to measure for
  int64_t symbol = 1;            // the value of every symbol
};

} // namespace

static BenchOptions parse(int argc, char **argv) {
  BenchOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--v3")
      options.host.cpu = "x86-64-v3", options.host.vectorBits = 256;
    else if (argument == "--flops")
      options.flops = std::atof(argv[++i]);
    else if (argument == "--seconds")
      options.seconds = std::atof(argv[++i]);
    else if (argument == "--symbol")
      options.symbol = std::atoll(argv[++i]);
    else if (argument == "--llvm")
      options.llvmFile = argv[++i];
    else if (argument == "--code")
      options.codeFile = argv[++i];
    else
      (options.file.empty() ? options.file : options.kernel) = argument;
  }
  return options;
}

/// Times one kernel on random buffers, and prints a row.
static void timeKernel(tile::KernelOp kernel, const HostKernelCode &entry, char *code, const BenchOptions &options,
                       double peak) {
  auto evaluate = [&](mlir::AffineExpr size) {
    llvm::SmallVector<mlir::AffineExpr> values(kernel.getNumSymbols(),
                                               mlir::getAffineConstantExpr(options.symbol, kernel.getContext()));
    return mlir::cast<mlir::AffineConstantExpr>(mlir::simplifyAffineExpr(size.replaceSymbols(values), 0, 0)).getValue();
  };
  std::vector<void *> buffers;
  std::vector<int64_t> scalars(kernel.getNumSymbols(), options.symbol);
  for (mlir::Type type : kernel.getArgumentTypes()) {
    auto buffer = mlir::dyn_cast<tile::BufferType>(type);
    if (!buffer)
      continue;
    size_t bytes = std::max(1u, buffer.getElementType().getIntOrFloatBitWidth() / 8);
    for (mlir::AffineExpr size : buffer.getSizes().getResults())
      bytes *= evaluate(size);
    buffers.push_back(randomBytes(bytes, buffer.getElementType()));
  }
  int64_t grid[3], programs = 1;
  for (int i = 0; i < 3; ++i)
    programs *= grid[i] = evaluate(kernel.getGrid().getResult(i));
  uint64_t error = 0;
  HostKernelArgs arguments{buffers.data(), scalars.data(),
                           grid,           randomBytes(entry.workspaceBytes + 64, kernel.getArgumentTypes()[0]),
                           &error,         runtime::weightFetchDistance()};
  auto run = reinterpret_cast<HostKernel>(code + entry.entry);
  double best = 1e9, total = 0;
  for (int i = 0; i < 1000 && total < options.seconds; ++i) {
    double begin = now();
    run(&arguments, 0, programs);
    double took = now() - begin;
    best = std::min(best, took);
    total += took;
  }
  std::printf("%-28s %10.1f us", kernel.getSymName().str().c_str(), best * 1e6);
  if (options.flops)
    std::printf("  %7.1f GFLOP/s, %5.1f %% of peak %.0f", options.flops / best * 1e-9,
                peak ? 100e-9 * options.flops / best / peak : 0, peak);
  std::printf("  workspace %.0f KiB\n", double(entry.workspaceBytes) / 1024);
}

int main(int argc, char **argv) {
  BenchOptions options = parse(argc, argv);
  if (!options.llvmFile.empty())
    options.host.llvmText = &options.llvmText;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(options.file, &context);
  if (!module)
    return 1;
  for (auto kernel : llvm::make_early_inc_range(module->getOps<tile::KernelOp>()))
    if (!options.kernel.empty() && kernel.getSymName() != options.kernel)
      kernel->erase();
  double start = now();
  Expected<HostCode> code = compileHost(*module, options.host);
  double compile = now() - start;
  if (!code) {
    std::fprintf(stderr, "%s\n", code.status().message().c_str());
    return 1;
  }
  if (!options.llvmFile.empty())
    std::ofstream(options.llvmFile) << options.llvmText;
  if (!options.codeFile.empty())
    std::ofstream(options.codeFile).write(code->bytes.data(), code->bytes.size());
  void *mapped = mmap(nullptr, code->bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(mapped, code->bytes.data(), code->bytes.size());
  mprotect(mapped, code->bytes.size(), PROT_READ | PROT_EXEC);
  double peak = __builtin_cpu_supports("avx512f") && options.host.vectorBits == 512 ? peakOf512() : 0;
  for (auto kernel : module->getOps<tile::KernelOp>())
    for (const HostKernelCode &entry : code->kernels)
      if (entry.name == kernel.getSymName())
        timeKernel(kernel, entry, static_cast<char *>(mapped), options, peak);
  std::printf("compiled %zu kernels in %.1f ms, %zu bytes\n", code->kernels.size(), compile * 1e3, code->bytes.size());
}
