// SPDX-License-Identifier: Apache-2.0
// Schedules of attentions: in what tiles, and on GPUs which have warps that copy beside warps that multiply.
#include "tilegen/schedule/SelectSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tilewright;

namespace {

struct Row {
  int64_t heads, rows, keys, head;
  const char *target, *schedule;
  bool isCausal = false, isSingle = false;
};

constexpr const char *text = R"(
  graph.kernel @k(%q: tensor<{q}x{t}>, %k: tensor<{k}x{t}>, %v: tensor<{k}x{t}>) -> tensor<{q}xf32> attributes {{{causal}root = #graph.root<attention>}} {{
    %s = graph.contract %q, %k maps [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
        : tensor<{q}x{t}>, tensor<{k}x{t}> -> tensor<{s}xf32>
    %m = graph.reduce <max> %s axes [2] : tensor<{s}xf32> -> tensor<{r}xf32>
    %mb = graph.broadcast %m dims [0, 1] : tensor<{r}xf32> -> tensor<{s}xf32>
    %d = arith.subf %s, %mb : tensor<{s}xf32>
    %e = math.exp %d : tensor<{s}xf32>
    %t = graph.reduce <sum> %e axes [2] : tensor<{s}xf32> -> tensor<{r}xf32>
    %tb = graph.broadcast %t dims [0, 1] : tensor<{r}xf32> -> tensor<{s}xf32>
    %p = arith.divf %e, %tb : tensor<{s}xf32>
    {narrow}
    %o = graph.contract %{shares}, %v maps [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>, affine_map<(b, m, e, n) -> (b, m, e)>]
        : tensor<{s}x{t}>, tensor<{k}x{t}> -> tensor<{q}xf32>
    graph.return %o : tensor<{q}xf32>
  }})";

constexpr const char *causal = "graph.keys_below = affine_map<(d0, d1, d2) -> (d1 + 1)>, ";

class AttentionSchedulesTest : public testing::TestWithParam<Row> {};

TEST_P(AttentionSchedulesTest, GivesTheScheduleOfItsRow) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, tile::TileDialect, arith::ArithDialect, math::MathDialect>();
  auto [heads, rows, keys, head, targetName, expected, isCausal, isSingle] = GetParam();
  std::string narrow = fmt::format("%h = arith.truncf %p : tensor<{0}xf32> to tensor<{0}xf16>",
                                   fmt::format("{}x{}x{}", heads, rows, keys));
  std::string kernel = fmt::format(
      fmt::runtime(text), fmt::arg("q", fmt::format("{}x{}x{}", heads, rows, head)),
      fmt::arg("k", fmt::format("{}x{}x{}", heads, keys, head)),
      fmt::arg("s", fmt::format("{}x{}x{}", heads, rows, keys)), fmt::arg("r", fmt::format("{}x{}", heads, rows)),
      fmt::arg("causal", isCausal ? causal : ""), fmt::arg("t", isSingle ? "f32" : "f16"),
      fmt::arg("narrow", isSingle ? "" : narrow), fmt::arg("shares", isSingle ? "p" : "h"));
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kernel, &context);
  ASSERT_TRUE(module);
  Expected<const TargetDesc *> target = findTarget(targetName);
  ASSERT_TRUE(target.ok());
  FailureOr<tile::ScheduleAttr> schedule =
      tilegen::selectSchedule(module->lookupSymbol<graph::KernelOp>("k"), **target);
  ASSERT_TRUE(succeeded(schedule));
  std::string found;
  llvm::raw_string_ostream(found) << Attribute(*schedule);
  EXPECT_EQ(found, "#tile.schedule<attention, " + std::string(expected) + ">");
}

constexpr Row rows[] = {
    // Roles: as many slots as there is room for, up to three.
    {96, 512, 512, 64, "sm_90a", "tile = [1, 128, 64], reduce = [128, 64], warps = 8, stages = 3, groups = 1"},
    {128, 2048, 2048, 128, "sm_90a", "tile = [1, 128, 128], reduce = [128, 128], warps = 8, stages = 2, groups = 1"},
    {32, 1024, 1024, 256, "sm_90a", "tile = [1, 128, 256], reduce = [64, 256], warps = 8, stages = 2, groups = 1"},
    // Smaller heads are padded to a row of shared memory, others to a power of two.
    {96, 512, 512, 32, "sm_90a", "tile = [1, 128, 64], reduce = [128, 64], warps = 8, stages = 3, groups = 1"},
    {96, 512, 512, 80, "sm_90a", "tile = [1, 128, 128], reduce = [128, 128], warps = 8, stages = 2, groups = 1"},
    // Half the rows if every such block still has a multiprocessor; half the keys if the loop would have one step.
    {12, 197, 197, 64, "sm_90a", "tile = [1, 64, 64], reduce = [128, 64], warps = 4, stages = 3, groups = 1"},
    {12, 128, 128, 64, "sm_90a", "tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 3, groups = 1"},
    // No roles: one step of keys, few rows, heads that leave no registers, no copy engine.
    {12, 64, 64, 64, "sm_90a", "tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2"},
    {256, 16, 8192, 64, "sm_90a", "tile = [1, 16, 64], reduce = [64, 64], stages = 3"},
    {64, 1024, 1024, 512, "sm_90a", "tile = [1, 128, 512], reduce = [16, 512], warps = 8, stages = 2"},
    {96, 512, 512, 64, "sm_80", "tile = [1, 128, 64], reduce = [128, 64], warps = 8, stages = 2"},
    // Few blocks with many keys are split, until each multiprocessor has one; with roles even if tiles are not full.
    {64, 16, 8192, 64, "sm_90a",
     "tile = [1, 64, 64], reduce = [128, 64], warps = 4, stages = 3, groups = 1, parts = 2"},
    {8, 8, 8192, 128, "sm_90a",
     "tile = [1, 64, 128], reduce = [128, 128], warps = 4, stages = 3, groups = 1, parts = 16"},
    {8, 128, 8192, 128, "sm_90a",
     "tile = [1, 64, 128], reduce = [128, 128], warps = 4, stages = 3, groups = 1, parts = 8"},
    {8, 8, 8192, 128, "sm_80", "tile = [1, 16, 128], reduce = [64, 128], stages = 2, parts = 16"},
    {8, 8, 8192, 32, "gfx942", "tile = [1, 16, 32], reduce = [64, 32], stages = 2, parts = 16"},
    // A few keys are read before parts could be put together.
    {8, 8, 256, 64, "sm_90a", "tile = [1, 16, 64], reduce = [64, 64], stages = 3"},
    {8, 128, 512, 64, "sm_90a", "tile = [1, 64, 64], reduce = [128, 64], warps = 4, stages = 3, groups = 1"},
    // Causal tiles in the order in which blocks get about equally many steps, of heads that the cache holds; but one
    // tile of each head, or one tile of each block, need no order.
    {128, 2048, 2048, 128, "sm_90a",
     "tile = [1, 128, 128], reduce = [128, 128], warps = 8, stages = 2, groups = 1, order = 11", true},
    {96, 512, 512, 64, "sm_90a",
     "tile = [1, 128, 64], reduce = [128, 64], warps = 8, stages = 3, groups = 1, order = 96", true},
    {129, 300, 300, 64, "sm_90a",
     "tile = [1, 128, 64], reduce = [128, 64], warps = 8, stages = 3, groups = 1, order = 129", true},
    {1, 32768, 32768, 64, "sm_90a",
     "tile = [1, 128, 64], reduce = [128, 64], warps = 8, stages = 3, groups = 1, order = 2", true},
    {300, 128, 128, 64, "sm_90a", "tile = [1, 128, 64], reduce = [64, 64], warps = 8, stages = 3, groups = 1", true},
    {16, 1024, 1024, 64, "sm_90a", "tile = [1, 128, 64], reduce = [128, 64], warps = 8, stages = 3, groups = 1", true},
    {96, 512, 512, 64, "sm_80", "tile = [1, 128, 64], reduce = [128, 64], warps = 8, stages = 2", true},
    // Singles: no roles, and fewer keys where registers are few.
    {96, 512, 512, 64, "sm_90a", "tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2", false, true},
    {96, 512, 512, 64, "sm_80", "tile = [1, 64, 64], reduce = [64, 64], warps = 4, stages = 2", false, true},
    {32, 512, 512, 256, "sm_90a", "tile = [1, 64, 256], reduce = [16, 256], warps = 4, stages = 2", false, true},
    {4, 1, 4096, 64, "sm_90a", "tile = [1, 16, 64], reduce = [32, 64], stages = 2, parts = 16", false, true},
    // Cores: all keys in one step, of as many rows as leave the scores in a cache. More keys, and keys of large heads,
    // in even steps of about a thousand, and few rows at a time below a diagonal.
    {12, 197, 197, 64, "x86-64-v4", "tile = [1, 197, 64], reduce = [208, 64], registers = [6, 64]", false, true},
    {8, 1024, 1024, 64, "x86-64-v4", "tile = [1, 258, 64], reduce = [1024, 64], registers = [6, 64]", false, true},
    {6, 1500, 1500, 64, "x86-64-v4", "tile = [1, 192, 64], reduce = [1504, 64], registers = [6, 64]", false, true},
    {6, 2048, 2048, 64, "x86-64-v4", "tile = [1, 138, 64], reduce = [2048, 64], registers = [6, 64]", false, true},
    {6, 2049, 2049, 64, "x86-64-v4", "tile = [1, 258, 64], reduce = [1040, 64], registers = [6, 64]", false, true},
    {1, 1500, 1500, 512, "x86-64-v4", "tile = [1, 378, 512], reduce = [752, 512], registers = [6, 64]", false, true},
    {8, 1024, 1024, 64, "x86-64-v4", "tile = [1, 150, 64], reduce = [1024, 64], registers = [6, 64]", true, true},
    {6, 1500, 1500, 64, "x86-64-v4", "tile = [1, 138, 64], reduce = [752, 64], registers = [6, 64]", true, true},
};
INSTANTIATE_TEST_SUITE_P(Table, AttentionSchedulesTest, testing::ValuesIn(rows));

/// What each target fuses at all: singles where matrix units take them as tf32, and may.
TEST(AttentionFusionTest, GoesByWhatMatrixUnitsChain) {
  using fusion::AttentionFusion;
  auto of = [](const char *target, MatmulPrecision precision) {
    return tilegen::attentionFusion(**findTarget(target), precision);
  };
  EXPECT_EQ(of("x86-64-v3", MatmulPrecision::Tf32x3), AttentionFusion::Large);
  for (const char *target : {"sm_80", "sm_90a"}) {
    EXPECT_EQ(of(target, MatmulPrecision::Tf32x3), AttentionFusion::Floats) << target;
    EXPECT_EQ(of(target, MatmulPrecision::Tf32), AttentionFusion::Floats) << target;
    EXPECT_EQ(of(target, MatmulPrecision::Ieee), AttentionFusion::Halves) << target;
  }
  EXPECT_EQ(of("gfx942", MatmulPrecision::Tf32x3), AttentionFusion::Halves);
}

} // namespace
