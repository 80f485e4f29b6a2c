// SPDX-License-Identifier: Apache-2.0
// The small cases of device conformance on imitated GPUs, and faults built in on purpose.
#include "tests/backend/gpu/SimtMachine.h"
#include "tests/device/CaseRun.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tilewright;
using namespace tilewright::test;

namespace {

bool hasRoles(const DeviceCase &c) { return c.name.find("_roles") != std::string::npos; }

/// `output`, if given, receives what the kernel has written.
std::string runCompiled(const DeviceCase &c, SimtProgram &program, BlockOrder order = BlockOrder::Ascending,
                        std::vector<std::byte> *output = nullptr) {
  std::vector<CaseBuffer> memory = makeBuffers(c);
  std::vector<uint64_t> arguments;
  for (CaseBuffer &buffer : memory) {
    // Guards are multiples of 64 bytes, so the elements are aligned if the memory is.
    size_t off = reinterpret_cast<uintptr_t>(buffer.bytes.data()) % 64;
    EXPECT_EQ(off % 16, 0u);
    arguments.push_back(reinterpret_cast<uint64_t>(buffer.bytes.data() + CaseBuffer::guard));
  }
  arguments.insert(arguments.end(), c.scalars.begin(), c.scalars.end());
  uint64_t errorWord = program.run("k", arguments, c.grid, order);
  if (output)
    *output = memory.back().bytes;
  return verdict(c, memory.back(), errorWord);
}

constexpr const char *withoutBulkStores = "sm_90a without bulk stores";

/// The row of a target's name, or the one for sm_90a whose roles store by their threads, as they do where no shared
/// memory is left.
TargetDesc targetOf(const std::string &name) {
  bool byThreads = name == withoutBulkStores;
  TargetDesc target = **findTarget(byThreads ? "sm_90a" : name);
  target.roles.bulkStoresFrom = byThreads ? 0 : target.roles.bulkStoresFrom;
  return target;
}

std::string runCase(const DeviceCase &c, const std::string &target, InjectedFaults faults = {},
                    BlockOrder order = BlockOrder::Ascending) {
  auto program = SimtProgram::compile(c.kernel, targetOf(target), faults);
  if (!program)
    return program.status().message();
  bool arePixels = c.family == "pixels" && targetOf(target).bulkCopies;
  if ((hasRoles(c) || arePixels) && !(*program)->hasRoles())
    return "its copies have no warps of their own";
  return runCompiled(c, **program, order);
}

class Conformance : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

/// Products of bytes come in a row of shapes for every layout and signedness: unless all are asked for, each row has
/// every third of its shapes, another row others.
bool isLeftOut(const DeviceCase &c, int &productsOfBytes) {
  constexpr int shapes = 6;
  if (c.family != "matmul" || c.type != DType::I8 || std::getenv("TILEWRIGHT_ALL_CASES"))
    return false;
  int i = productsOfBytes++;
  return (i + i / shapes) % 3 != 0;
}

TEST_P(Conformance, SmallCases) {
  auto &[family, target] = GetParam();
  int ran = 0, productsOfBytes = 0;
  for (const DeviceCase &c : deviceCases())
    if (c.family == family && c.small && (c.type != DType::BF16 || __builtin_cpu_supports("avx512bf16")) &&
        !isLeftOut(c, productsOfBytes) && (!hasRoles(c) || targetOf(target).bulkCopies) && isFor(c, targetOf(target)) &&
        (target != withoutBulkStores || c.name.find("_groups") != std::string::npos)) {
      ++ran;
      EXPECT_EQ(runCase(c, target), "") << c.name;
    }
  EXPECT_GE(ran, target == withoutBulkStores ? 2 : 3);
}

std::string nameOf(const testing::TestParamInfo<Conformance::ParamType> &info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(GpuStores, Conformance,
                         testing::Combine(testing::Values("matmul", "shared sums"), testing::Values(withoutBulkStores)),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(GpuAttention, Conformance,
                         testing::Combine(testing::Values("attention", "split keys"),
                                          testing::Values("sm_80", "sm_90a", "gfx942")),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(Gpu, Conformance,
                         testing::Combine(testing::Values("pointwise", "row reduction", "matmul", "gemv", "conv",
                                                          "window", "sliding window", "gather", "roll", "pixels"),
                                          testing::Values("sm_90a", "gfx942")),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(GpuSums, Conformance,
                         testing::Combine(testing::Values("shared sums", "clustered sums", "clustered rows",
                                                          "stored weights", "paired products", "gated steps", "steps"),
                                          testing::Values("sm_80", "sm_90a", "gfx942")),
                         nameOf);

/// Blocks that take several programs of an attention, whose loops differ in length. Too long for the small cases.
TEST(GpuAttention, BlocksGoThereAndBack) {
  int ran = 0;
  for (const DeviceCase &c : deviceCases())
    if (c.name.find("_ordered") != std::string::npos) {
      ++ran;
      EXPECT_EQ(runCase(c, "sm_90a"), "") << c.name;
    }
  EXPECT_EQ(ran, 2);
}

/// Those that can be cut: not the tile of 16 rows in eight parts, whose columns are shared out among warps.
TEST(ClusteredSums, AreClusters) {
  int ran = 0;
  for (const DeviceCase &c : deviceCases()) {
    if (c.family != "clustered sums" || !c.small || c.type != DType::F16)
      continue;
    auto program = SimtProgram::compile(c.kernel, **findTarget("sm_90a"));
    ASSERT_TRUE(program) << c.name;
    bool isCut = c.name.find("16x64x64_parts8") == std::string::npos;
    EXPECT_EQ((*program)->clusterBlocks("k") > 1, isCut) << c.name;
    ++ran;
  }
  EXPECT_GE(ran, 15);
}

TEST(ClusteredRows, AreClusters) {
  int ran = 0;
  for (const DeviceCase &c : deviceCases()) {
    if (c.family != "clustered rows")
      continue;
    auto program = SimtProgram::compile(c.kernel, **findTarget("sm_90a"));
    ASSERT_TRUE(program) << c.name;
    EXPECT_EQ((*program)->clusterBlocks("k"), c.name.back() - '0') << c.name;
    ++ran;
  }
  EXPECT_GE(ran, 60);
}

/// Whichever block is the last, it joins the parts in their order: the bits are the same, run after run.
TEST(SharedSums, BitsDoNotDependOnTheOrderOfBlocks) {
  int ran = 0;
  for (const DeviceCase &c : deviceCases()) {
    bool hasParts = c.family == "shared sums" || (c.family == "split keys" && c.scalars.empty());
    if (!hasParts || !c.small || (c.type != DType::F16 && c.type != DType::I8))
      continue;
    auto program = SimtProgram::compile(c.kernel, **findTarget("sm_90a"));
    ASSERT_TRUE(program) << c.name;
    EXPECT_TRUE((*program)->sharesTiles("k")) << c.name;
    std::vector<std::byte> first, other;
    EXPECT_EQ(runCompiled(c, **program, BlockOrder::Ascending, &first), "") << c.name;
    for (BlockOrder order : {BlockOrder::Descending, BlockOrder::WaitsBeforeCount, BlockOrder::WaitsAtCount,
                             BlockOrder::WaitsBehindCount}) {
      EXPECT_EQ(runCompiled(c, **program, order, &other), "") << c.name;
      EXPECT_EQ(first, other) << c.name;
    }
    ++ran;
  }
  EXPECT_GE(ran, 15);
}

/// Are the bits the same whichever of the threads runs first between two meetings? Of a correct kernel they are: no two
/// threads write different bits to one place.
bool dependsOnThreads(const DeviceCase &c, InjectedFaults faults = {}) {
  auto program = SimtProgram::compile(c.kernel, **findTarget("sm_90a"), faults);
  EXPECT_TRUE(program) << c.name;
  if (!program)
    return true;
  std::vector<std::byte> first, other;
  EXPECT_EQ(runCompiled(c, **program, BlockOrder::Ascending, &first), "") << c.name;
  EXPECT_EQ(runCompiled(c, **program, BlockOrder::FirstThreadsFirst, &other), "") << c.name;
  return first != other;
}
TEST(RowReductions, BitsDoNotDependOnTheOrderOfThreads) {
  int ran = 0, seen = 0;
  for (const DeviceCase &c : deviceCases())
    if (c.family == "row reduction" && c.small && (c.type == DType::F32 || c.type == DType::F64)) {
      ++ran;
      EXPECT_FALSE(dependsOnThreads(c)) << c.name;
      seen += dependsOnThreads(c, {.contractSums = true});
    }
  EXPECT_GE(ran, 10);
  EXPECT_GE(seen, 1);
}

/// Some case sees the fault, of those whose name has this part; of an attention, one with roles. One that is not
/// compiled has seen nothing.
bool isSeen(const std::string &family, InjectedFaults faults, BlockOrder order = BlockOrder::Ascending,
            const std::string &part = "", DType type = DType::F16) {
  for (const DeviceCase &c : deviceCases()) {
    if (c.family != family || c.name.find(part) == std::string::npos || !c.small || c.type != type ||
        (family == "attention" && !hasRoles(c)))
      continue;
    auto program = SimtProgram::compile(c.kernel, **findTarget("sm_90a"), faults);
    EXPECT_TRUE(program) << c.name;
    if (program && !runCompiled(c, **program, order).empty())
      return true;
  }
  return false;
}
/// Of a product's sums, and of an attention's keys.
bool isSeenInParts(InjectedFaults faults, BlockOrder order = BlockOrder::Ascending) {
  return isSeen("shared sums", faults, order) && isSeen("split keys", faults, order);
}
TEST(InjectedFault, DroppedReleases) { EXPECT_TRUE(isSeenInParts({.dropReleases = true}, BlockOrder::WaitsAtCount)); }
TEST(InjectedFault, DroppedAcquires) {
  EXPECT_TRUE(isSeenInParts({.dropAcquires = true}, BlockOrder::WaitsBeforeCount));
}
TEST(InjectedFault, DroppedArrivals) { EXPECT_TRUE(isSeenInParts({.dropArrivals = true})); }
TEST(InjectedFault, EveryArrivalIsTheLast) {
  EXPECT_TRUE(isSeenInParts({.allAreLast = true}, BlockOrder::WaitsBehindCount));
}
TEST(InjectedFault, StepsThatDoNotWait) { EXPECT_TRUE(isSeen("steps", {.dropBarriers = true})); }
TEST(InjectedFault, SharesGivenEarly) { EXPECT_TRUE(isSeen("clustered sums", {.giveEarly = true})); }
TEST(InjectedFault, SharesAddedEarly) { EXPECT_TRUE(isSeen("clustered sums", {.addEarly = true})); }
TEST(InjectedFault, RowsGivenEarly) { EXPECT_TRUE(isSeen("clustered rows", {.giveEarly = true})); }
TEST(InjectedFault, RowsCombinedEarly) { EXPECT_TRUE(isSeen("clustered rows", {.addEarly = true})); }
TEST(InjectedFault, DroppedBarriers) { EXPECT_TRUE(isSeen("matmul", {.dropBarriers = true})); }
bool isSeenInRoles(InjectedFaults faults) { return isSeen("matmul", faults, BlockOrder::Ascending, "_groups"); }
TEST(InjectedFault, DroppedAwaits) { EXPECT_TRUE(isSeenInRoles({.dropAwaits = true})); }
TEST(InjectedFault, DroppedStoreWaits) { EXPECT_TRUE(isSeenInRoles({.dropStoreWaits = true})); }
TEST(InjectedFault, DroppedWaitsOfLateStores) {
  EXPECT_TRUE(isSeen("matmul", {.dropStoreWaits = true}, BlockOrder::Ascending, "rounded_f16_104x168x192"));
}
TEST(InjectedFault, DroppedMeetingsOfStagedStores) {
  EXPECT_TRUE(isSeen("matmul", {.dropStoreWaits = true}, BlockOrder::Ascending, "136x75x328_64x64x64_bt_groups"));
}
TEST(InjectedFault, DroppedMasksOfStagedStores) {
  EXPECT_TRUE(isSeen("matmul", {.dropMasks = true}, BlockOrder::Ascending, "136x75x328_64x64x64_bt_groups"));
}
TEST(InjectedFault, DroppedProxyFencesOfStores) { EXPECT_TRUE(isSeenInRoles({.dropProxyFences = true})); }
TEST(InjectedFault, DroppedRingWaits) { EXPECT_TRUE(isSeenInRoles({.dropRingWaits = true})); }
TEST(InjectedFault, DroppedRingWaitsOfAttention) { EXPECT_TRUE(isSeen("attention", {.dropRingWaits = true})); }
TEST(InjectedFault, DroppedProductWaits) { EXPECT_TRUE(isSeen("attention", {.dropProductWaits = true})); }
TEST(InjectedFault, EarlyReleases) { EXPECT_TRUE(isSeenInRoles({.releaseEarly = true})); }
TEST(InjectedFault, EarlyReleasesOfAttention) { EXPECT_TRUE(isSeen("attention", {.releaseEarly = true})); }
TEST(InjectedFault, DroppedProxyFences) { EXPECT_TRUE(isSeen("attention", {.dropProxyFences = true})); }
/// Of products of singles, whose left side is rewritten in shared memory.
bool isSeenInSingles(InjectedFaults faults) {
  return isSeen("matmul", faults, BlockOrder::Ascending, "_groups", DType::F32);
}
TEST(InjectedFault, DroppedBarriersOfSingles) { EXPECT_TRUE(isSeenInSingles({.dropBarriers = true})); }
TEST(InjectedFault, DroppedProxyFencesOfSingles) { EXPECT_TRUE(isSeenInSingles({.dropProxyFences = true})); }
TEST(InjectedFault, DroppedRingWaitsOfSingles) { EXPECT_TRUE(isSeenInSingles({.dropRingWaits = true})); }
TEST(InjectedFault, DroppedProductWaitsOfSingles) { EXPECT_TRUE(isSeenInSingles({.dropProductWaits = true})); }
TEST(InjectedFault, EarlyReleasesOfSingles) { EXPECT_TRUE(isSeenInSingles({.releaseEarly = true})); }
TEST(InjectedFault, DroppedMasks) { EXPECT_TRUE(isSeen("matmul", {.dropMasks = true})); }
TEST(InjectedFault, DroppedMasksOfWindows) { EXPECT_TRUE(isSeen("sliding window", {.dropMasks = true})); }

} // namespace
