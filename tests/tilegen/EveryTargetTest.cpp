// SPDX-License-Identifier: Apache-2.0
// Every row of the table of targets compiles products, rows and gathers of tests/tilegen/kernels: instructions that a
// target lacks are not asked of it.
#include "tests/tilegen/KernelFiles.h"

#include "backend/CodeGenerators.h"
#include "tilegen/TargetDesc.h"

using namespace tilewright;
using namespace tilewright::tests;

namespace {

struct EveryTargetTest : KernelFileTest {};

TEST_P(EveryTargetTest, Compiles) {
  for (const TargetDesc &target : targets()) {
    emit(target.name, unchanged);
    Expected<TargetCode> code = generateCode(*tiles, target);
    ASSERT_TRUE(code.ok()) << target.name << ": " << code.status().message();
    EXPECT_FALSE(code->bytes.empty()) << target.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryTargetTest, testing::Values("contraction_half", "row_reduction", "pointwise"),
                         [](const auto &info) { return info.param; });

} // namespace
