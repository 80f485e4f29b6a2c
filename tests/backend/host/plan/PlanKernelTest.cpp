// SPDX-License-Identifier: Apache-2.0
// Plans of whole kernels: which nests run in which order, what they buffer and where, and what has no plan.
#include "backend/host/plan/PlanKernel.h"

#include "tests/backend/host/ParsedKernel.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

KernelPlan planOf(ParsedKernel &parsed, unsigned vectorBits = 512) {
  HostOptions options;
  options.vectorBits = vectorBits;
  Expected<KernelPlan> plan = planKernel(parsed.kernel(), VectorUnit(options));
  EXPECT_TRUE(static_cast<bool>(plan));
  return std::move(*plan);
}

/// The steps as a line of text: `buffer NAME` or `store`, with what is special about each.
std::string describe(const Steps &steps) {
  std::string text;
  for (const Step &step : steps) {
    text += text.empty() ? "" : "; ";
    if (auto *loop = std::get_if<std::unique_ptr<MemoryLoop>>(&step)) {
      text += "loop {" + describe((*loop)->initial) + " | " + describe((*loop)->body) + " | " +
              describe((*loop)->update) + "}";
      continue;
    }
    Nest nest = std::get<Nest>(step);
    if (nest.order == Nest::Order::TransposedLoad)
      text += "transposed ";
    if (nest.order == Nest::Order::TransposedStore)
      text += "transposed ";
    if (!nest.registerBlocked.empty())
      text += "blocked ";
    if (nest.keptFor)
      text += "repeated ";
    if (nest.laneAxis)
      text += "along " + std::to_string(nest.laneAxis) + " ";
    Value value = nest.roots.front().value;
    Operation *op = value ? value.getDefiningOp() : nullptr;
    text += nest.roots.front().store ? "store" : nest.isBuffered ? "buffer" : "fill";
    if (op)
      text += " " + op->getName().getStringRef().str();
    if (nest.roots.size() > 1)
      text += " x" + std::to_string(nest.roots.size());
  }
  return text;
}

/// Two roots stand for the exponential, which is many operations by the time a kernel is planned.
TEST(PlanKernel, SoftmaxBuffersReductionsAndWhatTheyShare) {
  ParsedKernel parsed(R"(
tile.kernel @softmax(%x: !tile.buffer<f32, () -> (64, 1024)>, %y: !tile.buffer<f32, () -> (64, 1024)>)
    attributes {grid = affine_map<() -> (1, 64, 1)>, schedule = #tile.schedule<row_reduction, tile = [1], reduce = [1024], registers = [1, 64]>} {
  %r = tile.program_id 1
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%r, %c0] bounds () -> (64, 1024) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 1024)> -> tensor<1x1024xf32>
  %m = tile.reduce <max> %v dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %mb = tile.broadcast %m : tensor<1x1xf32> -> tensor<1x1024xf32>
  %d = arith.subf %v, %mb : tensor<1x1024xf32>
  %root = math.sqrt %d : tensor<1x1024xf32>
  %e = math.sqrt %root : tensor<1x1024xf32>
  %s = tile.reduce <sum> %e dim 1 : tensor<1x1024xf32> -> tensor<1x1xf32>
  %sb = tile.broadcast %s : tensor<1x1xf32> -> tensor<1x1024xf32>
  %q = arith.divf %e, %sb : tensor<1x1024xf32>
  tile.store %q, %y[%r, %c0] bounds () -> (64, 1024) map (d0, d1) -> (d0, d1) : tensor<1x1024xf32> -> !tile.buffer<f32, () -> (64, 1024)>
  tile.return
})");
  KernelPlan plan = planOf(parsed);
  EXPECT_EQ(describe(plan.steps), "buffer tile.reduce; buffer math.sqrt; buffer tile.reduce; store");
  // One element each of a reduction, in 64 bytes; a row of what they share.
  EXPECT_EQ(std::get<Nest>(plan.steps[1]).roots.front().target.offset, 64u);
  EXPECT_EQ(std::get<Nest>(plan.steps[2]).roots.front().target.offset, 64u + 4096);
  EXPECT_EQ(plan.workspaceBytes, 64u + 4096 + 64);
  EXPECT_EQ(plan.clampableAxes & 3, 2u) << "the columns are reduced, the rows are not";
}

/// Sums of rows, then of an outer dimension, and what is computed from them, with a last store of `last`.
std::string sumsOfRows(const std::string &last) {
  return R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (7, 64, 96)>, %y: !tile.buffer<f32, () -> (1, 64)>, %z: !tile.buffer<f32, () -> (64, 96)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0, %c0] bounds () -> (7, 64, 96) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f32, () -> (7, 64, 96)> -> tensor<7x64x96xf32>
  %s = tile.reduce <sum> %v dim 2 : tensor<7x64x96xf32> -> tensor<7x64x1xf32>
  %t = tile.reduce <sum> %s dim 0 : tensor<7x64x1xf32> -> tensor<1x64x1xf32>
  %n = math.sqrt %t : tensor<1x64x1xf32>
  tile.store %n, %y[%c0, %c0, %c0] bounds () -> (1, 64, 1) map (d0, d1, d2) -> (d0, d1) : tensor<1x64x1xf32> -> !tile.buffer<f32, () -> (1, 64)>
)" + last +
         R"(
  tile.return
})";
}

TEST(PlanKernel, OneColumnAtTheEndIsComputedAlongItsRows) {
  ParsedKernel parsed(sumsOfRows("")), followed(sumsOfRows(R"(
  %w = tile.load %x[%c0, %c0, %c0] bounds () -> (1, 64, 96) map (d0, d1, d2) -> (d0, d1, d2) : !tile.buffer<f32, () -> (7, 64, 96)> -> tensor<1x64x96xf32>
  %b = tile.broadcast %t : tensor<1x64x1xf32> -> tensor<1x64x96xf32>
  %q = arith.addf %w, %b : tensor<1x64x96xf32>
  tile.store %q, %z[%c0, %c0, %c0] bounds () -> (1, 64, 96) map (d0, d1, d2) -> (d1, d2) : tensor<1x64x96xf32> -> !tile.buffer<f32, () -> (64, 96)>)"));
  EXPECT_EQ(describe(planOf(parsed).steps), "buffer tile.reduce; along 1 buffer tile.reduce; along 1 store");
  EXPECT_EQ(describe(planOf(followed).steps), "buffer tile.reduce; buffer tile.reduce; store; store")
      << "what follows reads whole rows, which stay in the cache while all of one row is computed";
}

/// A product whose left side is loaded with `left`.
std::string matmul(const std::string &left, const std::string &schedule) {
  return R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (96, 27)>, %p: !tile.buffer<f32, () -> (1, 27, 64)>
      {tile.packed_from = affine_map<(d0, d1, d2) -> (d1, d0 * 64 + d2)>, tile.source = tensor<27x64xf32>},
    %y: !tile.buffer<f32, () -> (96, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<matmul,
      tile = [96, 64], reduce = [27], registers = [6, 64], pack = 64)" +
         schedule + R"(>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<96x64xf32>
  %a = tile.load %x[%c0, %c0] bounds () -> (96, 27) map )" +
         left + R"( : !tile.buffer<f32, () -> (96, 27)> -> tensor<96x27xf32>
  %b = tile.load %p[%c0, %c0] bounds () -> (27, 64) map (d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)
      : !tile.buffer<f32, () -> (1, 27, 64)> -> tensor<27x64xf32>
  %d = tile.dot %a, %b, %zero : tensor<96x27xf32>, tensor<27x64xf32>, tensor<96x64xf32>
  %n = arith.negf %d : tensor<96x64xf32>
  tile.store %n, %y[%c0, %c0] bounds () -> (96, 64) map (d0, d1) -> (d0, d1) : tensor<96x64xf32> -> !tile.buffer<f32, () -> (96, 64)>
  tile.store %d, %y[%c0, %c0] bounds () -> (96, 64) map (d0, d1) -> (d0, d1) : tensor<96x64xf32> -> !tile.buffer<f32, () -> (96, 64)>
  tile.return
})";
}

TEST(PlanKernel, StoresOfOneShapeShareARegisterBlockedNest) {
  ParsedKernel parsed(matmul("(d0, d1) -> (d0, d1)", ""));
  KernelPlan plan = planOf(parsed);
  EXPECT_EQ(describe(plan.steps), "blocked store x2");
  EXPECT_EQ(plan.workspaceBytes, 0u);
  EXPECT_EQ(plan.dots.registerRows, 6u);
  EXPECT_EQ(plan.registerColumns, 64u);
}

/// Planes are stored by square blocks, also where the product is stored as it is too: that one is kept for both.
TEST(PlanKernel, ATransposedCopyOfAProductIsANestOfItsOwn) {
  std::string text = matmul("(d0, d1) -> (d0, d1)", "");
  size_t second = text.rfind("tile.store %d");
  for (auto [from, to] : {std::pair("map (d0, d1) -> (d0, d1)", "map (d0, d1) -> (d1, d0)"),
                          std::pair("%y[%c0, %c0]", "%z[%c0, %c0]"), std::pair("(96, 64)>", "(64, 96)>")})
    text.replace(text.rfind(from), std::string(from).size(), to);
  ASSERT_LT(second, text.rfind("(d1, d0)"));
  text.replace(text.find("%y: "), 4, "%z: !tile.buffer<f32, () -> (64, 96)>, %y: ");
  ParsedKernel parsed(text);
  EXPECT_EQ(describe(planOf(parsed).steps), "blocked buffer tile.dot; store; transposed store");
}

/// A product of three columns that is stored as planes, and by nothing else, is computed for these columns alone.
TEST(PlanKernel, WhatOnlyATransposedStoreReadsHasItsColumns) {
  std::string text = matmul("(d0, d1) -> (d0, d1)", "");
  text.erase(text.rfind("  tile.store %d"));
  text += "  tile.return\n}";
  for (auto [from, to] :
       {std::pair("map (d0, d1) -> (d0, d1) : tensor", "map (d0, d1) -> (d1, d0) : tensor"),
        std::pair("bounds () -> (96, 64)", "bounds () -> (96, 3)"), std::pair("() -> (96, 64)>", "() -> (3, 96)>"),
        std::pair("() -> (96, 64)>", "() -> (3, 96)>")})
    text.replace(text.rfind(from), std::string(from).size(), to);
  ParsedKernel parsed(text);
  KernelPlan plan = planOf(parsed);
  EXPECT_EQ(describe(plan.steps), "blocked buffer arith.negf; transposed store");
  tile::StoreOp limit = std::get<Nest>(plan.steps.front()).limits.front();
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit, parsed.get<tile::StoreOp>());
}

/// A tile is kept for as many of its columns as are stored, up to the end of a register tile: readers take whole ones.
TEST(PlanKernel, AKeptTileEndsWithTheStoredColumns) {
  ParsedKernel parsed(R"(
tile.kernel @spread(%x: !tile.buffer<f32, ()[s0] -> (s0, 3)>, %y: !tile.buffer<f32, ()[s0] -> (s0)>, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 1024, 1, 1)>, symbols = affine_map<()[s0] -> (s0)>, schedule = #tile.schedule<window, tile = [1024], reduce = [1], registers = [1, 64]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %p = tile.program_id 0
  %r = tile.size (d0) -> (d0 * 1024)(%p)
  %zero = arith.constant dense<0.0> : tensor<1x1024xf32>
  %most = scf.for %i = %c0 to %c3 step %c1 iter_args(%m = %zero) -> (tensor<1x1024xf32>) {
    %v = tile.load %x[%i, %r] bounds ()[s0] -> (3, s0) map (d0, d1) -> (d1, d0) : !tile.buffer<f32, ()[s0] -> (s0, 3)> -> tensor<1x1024xf32>
    %next = arith.maximumf %m, %v : tensor<1x1024xf32>
    scf.yield %next : tensor<1x1024xf32>
  }
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (tensor<1x1024xf32>) {
    %v = tile.load %x[%i, %r] bounds ()[s0] -> (3, s0) map (d0, d1) -> (d1, d0) : !tile.buffer<f32, ()[s0] -> (s0, 3)> -> tensor<1x1024xf32>
    %d = arith.subf %most, %v : tensor<1x1024xf32>
    %next = arith.addf %s, %d : tensor<1x1024xf32>
    scf.yield %next : tensor<1x1024xf32>
  }
  tile.store %sum, %y[%c0, %r] bounds ()[s0] -> (1, s0) map (d0, d1) -> (d1) : tensor<1x1024xf32> -> !tile.buffer<f32, ()[s0] -> (s0)>
  tile.return
})");
  KernelPlan plan = planOf(parsed);
  ASSERT_EQ(plan.steps.size(), 2u) << describe(plan.steps);
  const Nest &kept = std::get<Nest>(plan.steps.front());
  EXPECT_TRUE(kept.isBuffered);
  EXPECT_EQ(tile::StoreOp(kept.limits.front()), parsed.get<tile::StoreOp>());
  EXPECT_EQ(kept.columnUnit, 64);
  EXPECT_EQ(std::get<Nest>(plan.steps.back()).columnUnit, 1) << "a store writes what is inside of its bounds";
}

/// Columns that a dot sums over are computed whatever is stored, here as many as the product has.
TEST(PlanKernel, AKeptLeftSideOfADotIsWhole) {
  std::string text = matmul("(d0, d1) -> (d0, d1 - 1) guard [1] fill 0.0 : f32", "");
  for (size_t at = text.find("27"); at != std::string::npos; at = text.find("27", at))
    text.replace(at, 2, "64");
  ParsedKernel parsed(text);
  KernelPlan plan = planOf(parsed);
  EXPECT_EQ(describe(plan.steps), "buffer tile.load; blocked store x2");
  EXPECT_FALSE(std::get<Nest>(plan.steps.front()).limits.front());
}

/// All programs turn the same right side. One that is turned within a loop may not be there yet, as the loop may have
/// run no iteration in the program before.
TEST(PlanKernel, ARightSideIsRepeatedOutsideOfLoops) {
  auto product = [](const std::string &before, const std::string &behind) {
    return R"(
tile.kernel @k(%a: !tile.buffer<f32, () -> (64, 32)>, %b: !tile.buffer<f32, () -> (64, 32)>, %y: !tile.buffer<f32, () -> (64, 64)>)
    attributes {grid = affine_map<() -> (4, 1, 1)>, schedule = #tile.schedule<matmul, tile = [16, 64], reduce = [32], registers = [4, 64]>} {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %times = tile.size (d0) -> (d0 mod 2)(%p)
  %m = tile.size (d0) -> (d0 * 16)(%p)
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %l = tile.load %a[%m, %c0] bounds () -> (64, 32) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 32)> -> tensor<16x32xf32>
  %r = tile.load %b[%c0, %c0] bounds () -> (32, 64) map (d0, d1) -> (d1, d0) : !tile.buffer<f32, () -> (64, 32)> -> tensor<32x64xf32>
  )" + before +
           R"(
  %s = tile.dot %l, %r, %none : tensor<16x32xf32>, tensor<32x64xf32>, tensor<16x64xf32>
  tile.store %s, %y[%m, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : tensor<16x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  )" + behind +
           "\n  tile.return\n}";
  };
  ParsedKernel once(product("", "")), within(product("scf.for %i = %c0 to %times step %c1 {", "}"));
  EXPECT_EQ(describe(planOf(once).steps), "transposed repeated buffer tile.load; blocked store");
  EXPECT_EQ(describe(planOf(within).steps), "loop { | transposed buffer tile.load; blocked store | }");
}

TEST(PlanKernel, AWindowIsCopiedUnlessTheScheduleReadsItInPlace) {
  std::string window = "(d0, d1) -> (d0, d1 - 1) guard [1] fill 0.0 : f32";
  ParsedKernel copied(matmul(window, "")), inPlace(matmul(window, ", in_place = true"));
  KernelPlan copying = planOf(copied), reading = planOf(inPlace);
  EXPECT_EQ(describe(copying.steps), "buffer tile.load; blocked store x2");
  EXPECT_EQ(std::get<Nest>(copying.steps[1]).guarded.size(), 0u);
  EXPECT_EQ(describe(reading.steps), "blocked store x2");
  EXPECT_EQ(std::get<Nest>(reading.steps[0]).guarded.size(), 1u);
  EXPECT_EQ(std::get<Nest>(reading.steps[0]).windows.size(), 1u);
}

/// Whole rows are inside or outside here: the dot chooses where to read them, and no rows of tiles are told apart.
TEST(PlanKernel, AWindowOfRunsHasNoGuardsInItsNest) {
  ParsedKernel parsed(matmul("(d0, d1) -> (d0 - 1, d1) guard [0] fill 0.0 : f32", ", in_place = true"));
  KernelPlan plan = planOf(parsed);
  EXPECT_EQ(describe(plan.steps), "blocked store x2");
  EXPECT_EQ(std::get<Nest>(plan.steps[0]).guarded.size(), 0u);
}

TEST(PlanKernel, LoopsThatStoreAreStepsOfSteps) {
  ParsedKernel parsed(R"(
tile.kernel @scan(%x: !tile.buffer<f32, () -> (64, 16)>, %y: !tile.buffer<f32, () -> (64, 16)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<1x16xf32>
  %s:2 = scf.for %k = %c0 to %c64 step %c1 iter_args(%a = %zero, %b = %zero) -> (tensor<1x16xf32>, tensor<1x16xf32>) {
    %v = tile.load %x[%k, %c0] bounds () -> (64, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 16)> -> tensor<1x16xf32>
    %n = arith.addf %a, %v : tensor<1x16xf32>
    %m = arith.maximumf %b, %v : tensor<1x16xf32>
    tile.store %n, %y[%k, %c0] bounds () -> (64, 16) map (d0, d1) -> (d0, d1) : tensor<1x16xf32> -> !tile.buffer<f32, () -> (64, 16)>
    scf.yield %n, %m : tensor<1x16xf32>, tensor<1x16xf32>
  }
  tile.return
})");
  KernelPlan plan = planOf(parsed);
  // The sum is stored too, so its next value needs a buffer of its own and is copied; the maximum is updated in place.
  EXPECT_EQ(describe(plan.steps), "loop {fill arith.constant; fill arith.constant | store | fill arith.addf; fill "
                                  "arith.maximumf; fill scf.for}");
  const MemoryLoop &loop = *std::get<std::unique_ptr<MemoryLoop>>(plan.steps.front());
  EXPECT_NE(loop.next[0].offset, loop.current[0].offset);
  EXPECT_EQ(loop.next[1].offset, loop.current[1].offset);
  EXPECT_EQ(plan.workspaceBytes, 3u * 256) << "a row is padded to whole vectors of the main loop: 64 elements";
}

TEST(PlanKernel, TransposesMoveBlocks) {
  ParsedKernel parsed(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (64, 64)>, %y: !tile.buffer<f32, () -> (64, 64)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (64, 64)> -> tensor<64x64xf32>
  tile.store %v, %y[%c0, %c0] bounds () -> (64, 64) map (d0, d1) -> (d1, d0) : tensor<64x64xf32> -> !tile.buffer<f32, () -> (64, 64)>
  tile.return
})");
  EXPECT_EQ(describe(planOf(parsed).steps), "transposed store");
}

TEST(PlanKernel, RefusesLoopsWithStepsOfRuntime) {
  ParsedKernel parsed(R"(
tile.kernel @f(%x: !tile.buffer<f32, ()[s0] -> (64, 16)>, %s0: index) attributes {grid = affine_map<()[s0] -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %step = tile.size ()[s0] -> (s0)
  %zero = arith.constant dense<0.0> : tensor<1x16xf32>
  scf.for %k = %c0 to %c64 step %step {
    tile.store %zero, %x[%k, %c0] bounds ()[s0] -> (64, 16) map (d0, d1) -> (d0, d1) : tensor<1x16xf32> -> !tile.buffer<f32, ()[s0] -> (64, 16)>
  }
  tile.return
})");
  Expected<KernelPlan> plan = planKernel(parsed.kernel(), VectorUnit(HostOptions()));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.status().message(), "kernel 'f': the host backend cannot emit 'scf.for': expected a constant step");
}

} // namespace
