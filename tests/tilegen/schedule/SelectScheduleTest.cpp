// SPDX-License-Identifier: Apache-2.0
// A kernel's shape and a target in, the schedule out: every root, for both program models. A change of a schedule shows
// here first; performance.md says why they are as they are.
#include "tilegen/schedule/SelectSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <array>
#include <cstdio>

using namespace mlir;
using namespace tilewright;

namespace {

struct Row {
  const char *shape, *target, *schedule;
};

constexpr const char *productMaps =
    "maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]";

/// Right sides whose columns are rows in memory; and the same of a batch.
constexpr const char *rowsMaps =
    "maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]";
constexpr const char *batchMaps = "maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, "
                                  "affine_map<(b, m, n, k) -> (b, m, n)>]";

/// Of types without "tensor".
std::string product(const std::string &lhs, const std::string &rhs, const std::string &result,
                    const std::string &maps = productMaps) {
  return "graph.kernel @k(%x: tensor<" + lhs + ">, %y: tensor<" + rhs + ">) -> tensor<" + result +
         "> { %c = graph.contract %x, %y " + maps + " {graph.node = 0 : i64} : tensor<" + lhs + ">, tensor<" + rhs +
         "> -> tensor<" + result + ">\n graph.return %c : tensor<" + result + "> }";
}

/// Two products of one left side that meet in a multiplication, of halves.
std::string pair(const std::string &m, const std::string &n, const std::string &k) {
  std::string lhs = "tensor<" + m + "x" + k + "xf16>", rhs = "tensor<" + k + "x" + n + "xf16>",
              result = "tensor<" + m + "x" + n + "xf32>";
  auto contract = [&](const std::string &name, const std::string &right) {
    return "%" + name + " = graph.contract %x, %" + right + " " + productMaps + " {graph.node = 0 : i64} : " + lhs +
           ", " + rhs + " -> " + result + "\n";
  };
  return "graph.kernel @k(%x: " + lhs + ", %g: " + rhs + ", %u: " + rhs + ") -> " + result + " {\n" +
         contract("a", "g") + contract("b", "u") + "%c = arith.mulf %a, %b {graph.node = 0 : i64} : " + result +
         "\n graph.return %c : " + result + " }";
}

/// "product MxNxK of halves" or "pair MxNxK of halves"; empty for others. Rows of which only running tells are "?".
std::string halvesText(const std::string &shape) {
  std::array<char, 16> kind{}, m{}, n{}, k{};
  if (std::sscanf(shape.c_str(), "%15s %15[0-9?]x%15[0-9]x%15[0-9] of halves", kind.data(), m.data(), n.data(),
                  k.data()) != 4 ||
      !llvm::StringRef(shape).ends_with(" of halves"))
    return "";
  std::string rows = m.data(), columns = n.data(), depth = k.data();
  if (kind.data() == std::string("pair"))
    return pair(rows, columns, depth);
  auto sizes = [&](const std::string &size) { return rows == "?" ? ", affine_map<()[s0] -> (s0, " + size + ")>" : ""; };
  return product(rows + "x" + depth + "xf16" + sizes(depth), depth + "x" + columns + "xf16",
                 rows + "x" + columns + "xf32" + sizes(columns));
}

/// The sums of rows, "1000x768" or "1000x768, halves", in f32.
std::string sumsOfRows(const std::string &sizes) {
  bool areHalves = sizes.ends_with(", halves");
  std::string stored = sizes.substr(0, sizes.find(',')), rows = stored.substr(0, stored.find('x')),
              x = "tensor<" + stored + (areHalves ? "xf16>" : "xf32>"), wide = "tensor<" + stored + "xf32>",
              y = "tensor<" + rows + "xf32>", value = areHalves ? "%v" : "%x",
              extend = areHalves ? "%v = arith.extf %x {graph.node = 0 : i64} : " + x + " to " + wide + "\n" : "";
  return "graph.kernel @k(%x: " + x + ") -> " + y + " {\n" + extend + "%y = graph.reduce <sum> " + value +
         " axes [1] {graph.node = 0 : i64} : " + wide + " -> " + y + "\ngraph.return %y : " + y + " }";
}

/// A kernel by what it computes and its sizes.
std::string kernelText(const std::string &shape) {
  if (std::string halves = halvesText(shape); !halves.empty())
    return halves;
  if (shape == "pointwise 1000x768")
    return R"(graph.kernel @k(%x: tensor<1000x768xf32>) -> tensor<1000x768xf32> {
      %y = math.exp %x : tensor<1000x768xf32>
      graph.return %y : tensor<1000x768xf32> })";
  if (shape.starts_with("rows ") && !shape.ends_with("turned"))
    return sumsOfRows(shape.substr(5));
  if (shape == "columns 49x512")
    return R"(graph.kernel @k(%x: tensor<49x512xf32>) -> tensor<512xf32> {
      %y = graph.reduce <sum> %x axes [0] {graph.node = 0 : i64} : tensor<49x512xf32> -> tensor<512xf32>
      graph.return %y : tensor<512xf32> })";
  if (shape == "groups 32x16384, channels last") // a group's mean, subtracted; the result has the channels of 4 last
    return R"(graph.kernel @k(%x: tensor<32x16384xf32>) -> tensor<4096x128xf32> {
      %s = graph.reduce <sum> %x axes [1] {graph.node = 0 : i64} : tensor<32x16384xf32> -> tensor<32xf32>
      %b = graph.broadcast %s dims [0] {graph.node = 0 : i64} : tensor<32xf32> -> tensor<32x16384xf32>
      %d = arith.subf %x, %b : tensor<32x16384xf32>
      %r = graph.reshape %d {graph.node = 0 : i64} : tensor<32x16384xf32> -> tensor<128x4096xf32>
      %y = graph.transpose %r perm [1, 0] {graph.node = 0 : i64} : tensor<128x4096xf32> -> tensor<4096x128xf32>
      graph.return %y : tensor<4096x128xf32> })";
  if (shape == "planes of 64x90000, turned") // and their sums with what lies in rows
    return R"(graph.kernel @k(%x: tensor<64x90000xf16>, %z: tensor<90000x64xf16>) -> tensor<90000x64xf16> {
      %t = graph.transpose %x perm [1, 0] {graph.node = 0 : i64} : tensor<64x90000xf16> -> tensor<90000x64xf16>
      %y = arith.addf %t, %z {graph.node = 0 : i64} : tensor<90000x64xf16>
      graph.return %y : tensor<90000x64xf16> })";
  if (shape == "rows of 20000, turned")
    return R"(graph.kernel @k(%x: tensor<7x20000xf16>) -> tensor<20000x7xf16> {
      %y = graph.transpose %x perm [1, 0] {graph.node = 0 : i64} : tensor<7x20000xf16> -> tensor<20000x7xf16>
      graph.return %y : tensor<20000x7xf16> })";
  if (shape == "product 512x512x512")
    return product("512x512xf32", "512x512xf32", "512x512xf32");
  if (shape == "vector 1024 with the rows of 64x1024")
    return product("1x1024xf32", "64x1024xf32", "1x64xf32", rowsMaps);
  if (shape == "268324 sums of 32 halves")
    return product("268324x32xf16", "1x32xf16", "268324x1xf32", rowsMaps);
  if (shape == "100000 products 1x1x32, halves")
    return product("100000x1x32xf16", "100000x1x32xf16", "100000x1x1xf32", batchMaps);
  if (shape == "1024 products 27x27x64, halves")
    return product("1024x27x64xf16", "1024x27x64xf16", "1024x27x27xf32", batchMaps);
  return product("1x1024xf32", "1024x64xf32", "1x64xf32"); // a vector times a matrix
}

class SelectScheduleTest : public testing::TestWithParam<Row> {};

TEST_P(SelectScheduleTest, GivesTheScheduleOfItsRow) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, tile::TileDialect, arith::ArithDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kernelText(GetParam().shape), &context);
  ASSERT_TRUE(module);
  Expected<const TargetDesc *> target = findTarget(GetParam().target);
  ASSERT_TRUE(target.ok());
  auto kernel = module->lookupSymbol<graph::KernelOp>("k");
  FailureOr<tile::ScheduleAttr> schedule = tilegen::selectSchedule(kernel, **target);
  ASSERT_TRUE(succeeded(schedule));
  std::string text;
  llvm::raw_string_ostream(text) << Attribute(*schedule);
  EXPECT_EQ(text, "#tile.schedule" + std::string(GetParam().schedule));
  kernel->setAttr("schedule", *schedule);
  ASSERT_TRUE(succeeded(selectSchedules(*module, **target))); // one that is there is kept
  EXPECT_EQ(kernel->getAttr("schedule"), Attribute(*schedule));
}

constexpr Row rows[] = {
    {"pointwise 1000x768", "x86-64-v3", "<pointwise, tile = [16384], registers = [1, 32]>"},
    {"pointwise 1000x768", "x86-64-v4", "<pointwise, tile = [16384], registers = [1, 64]>"},
    {"pointwise 1000x768", "sm_80", "<pointwise, tile = [1024], warps = 4>"},
    {"pointwise 1000x768", "sm_90a", "<pointwise, tile = [1024], warps = 4>"},
    {"pointwise 1000x768", "gfx942", "<pointwise, tile = [1024], warps = 2>"},
    {"rows 1000x768", "x86-64-v3", "<row_reduction, tile = [21], reduce = [768], registers = [1, 32]>"},
    {"rows 1000x768", "x86-64-v4", "<row_reduction, tile = [21], reduce = [768], registers = [1, 64]>"},
    {"rows 1000x768", "sm_80", "<row_reduction, tile = [1], reduce = [1024], warps = 2>"},
    {"rows 1000x768", "sm_90a", "<row_reduction, tile = [1], reduce = [1024], warps = 2>"},
    {"rows 1000x768", "gfx942", "<row_reduction, tile = [1], reduce = [1024]>"},
    {"rows 3000x40", "sm_90a", "<row_reduction, tile = [8], reduce = [64], warps = 4>"},
    {"groups 32x16384, channels last", "sm_90a", "<row_reduction, tile = [1], reduce = [4096, 4], warps = 16>"},
    // Threads with 32 halves, where rows are long and many enough; else 16, or what 512 threads leave.
    {"rows 2048x4097, halves", "sm_90a", "<row_reduction, tile = [1], reduce = [8192], warps = 8>"},
    {"rows 100x4097, halves", "sm_90a", "<row_reduction, tile = [1], reduce = [8192], warps = 16>"},
    {"rows 8192x1025, halves", "sm_90a", "<row_reduction, tile = [1], reduce = [2048], warps = 4>"},
    {"rows 2048x4097", "sm_90a", "<row_reduction, tile = [1], reduce = [8192], warps = 16>"},
    {"rows 64x10001, halves", "sm_90a", "<row_reduction, tile = [1], reduce = [16384], warps = 16>"},
    {"rows 1024x16384", "sm_90a", "<row_reduction, tile = [1], reduce = [16384], warps = 16>"},
    // Rows that are not held, and those whose elements are loaded one by one.
    {"rows 64x20000", "sm_90a", "<row_reduction, tile = [1], reduce = [4096], warps = 16>"},
    {"rows 640x20000", "sm_90a", "<row_reduction, tile = [1], reduce = [4096], warps = 16>"},
    {"rows 640x20001, halves", "sm_90a", "<row_reduction, tile = [1], reduce = [4096], warps = 32>"},
    {"planes of 64x90000, turned", "sm_90a", "<pointwise, tile = [64, 64], warps = 4>"},
    {"planes of 64x90000, turned", "gfx942", "<pointwise, tile = [64, 64], warps = 2>"},
    {"rows of 20000, turned", "sm_90a", "<pointwise, tile = [128, 8], warps = 4>"},
    {"268324 sums of 32 halves", "sm_90a", "<gemv, tile = [64, 1], reduce = [32], warps = 2>"},
    {"100000 products 1x1x32, halves", "sm_90a", "<gemv, tile = [1, 1, 1], reduce = [32]>"},
    {"1024 products 27x27x64, halves", "sm_90a", "<matmul, tile = [1, 32, 32], reduce = [64], warps = 4, stages = 4>"},
    {"columns 49x512", "x86-64-v3", "<window, tile = [512], reduce = [1], registers = [1, 32]>"},
    {"columns 49x512", "x86-64-v4", "<window, tile = [512], reduce = [1], registers = [1, 64]>"},
    {"columns 49x512", "sm_80", "<window, tile = [32], reduce = [64], warps = 2>"},
    {"columns 49x512", "sm_90a", "<window, tile = [32], reduce = [64], warps = 2>"},
    {"columns 49x512", "gfx942", "<window, tile = [32], reduce = [64]>"},
    {"product 512x512x512 of halves", "x86-64-v3", "<matmul, tile = [512, 32], reduce = [512], registers = [6, 16]>"},
    {"product 512x512x512 of halves", "x86-64-v4", "<matmul, tile = [512, 64], reduce = [512], registers = [6, 64]>"},
    {"product 512x512x512 of halves", "sm_80", "<matmul, tile = [32, 64], reduce = [64], warps = 4, stages = 4>"},
    {"product 512x512x512 of halves", "sm_90a",
     "<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 8, groups = 1, order = 8>"},
    {"product 512x512x512 of halves", "gfx942", "<matmul, tile = [16, 32], reduce = [128], warps = 2>"},
    {"product 4096x768x3072 of halves", "sm_90a",
     "<matmul, tile = [128, 192], reduce = [64], warps = 8, stages = 5, groups = 1, strip = 64>"},
    {"product 4096x1280x5120 of halves", "sm_90a",
     "<matmul, tile = [128, 320], reduce = [64], warps = 8, stages = 4, groups = 1, strip = 64>"},
    {"product 4096x5120x1280 of halves", "sm_90a",
     "<matmul, tile = [128, 128], reduce = [64], warps = 4, stages = 6, groups = 2, order = 4>"},
    {"product 784x2304x768 of halves", "sm_90a",
     "<matmul, tile = [128, 128], reduce = [64], warps = 8, stages = 7, groups = 1, order = 8, strip = 64>"},
    {"product 512x3072x768 of halves", "sm_90a",
     "<matmul, tile = [64, 192], reduce = [64], warps = 4, stages = 7, groups = 1, order = 8, strip = 64>"},
    // Neighbouring programs read few rows and columns: whole rows of few columns, one group of few rows, groups of four
    // or eight. A right side that does not stay in the cache is read once for each group, so groups are as high as
    // their left side stays there; if none does, by what a round of all blocks reads.
    {"product 1568x768x3072 of halves", "sm_90a",
     "<matmul, tile = [64, 192], reduce = [64], warps = 4, stages = 7, groups = 1, strip = 64>"},
    {"product 640x2048x8192 of halves", "sm_90a",
     "<matmul, tile = [64, 192], reduce = [64], warps = 4, stages = 7, groups = 1, order = 10, streamed = true, strip "
     "= 64>"},
    {"product 4096x4096x1024 of halves", "sm_90a",
     "<matmul, tile = [128, 128], reduce = [64], warps = 4, stages = 6, groups = 2, order = 4>"},
    {"product 4096x4096x4096 of halves", "sm_90a",
     "<matmul, tile = [128, 256], reduce = [64], warps = 8, stages = 4, groups = 1, order = 16, streamed = true>"},
    {"product 3152x4096x4096 of halves", "sm_90a",
     "<matmul, tile = [64, 320], reduce = [64], warps = 4, stages = 4, groups = 2, order = 32, streamed = true>"},
    {"product 8192x8192x8192 of halves", "sm_90a",
     "<matmul, tile = [128, 256], reduce = [64], warps = 8, stages = 4, groups = 1, order = 8, streamed = true>"},
    {"product 4096x4096x11008 of halves", "sm_90a",
     "<matmul, tile = [128, 256], reduce = [64], warps = 8, stages = 4, groups = 1, order = 16, streamed = true>"},
    {"product 512x1280x5120 of halves", "sm_90a",
     "<matmul, tile = [64, 192], reduce = [64], warps = 4, stages = 7, groups = 1, order = 4, parts = 2>"},
    {"product 512x512x512", "x86-64-v3", "<matmul, tile = [512, 32], reduce = [512], registers = [6, 16]>"},
    {"product 512x512x512", "x86-64-v4", "<matmul, tile = [512, 64], reduce = [512], registers = [6, 64]>"},
    {"product 512x512x512", "sm_80", "<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 4, parts = 3>"},
    {"product 512x512x512", "sm_90a",
     "<matmul, tile = [64, 64], reduce = [32], warps = 4, stages = 12, groups = 1, order = 4, parts = 2, clustered = "
     "true>"},
    {"product 512x512x512", "gfx942", "<matmul, tile = [32, 64], reduce = [16], warps = 4, parts = 4>"},
    // Few tiles and deep sums are shared by several blocks; where copies have warps of their own, by as many as divide
    // the steps. Not shared: rows whose number nobody promises (SizeVariantsTest.cpp), short sums, tiles enough.
    {"product 128x768x3072 of halves", "sm_90a",
     "<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 12, groups = 1, order = 8, parts = 4, clustered = "
     "true>"},
    // Right sides that stream through the device are read in long pieces of their rows. Sums are shared where tiles are
    // too few, by a cluster where they are about half of the multiprocessors; not of right sides so small that it would
    // cost more than it saves, and not short ones. From 129 rows on they are products like others. A last row of tiles
    // that is nearly empty runs ahead, so what it reads stays for the others, but of many rows it is only one.
    {"product 1x32000x4096 of halves", "sm_90a",
     "<matmul, tile = [16, 128], reduce = [64], warps = 4, stages = 6, streamed = true>"},
    {"product 8x9728x2560 of halves", "sm_90a",
     "<matmul, tile = [16, 128], reduce = [64], warps = 4, stages = 6, streamed = true>"},
    {"product 1x8192x8192 of halves", "sm_90a",
     "<matmul, tile = [16, 64], reduce = [128], warps = 4, stages = 6, streamed = true>"},
    {"product 1x2048x8192 of halves", "sm_90a",
     "<matmul, tile = [16, 128], reduce = [64], warps = 4, stages = 6, parts = 8, streamed = true>"},
    {"product 1x4096x4096 of halves", "sm_90a",
     "<matmul, tile = [16, 64], reduce = [128], warps = 4, stages = 6, parts = 2, clustered = true, streamed = true>"},
    {"product 16x4096x4096 of halves", "sm_90a",
     "<matmul, tile = [16, 64], reduce = [128], warps = 4, stages = 6, parts = 2, clustered = true, streamed = true>"},
    {"product 1x2048x2048 of halves", "sm_90a",
     "<matmul, tile = [16, 64], reduce = [128], warps = 4, stages = 6, parts = 2, clustered = true>"},
    {"product 32x4096x4096 of halves", "sm_90a",
     "<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 12, parts = 2, clustered = true, streamed = true>"},
    {"product 32x4096x1024 of halves", "sm_90a", "<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 12>"},
    {"product 32x5120x5120 of halves", "sm_90a",
     "<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 8, parts = 2, clustered = true, streamed = true>"},
    {"product 48x6144x4096 of halves", "sm_90a",
     "<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 12, streamed = true>"},
    {"product 64x14336x4096 of halves", "sm_90a",
     "<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 9, streamed = true>"},
    {"product 64x28672x4096 of halves", "sm_90a",
     "<matmul, tile = [64, 256], reduce = [64], warps = 4, stages = 5, streamed = true>"},
    {"product 128x4096x4096 of halves", "sm_90a",
     "<matmul, tile = [128, 64], reduce = [64], warps = 8, stages = 8, parts = 2, clustered = true, streamed = true>"},
    {"product 129x4096x4096 of halves", "sm_90a",
     "<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 9, groups = 1, order = 8, strip = 64>"},
    {"product 96x14336x4096 of halves", "sm_90a",
     "<matmul, tile = [128, 128], reduce = [64], warps = 4, stages = 6, streamed = true>"},
    {"product 128x32000x4096 of halves", "sm_90a",
     "<matmul, tile = [128, 256], reduce = [64], warps = 8, stages = 4, streamed = true>"},
    {"product 64x768x3072 of halves", "sm_90a",
     "<matmul, tile = [64, 64], reduce = [64], warps = 4, stages = 12, groups = 1, order = 8, parts = 8, clustered = "
     "true>"},
    // A pair has a tile of each of its products.
    {"pair 4096x11008x4096 of halves", "sm_90a",
     "<matmul, tile = [128, 128], reduce = [64], warps = 8, stages = 4, groups = 1, order = 16, streamed = true>"},
    {"pair 64x11008x4096 of halves", "sm_90a",
     "<matmul, tile = [64, 64], reduce = [64], warps = 8, stages = 4, streamed = true>"},
    {"pair 32x11008x4096 of halves", "sm_90a",
     "<matmul, tile = [32, 128], reduce = [32], warps = 8, stages = 6, streamed = true>"},
    {"pair 1x11008x4096 of halves", "sm_90a",
     "<matmul, tile = [16, 128], reduce = [32], warps = 8, stages = 6, streamed = true>"},
    {"pair 1x8192x2048 of halves", "sm_90a",
     "<matmul, tile = [16, 64], reduce = [64], warps = 8, stages = 8, streamed = true>"},
    {"pair 1x4096x4096 of halves", "sm_90a",
     "<matmul, tile = [16, 128], reduce = [32], warps = 8, stages = 6, parts = 4, streamed = true>"},
    {"pair 1x1024x512 of halves", "sm_90a", "<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 6>"},
    {"pair 4096x11008x4096 of halves", "sm_80", "<matmul, tile = [128, 64], reduce = [32], warps = 4, stages = 4>"},
    {"pair 1x8192x2048 of halves", "sm_80", "<matmul, tile = [16, 64], reduce = [64], warps = 4, stages = 4>"},
    {"pair 4096x11008x4096 of halves", "gfx942", "<matmul, tile = [128, 64], reduce = [32], warps = 4>"},
    // Blocks that have a multiprocessor to themselves have all of its shared memory.
    {"product 1x5632x2048 of halves", "sm_90a",
     "<matmul, tile = [16, 64], reduce = [128], warps = 4, stages = 6, streamed = true>"},
    {"product 16x4096x4096 of halves", "sm_80",
     "<matmul, tile = [16, 64], reduce = [128], warps = 4, stages = 4, parts = 3>"},
    {"product 16x4096x4096 of halves", "gfx942", "<matmul, tile = [16, 64], reduce = [128], warps = 4, parts = 8>"},
    {"product ?x768x3072 of halves", "sm_90a",
     "<matmul, tile = [64, 128], reduce = [64], warps = 4, stages = 9, groups = 1, order = 8>"},
    {"product 128x768x256 of halves", "sm_90a", "<matmul, tile = [16, 32], reduce = [128], warps = 2, stages = 4>"},
    {"vector 1024 times 1024x64", "x86-64-v3", "<matmul, tile = [1, 64], reduce = [1024], registers = [1, 64]>"},
    {"vector 1024 times 1024x64", "x86-64-v4", "<matmul, tile = [1, 64], reduce = [1024], registers = [1, 64]>"},
    {"vector 1024 times 1024x64", "sm_80", "<gemv, tile = [1, 8], reduce = [1024], warps = 8>"},
    {"vector 1024 times 1024x64", "sm_90a", "<gemv, tile = [1, 8], reduce = [1024], warps = 8>"},
    {"vector 1024 times 1024x64", "gfx942", "<gemv, tile = [1, 8], reduce = [1024], warps = 4>"},
    {"vector 1024 with the rows of 64x1024", "x86-64-v3",
     "<gemv, tile = [1, 8], reduce = [1024], registers = [1, 32]>"},
    {"vector 1024 with the rows of 64x1024", "x86-64-v4",
     "<gemv, tile = [1, 16], reduce = [1024], registers = [1, 64]>"},
    {"vector 1024 with the rows of 64x1024", "sm_90a", "<gemv, tile = [1, 4], reduce = [1024], warps = 4>"},
};

INSTANTIATE_TEST_SUITE_P(Table, SelectScheduleTest, testing::ValuesIn(rows));

} // namespace
