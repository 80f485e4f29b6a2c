// SPDX-License-Identifier: Apache-2.0
// Every kernel of tests/tilegen/kernels/*.mlir, compiled for the host, under each kind of schedule, computes what its
// graph says.
#include "frontend/graph/Sizes.h"
#include "tests/tilegen/KernelFiles.h"

#include "backend/host/HostBackend.h"
#include "runtime/CpuFeatures.h"
#include "runtime/plan/KernelAbi.h"
#include "tilegen/TargetDesc.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>
#include <sys/mman.h>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tests;

namespace {

const llvm::fltSemantics &semanticsOf(Type type) { return cast<FloatType>(type).getFloatSemantics(); }

/// The bytes of `dense` as `element`s.
std::vector<char> encode(const Dense &dense, Type element) {
  unsigned width = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  std::vector<char> bytes(dense.elements.size() * width + 64);
  for (size_t i = 0; i < dense.elements.size(); ++i) {
    uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(std::isnan(dense.elements[i]) ? 0 : dense.elements[i]));
    if (isa<FloatType>(element)) {
      llvm::APFloat value(dense.elements[i]);
      bool loses = false;
      value.convert(semanticsOf(element), llvm::APFloat::rmNearestTiesToEven, &loses);
      bits = value.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

double decode(const std::vector<char> &bytes, size_t i, Type element) {
  unsigned width = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * width, width);
  if (!isa<FloatType>(element))
    return static_cast<double>(static_cast<int64_t>(bits << (64 - 8 * width)) >> (64 - 8 * width));
  llvm::APFloat value(semanticsOf(element), llvm::APInt(8 * width, bits));
  bool loses = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

/// Executable memory with a copy of the code.
class MappedCode {
public:
  explicit MappedCode(const std::vector<char> &bytes) : size(bytes.size()) {
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory, bytes.data(), size);
    mprotect(memory, size, PROT_READ | PROT_EXEC);
  }
  ~MappedCode() { munmap(memory, size); }
  HostKernel entry(uint64_t offset) const { return reinterpret_cast<HostKernel>(static_cast<char *>(memory) + offset); }

private:
  void *memory;
  size_t size;
};

struct HostRunTest : KernelFileTest {
  void compare(graph::KernelOp source, tile::KernelOp kernel, const HostKernelCode &code, const MappedCode &mapped,
               ArrayRef<int64_t> symbols) {
    KernelCase data(source, kernel, symbols);
    std::vector<std::vector<char>> storage;
    std::vector<void *> buffers;
    auto elementOf = [&](size_t i) { return cast<tile::BufferType>(kernel.getArgumentTypes()[i]).getElementType(); };
    for (size_t i = 0; i < data.buffers.size(); ++i)
      storage.push_back(encode(data.buffers[i], elementOf(i)));
    for (std::vector<char> &bytes : storage)
      buffers.push_back(bytes.data());
    SmallVector<int64_t> grid;
    for (AffineExpr extent : kernel.getGrid().getResults())
      grid.push_back(graph::evaluate(extent, {}, data.symbols));
    std::vector<char> workspace(code.workspaceBytes + 64);
    void *aligned = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64);
    uint64_t error = 0;
    HostKernelArgs args{buffers.data(), data.symbols.data(), grid.data(), aligned, &error, /*fetchAhead=*/0};
    mapped.entry(code.entry)(&args, 0, grid[0] * grid[1] * grid[2]);
    EXPECT_EQ(error, 0u);
    std::string text;
    llvm::raw_string_ostream(text) << *kernel.getOperation();
    for (size_t i = 0; i < data.expected.size(); ++i) {
      size_t buffer = data.buffers.size() - data.expected.size() + i;
      double tolerance = elementOf(buffer).isF16() ? 2e-3 : 1e-5;
      for (size_t j = 0; j < data.expected[i].elements.size(); ++j) {
        double expected = data.expected[i].elements[j];
        ASSERT_NEAR(decode(storage[buffer], j, elementOf(buffer)), expected, tolerance * (1 + std::abs(expected)))
            << "output " << i << " element " << j << "\n"
            << text;
      }
    }
  }

  void run(StringRef targetName, Change change) {
    emit(targetName, change);
    HostOptions options;
    std::vector<std::string> needs = requirementsOf(**findTarget(targetName));
    for (const std::string &feature : std::span(needs).subspan(targetName.starts_with("x86-64") ? 1 : needs.size()))
      if (runtime::checkCpuFeatures({{feature}}, "this test").ok())
        options.features.push_back(feature);
    bool wide = __builtin_cpu_supports("avx512vl") && targetName != "x86-64-v3";
    options.cpu = wide ? "x86-64-v4" : "x86-64-v3";
    options.vectorBits = wide ? 512 : 256;
    Expected<HostCode> code = compileHost(*tiles, options);
    ASSERT_TRUE(code.ok()) << code.status().message();
    MappedCode mapped(code->bytes);
    forEachKernel([&](graph::KernelOp source, tile::KernelOp kernel, ArrayRef<int64_t> symbols) {
      for (const HostKernelCode &entry : code->kernels)
        if (entry.name == kernel.getSymName())
          compare(source, kernel, entry, mapped, symbols);
    });
  }
};

TEST_P(HostRunTest, UnderTheSchedulesOfVectors) { run("x86-64-v4", unchanged); }
TEST_P(HostRunTest, WithDotsOfFourBytes) { run("x86-64-v4-vnni", unchanged); }
TEST_P(HostRunTest, WithDotsOfFourBytesUnderOddSchedules) { run("x86-64-v4-vnni", oddSizes); }
TEST_P(HostRunTest, WithTheMatrixUnit) {
  if (!runtime::checkCpuFeatures(requirementsOf(**findTarget("x86-64-v4-amx")), "this test").ok())
    GTEST_SKIP() << "needs a processor with AMX";
  run("x86-64-v4-amx", unchanged);
}
TEST_P(HostRunTest, UnderTheSchedulesOfShortVectors) { run("x86-64-v3", unchanged); }
TEST_P(HostRunTest, UnderTheSchedulesOfBlocks) { run("sm_90a", unchanged); }
TEST_P(HostRunTest, UnderOddSchedules) { run("x86-64-v4", oddSizes); }
TEST_P(HostRunTest, UnderOddTilesOfWholeRows) { run("x86-64-v4", oddTiles); }
TEST_P(HostRunTest, WithContractionsAsGemv) { run("x86-64-v4", asGemv); }
TEST_P(HostRunTest, UnderSmallPowersOfTwo) { run("sm_90a", smallPowers); }
TEST_P(HostRunTest, WithUnrolledWindows) { run("sm_90a", unrolledWindows); }

INSTANTIATE_TEST_SUITE_P(Kernels, HostRunTest, testing::ValuesIn(kernelFiles()),
                         [](const auto &info) { return info.param; });

} // namespace
