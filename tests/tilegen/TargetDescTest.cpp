// SPDX-License-Identifier: Apache-2.0
// The table of targets is consistent, and asking for what is not in it says what is.
#include "tilegen/TargetDesc.h"
#include "runtime/cuda/CudaDriver.h"
#include "tilegen/place/Place.h"
#include "tilegen/steps/StepSchedules.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <set>

using namespace tilewright;

TEST(TargetDescTest, RowsAreConsistent) {
  std::set<std::string_view> names;
  for (const TargetDesc &row : targets()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
    EXPECT_EQ(row.model == ProgramModel::Vector, row.backend == Backend::Host) << row.name;
    EXPECT_EQ(row.warpWidth == 1, row.model == ProgramModel::Vector) << row.name;
    EXPECT_EQ(row.maxThreads % row.warpWidth, 0) << row.name;
    EXPECT_EQ(row.sharedBytes > 0, row.model == ProgramModel::Block) << row.name;
    for (const MatrixInstruction &instruction : row.matrix) {
      EXPECT_GT(instruction.m * instruction.n * instruction.k, 0) << instruction.name;
      EXPECT_EQ(instruction.m * instruction.k % row.warpWidth, 0)
          << instruction.name << " does not spread over the lanes of " << row.name;
    }
  }
}

TEST(TargetDescTest, MatrixInstructionsAreChosenByElementType) {
  auto types = [](std::string_view target) {
    std::set<MatrixType> found;
    for (auto [type, name] : tile::placeFacts(**findTarget(target)).fragments)
      found.insert(type);
    return found;
  };
  EXPECT_EQ(types("sm_80"), (std::set{MatrixType::F16, MatrixType::BF16, MatrixType::TF32, MatrixType::I8}));
  EXPECT_EQ(types("gfx90a"), (std::set{MatrixType::F16, MatrixType::BF16}));
  EXPECT_EQ(types("gfx908"),
            std::set{MatrixType::F16}); // its bf16 instructions are half as deep, and have no fragments here
}

/// The runtime links nothing of the compiler, so it has its own list.
TEST(TargetDescTest, TheRuntimeKnowsEveryNvidiaTarget) {
  for (const TargetDesc &row : targets())
    if (row.backend == Backend::Nvptx) {
      auto offered = runtime::cuda::targetsOf(std::stoi(std::string(row.name.substr(3))));
      EXPECT_EQ(std::ranges::count(offered, row.name), 1) << row.name << " is missing in runtime/cuda/CudaDriver.cpp";
    }
}

TEST(TargetDescTest, FindsByName) {
  ASSERT_TRUE(findTarget("sm_90a").ok());
  EXPECT_EQ((*findTarget("sm_90a"))->warpWidth, 32);
  EXPECT_EQ((*findTarget("gfx942"))->warpWidth, 64);
  EXPECT_EQ((*findTarget("host"))->name, "x86-64-v3");
}

TEST(TargetDescTest, SaysWhatThereIs) {
  Expected<const TargetDesc *> missing = findTarget("sm_75");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), Code::Usage);
  EXPECT_NE(missing.status().message().find("unknown target 'sm_75': expected one of host, x86-64-v3"),
            std::string::npos)
      << missing.status().message();
}

/// Directions of a recurrence are split for cores alone: a GPU takes both at a time.
TEST(TargetDescTest, DirectionsStepTogetherOnGpus) {
  EXPECT_EQ(tilegen::mostWeightsTogether({"host", "x86-64-v4"}), 1 << 18);
  EXPECT_EQ(tilegen::mostWeightsTogether({"x86-64-v4", "sm_90a"}), std::numeric_limits<int64_t>::max());
}
