// SPDX-License-Identifier: Apache-2.0
// Schedules for ranges of a size that only running tells.
#include "tilegen/schedule/SizeVariants.h"

#include "tilegen/roots/RootTable.h"
#include "tilegen/schedule/SelectSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace tilewright;
using tilegen::SizeVariants;

namespace {

/// s0 rows by 3,072 by 768.
std::string product(const char *type) {
  return fmt::format(R"(
    graph.kernel @k(%x: {0}, %y: {1}) -> {2} {{
      %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : {0}, {1} -> {2}
      graph.return %c : {2}
    }})",
                     fmt::format("tensor<?x3072x{}, affine_map<()[s0] -> (s0, 3072)>>", type),
                     fmt::format("tensor<3072x768x{}>", type), "tensor<?x768xf32, affine_map<()[s0] -> (s0, 768)>>");
}

/// s0 rows by so many columns of halves, with sums of that depth.
std::string halves(int64_t columns, int64_t depth) {
  return fmt::format(R"(
    graph.kernel @k(%x: {x}, %y: {y}) -> {result} {{
      %c = graph.contract %x, %y maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] : {x}, {y} -> {sum}
      %h = arith.truncf %c : {sum} to {result}
      graph.return %h : {result}
    }})",
                     fmt::arg("x", fmt::format("tensor<?x{0}xf16, affine_map<()[s0] -> (s0, {0})>>", depth)),
                     fmt::arg("y", fmt::format("tensor<{}x{}xf16>", depth, columns)),
                     fmt::arg("sum", fmt::format("tensor<?x{0}xf32, affine_map<()[s0] -> (s0, {0})>>", columns)),
                     fmt::arg("result", fmt::format("tensor<?x{0}xf16, affine_map<()[s0] -> (s0, {0})>>", columns)));
}

/// Twelve heads of 64, of s0 images, with s1 keys and as many rows, or one.
std::string attention(bool hasRows) {
  const char *rows = hasRows ? "?" : "1", *size = hasRows ? "s1" : "1";
  auto of = [&](const char *inner, std::string_view innerSize, const char *type) {
    bool hasKeys = hasRows || innerSize.ends_with("s1"); // maps have the symbols that they need
    return fmt::format("tensor<?x12x{}{}x{}, affine_map<()[s0{}] -> (s0, 12, {}{})>>", rows, inner, type,
                       hasKeys ? ", s1" : "", size, innerSize);
  };
  return fmt::format(
      R"(
    graph.kernel @k(%q: {q}, %k: {k}, %v: {k}) -> {o} attributes {{root = #graph.root<attention>}} {{
      %s = graph.contract %q, %k maps [affine_map<(b, h, m, n, d) -> (b, h, m, d)>, affine_map<(b, h, m, n, d) -> (b, h, n, d)>, affine_map<(b, h, m, n, d) -> (b, h, m, n)>] : {q}, {k} -> {s}
      %m = graph.reduce <max> %s axes [3] : {s} -> {r}
      %mb = graph.broadcast %m dims [0, 1, 2] : {r} -> {s}
      %d = arith.subf %s, %mb : {s}
      %e = math.exp %d : {s}
      %t = graph.reduce <sum> %e axes [3] : {s} -> {r}
      %tb = graph.broadcast %t dims [0, 1, 2] : {r} -> {s}
      %p = arith.divf %e, %tb : {s}
      %h = arith.truncf %p : {s} to {h}
      %o = graph.contract %h, %v maps [affine_map<(b, h, m, e, n) -> (b, h, m, n)>, affine_map<(b, h, m, e, n) -> (b, h, n, e)>, affine_map<(b, h, m, e, n) -> (b, h, m, e)>] : {h}, {k} -> {o}
      graph.return %o : {o}
    }})",
      fmt::arg("q", of("x64", ", 64", "f16")), fmt::arg("o", of("x64", ", 64", "f32")),
      fmt::arg("s", of("x?", ", s1", "f32")), fmt::arg("h", of("x?", ", s1", "f16")), fmt::arg("r", of("", "", "f32")),
      fmt::arg("k", "tensor<?x12x?x64xf16, affine_map<()[s0, s1] -> (s0, 12, s1, 64)>>"));
}

class SizeVariantsTest : public testing::Test {
protected:
  SizeVariantsTest() {
    context_.loadDialect<graph::GraphDialect, tile::TileDialect, arith::ArithDialect, math::MathDialect,
                         func::FuncDialect>();
  }

  std::optional<SizeVariants> variantsOf(const std::string &kernel, const char *target) {
    module_ = parseSourceString<ModuleOp>(kernel, &context_);
    if (!module_)
      return std::nullopt;
    auto space = tilegen::analyzeKernel(module_->lookupSymbol<graph::KernelOp>("k"));
    return tilegen::chooseVariants(*space, **findTarget(target));
  }

  MLIRContext context_;
  OwningOpRef<ModuleOp> module_;
};

int64_t rowsOf(tile::ScheduleAttr schedule) { return schedule.getTile().drop_back().back(); }

/// Large products by one product of tf32 want their right side along the sum: then all variants read that one.
TEST_F(SizeVariantsTest, ConstantsAreStoredOnce) {
  std::string kernel = product("f32");
  kernel.replace(kernel.find("%y: tensor<3072x768xf32>"), 24, "%y: tensor<3072x768xf32> {graph.constant}");
  for (auto [precision, pack] : {std::pair("tf32", 1), {"tf32x3", 0}}) {
    auto all = variantsOf(fmt::format("module attributes {{tile.matmul_precision = \"{}\"}} {{{}}}", precision, kernel),
                          "sm_90a");
    ASSERT_TRUE(all && all->variants.size() > 2) << precision;
    EXPECT_EQ(all->variants.front().schedule.getRoot(), graph::RootKind::Gemv) << precision;
    EXPECT_EQ(all->schedule.getPack(), pack) << precision;
    for (const tilegen::SizeVariant &variant : all->variants)
      EXPECT_EQ(variant.schedule.getPack(), pack) << precision << ", up to " << variant.most;
  }
}

TEST_F(SizeVariantsTest, AProductHasSchedulesForFewRowsAndForMany) {
  for (const char *type : {"f16", "f32"}) {
    std::optional<SizeVariants> found = variantsOf(product(type), "sm_90a");
    ASSERT_TRUE(found);
    ASSERT_GE(found->variants.size(), 3u);
    EXPECT_EQ(rowsOf(found->schedule), 128) << type; // where copies have warps of their own, large tiles do not spill
    int64_t before = 0;
    for (auto [most, schedule] : found->variants) {
      EXPECT_GT(most, before);
      before = most;
      bool isShared = schedule.getParts() > 1;
      EXPECT_EQ(schedule.getMostTiles() > 0, isShared); // room for parts is made for so many tiles
      if (isShared)
        EXPECT_EQ(schedule.getMostTiles(),
                  (most + rowsOf(schedule) - 1) / rowsOf(schedule) * 768 / schedule.getTile().back());
    }
    EXPECT_TRUE(llvm::any_of(found->variants, [](const auto &variant) { return variant.schedule.getParts() > 1; }));
    EXPECT_FALSE(found->schedule.getParts() > 1); // nobody promises how many tiles there are beyond the bounds
  }
}

TEST_F(SizeVariantsTest, FewRowsHaveTheScheduleOfAnArtifactForThem) {
  std::optional<SizeVariants> found = variantsOf(product("f16"), "sm_90a");
  const auto &few = found->variants.front();
  EXPECT_EQ(few.most, 16); // a vector times columns that run along memory is no gemv of its own
  EXPECT_EQ(rowsOf(few.schedule), 16);
  EXPECT_EQ(few.schedule.getReduce().back(), 128);
  // Singles of few rows step as deep as if sizes were known.
  found = variantsOf(product("f32"), "sm_90a");
  auto few32 = llvm::find_if(found->variants, [](const auto &variant) { return variant.most == 16; });
  ASSERT_NE(few32, found->variants.end());
  EXPECT_EQ(few32->schedule.getReduce().back(), 32);
}

/// Lengths of texts lie between the bounds. By the estimates their schedules take little longer than those of an
/// artifact for the length alone.
TEST_F(SizeVariantsTest, RowsBetweenTheBoundsTakeLittleLonger) {
  const TargetDesc &target = **findTarget("sm_90a");
  const std::pair<int64_t, int64_t> matrices[] = {{4096, 4096}, {4096, 14336}, {768, 768},   {3072, 768},
                                                  {768, 3072},  {1024, 4096},  {5120, 5120}, {1280, 5120}};
  for (int64_t rows : {129, 160, 197, 250, 300, 384, 450, 600, 768, 900}) {
    double logs = 0;
    for (auto [columns, depth] : matrices) {
      std::optional<SizeVariants> found = variantsOf(halves(columns, depth), "sm_90a");
      ASSERT_TRUE(found);
      auto space = tilegen::analyzeKernel(module_->lookupSymbol<graph::KernelOp>("k"));
      space->assumed = {found->size, rows, /*isMost=*/true};
      const auto *variant = llvm::find_if(found->variants, [&](const auto &v) { return v.most >= rows; });
      tile::ScheduleAttr chosen = variant == found->variants.end() ? found->schedule : variant->schedule;
      const tilegen::Root &root = tilegen::rootOf(space->root);
      std::optional<double> own = root.estimateForBlocks(*space, root.forBlocks(*space, target), target),
                            time = root.estimateForBlocks(*space, chosen, target);
      ASSERT_TRUE(own && time) << rows << "x" << columns << "x" << depth;
      logs += std::log(*time / *own);
    }
    EXPECT_LE(std::exp(logs / std::size(matrices)), 1.1) << rows;
  }
}

TEST_F(SizeVariantsTest, WarpsThatCopyForThemselvesKeepTheTypicalScheduleForMany) {
  std::optional<SizeVariants> singles = variantsOf(product("f32"), "sm_80"),
                              halves = variantsOf(product("f16"), "sm_80");
  EXPECT_LE(singles->variants.back().most, 16);
  EXPECT_LE(halves->variants.back().most, 2048);
}

TEST_F(SizeVariantsTest, AnAttentionGoesByItsRowsThoughItsBatchIsOpenToo) {
  std::optional<SizeVariants> found = variantsOf(attention(/*hasRows=*/true), "sm_90a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size, getAffineSymbolExpr(1, &context_));
  EXPECT_EQ(rowsOf(found->schedule), 128);
  ASSERT_GE(found->variants.size(), 3u);
  EXPECT_EQ(rowsOf(found->variants.front().schedule), 16);
  for (auto [most, schedule] : found->variants) {
    EXPECT_LE(rowsOf(schedule), 64);
    EXPECT_EQ(schedule.getParts(), 1); // how many tiles there are, the batch decides
  }
  // Four warps have registers for 128 keys, if there are more than that.
  EXPECT_EQ(found->variants.back().schedule.getReduce().front(), 128);
  EXPECT_EQ(found->schedule.getReduce().front(), 64);
}

TEST_F(SizeVariantsTest, AnAttentionOfOneRowGoesByItsBatch) {
  std::optional<SizeVariants> found = variantsOf(attention(/*hasRows=*/false), "sm_90a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size, getAffineSymbolExpr(0, &context_) * 12); // images and heads are one loop
  ASSERT_FALSE(found->variants.empty());
  const auto &few = found->variants.front();
  EXPECT_GT(few.schedule.getParts(), 1); // few programs share out their keys
  EXPECT_EQ(few.schedule.getMostTiles(), few.most / 12 * 12);
  EXPECT_EQ(found->schedule.getParts(), 1);
}

TEST_F(SizeVariantsTest, TheHostCutsRowsWhenRunning) { EXPECT_FALSE(variantsOf(product("f32"), "x86-64-v3")); }

TEST_F(SizeVariantsTest, LaunchesNameTheirVariants) {
  variantsOf(product("f16"), "sm_90a");
  std::string text;
  llvm::raw_string_ostream(text) << *module_->lookupSymbol("k") << R"(
    func.func @main(%x: tensor<?x3072xf16, affine_map<()[s0] -> (s0, 3072)>>, %y: tensor<3072x768xf16>)
        -> tensor<?x768xf32, affine_map<()[s0] -> (s0, 768)>> {
      %c = graph.launch @k(%x, %y) : (tensor<?x3072xf16, affine_map<()[s0] -> (s0, 3072)>>, tensor<3072x768xf16>)
          -> tensor<?x768xf32, affine_map<()[s0] -> (s0, 768)>>
      return %c : tensor<?x768xf32, affine_map<()[s0] -> (s0, 768)>>
    })";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context_);
  ASSERT_TRUE(module);
  (*module)->setAttr(graph::symbolsAttr, Builder(&context_).getStrArrayAttr({"n"}));
  ASSERT_TRUE(succeeded(selectSchedules(*module, **findTarget("sm_90a"))));
  EXPECT_TRUE(succeeded(verify(*module)));
  int launches = 0;
  module->walk([&](graph::LaunchOp launch) {
    ++launches;
    ASSERT_TRUE(launch.getVariants());
    for (auto variant : launch.getVariants()->getAsRange<graph::VariantAttr>()) {
      auto kernel = module->lookupSymbol<graph::KernelOp>(variant.getKernel().getValue());
      ASSERT_TRUE(kernel);
      EXPECT_TRUE(kernel.getScheduleAttr());
      EXPECT_EQ(kernel.getSymName(), fmt::format("k_to{}", variant.getMost()));
    }
  });
  EXPECT_EQ(launches, 1);
}

} // namespace
