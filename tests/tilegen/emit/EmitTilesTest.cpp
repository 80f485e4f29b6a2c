// SPDX-License-Identifier: Apache-2.0
// Every kernel of tests/tilegen/kernels/*.mlir, under each kind of schedule: its tile programs compute what its graph
// says.
#include "tests/tilegen/KernelFiles.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tests;

namespace {

/// Sums are of doubles. Powers of two of an attention are of exponents times log2 e, which is rounded to a single.
constexpr double tolerance = 1e-8;

struct EmitTilesTest : KernelFileTest {
  void run(StringRef target, Change change) {
    emit(target, change);
    if (HasFatalFailure())
      return;
    forEachKernel([&](graph::KernelOp source, tile::KernelOp kernel, ArrayRef<int64_t> symbols) {
      KernelCase data(source, kernel, symbols);
      std::string error, text;
      llvm::raw_string_ostream(text) << *kernel.getOperation();
      ASSERT_TRUE(interpretTile(kernel, data.buffers, data.symbols, error)) << error << "\n" << text;
      size_t inputs = data.buffers.size() - data.expected.size();
      for (size_t i = 0; i < data.expected.size(); ++i)
        for (size_t j = 0; j < data.expected[i].elements.size(); ++j)
          ASSERT_NEAR(data.buffers[inputs + i].elements[j], data.expected[i].elements[j], tolerance)
              << "output " << i << " element " << j << "\n"
              << text;
    });
  }
};

TEST_P(EmitTilesTest, UnderTheSchedulesOfVectors) { run("x86-64-v4", unchanged); }
TEST_P(EmitTilesTest, UnderTheSchedulesOfBlocks) { run("sm_90a", unchanged); }
TEST_P(EmitTilesTest, UnderOddSchedules) { run("x86-64-v4", oddSizes); }
TEST_P(EmitTilesTest, WithContractionsAsGemv) { run("sm_90a", asGemv); }
TEST_P(EmitTilesTest, UnderSmallPowersOfTwo) { run("sm_90a", smallPowers); }
TEST_P(EmitTilesTest, WithTwoGroups) { run("sm_90a", twoGroups); }
TEST_P(EmitTilesTest, WithUnrolledWindows) { run("sm_90a", unrolledWindows); }

INSTANTIATE_TEST_SUITE_P(Kernels, EmitTilesTest, testing::ValuesIn(kernelFiles()),
                         [](const auto &info) { return info.param; });

} // namespace
