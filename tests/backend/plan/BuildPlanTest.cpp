// SPDX-License-Identifier: Apache-2.0
// Plans of small modules at the tile stage: the order of steps, who writes an output, what binds a symbol.
#include "backend/plan/BuildPlan.h"

#include "backend/Dialects.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <set>

using namespace tilewright;
namespace rt = tilewright::runtime;

namespace {

/// A module of one parallel copy kernel, @copy, of n floats, and the functions of a test.
std::string withKernel(const std::string &attributes, const std::string &functions) {
  return "module attributes {" + attributes + R"(} {
    tile.kernel @copy(%x: !tile.buffer<f32, ()[s0] -> (s0)>, %y: !tile.buffer<f32, ()[s0] -> (s0)>, %n: index)
        attributes {grid = affine_map<()[s0] -> (s0 ceildiv 16, 1, 1)>, symbols = affine_map<()[s0] -> (s0)>} {
      %p = tile.program_id 0
      %o = tile.size (d0) -> (d0 * 16)(%p)
      %v = tile.load %x[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : !tile.buffer<f32, ()[s0] -> (s0)> -> tensor<16xf32>
      tile.store %v, %y[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : tensor<16xf32> -> !tile.buffer<f32, ()[s0] -> (s0)>
      tile.return
    }
  )" + functions +
         "}";
}

class BuildPlanTest : public testing::Test {
protected:
  BuildPlanTest() : constants(entries) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  Expected<rt::Plan> build(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return Status(Code::Internal, "the test's text does not parse");
    PlanRequest request;
    request.target = "x86-64-v3", request.mode = "all";
    for (auto kernel : module->getOps<tile::KernelOp>())
      request.code[kernel] = {0, kernel.getSymName().str(), {}};
    return buildPlan(*module, request, constants);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::span<const std::byte>> entries;
  PlanConstants constants;
};

const std::string n = "tensor<?xf32, affine_map<()[s0] -> (s0)>>";

TEST_F(BuildPlanTest, LaunchesWriteOutputsInPlace) {
  Expected<rt::Plan> plan = build(withKernel(R"(graph.symbols = ["n"])", "func.func @main(%x: " + n + ") -> " + n + R"({
    %y = graph.launch @copy(%x) : ()" + n + ") -> " + n + R"(
    return %y : )" + n + "}"));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->steps.size(), 1u);
  const auto &launch = std::get<rt::Launch>(plan->steps[0]);
  EXPECT_EQ(launch.buffers, (std::vector<rt::ValueId>{plan->inputs[0], plan->outputs[0]}));
  EXPECT_EQ(launch.scalars.size(), 1u);
  ASSERT_EQ(plan->symbols.size(), 1u);
  EXPECT_EQ(plan->symbols[0].input, 0u);
  EXPECT_EQ(plan->kernels[0].buffers, (std::vector{rt::BufferAccess::Read, rt::BufferAccess::Write}));
}

TEST_F(BuildPlanTest, OfAKernelAndItsVariantsOneHasPrograms) {
  Expected<rt::Plan> plan = build(withKernel(R"(graph.symbols = ["n"])", "func.func @main(%x: " + n + ") -> " + n + R"({
    %y = graph.launch @copy(%x) {variants = [#graph.variant<@copy for ()[s0] -> (s0) to 16>,
                                             #graph.variant<@copy for ()[s0] -> (s0) to 64>]} : ()" +
                                                                             n + ") -> " + n + R"(
    return %y : )" + n + "}"));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->steps.size(), 3u);
  EXPECT_EQ(plan->groups.size(), 1u);
  for (auto [size, running] : {std::pair(1, 0), {16, 0}, {17, 1}, {64, 1}, {65, 2}, {5000, 2}}) {
    int64_t symbol = size;
    rt::ExprValues values = rt::ExprValues::evaluate(plan->exprs, {&symbol, 1});
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(*values.get(std::get<rt::Launch>(plan->steps[i]).grid[0]), i == running ? (size + 15) / 16 : 0)
          << "kernel " << i << " for " << size;
  }
}

TEST_F(BuildPlanTest, AReshapedLaunchIsAnAliasOfItsOutput) {
  const std::string column = "tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>";
  Expected<rt::Plan> plan = build(withKernel(R"(graph.symbols = ["n"])", "func.func @main(%x: " + n + ") -> " + column +
                                                                             R"({
    %y = graph.launch @copy(%x) : ()" + n + ") -> " + n + R"(
    %z = graph.reshape %y : )" + n + " -> " + column + R"(
    return %z : )" + column + "}"));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->steps.size(), 1u) << "a copy of the output";
  rt::ValueId written = std::get<rt::Launch>(plan->steps[0]).buffers[1];
  EXPECT_EQ(plan->values[written].kind, rt::ValueKind::Alias);
  EXPECT_EQ(plan->values[written].source, plan->outputs[0]);
}

/// Every launch has a workspace of its own; counters are one value for all, as large as the largest.
TEST_F(BuildPlanTest, WorkspacesAreTemporariesAndZeroedOnesAreShared) {
  auto kernel = [](const std::string &name, int tiles) {
    return "tile.kernel @" + name + R"((%x: !tile.buffer<f32, () -> (8)>, %y: !tile.buffer<f32, () -> (8)>)
        attributes {grid = affine_map<() -> (1, 1, 1)>} {
      %w = tile.workspace : !tile.buffer<f32, () -> (2, 4, 128)>
      %c = tile.workspace zeroed : !tile.buffer<i32, () -> ()" +
           std::to_string(tiles) + R"()>
      %c0 = arith.constant 0 : index
      %v = tile.load %x[%c0] bounds () -> (8) map (d0) -> (d0) : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
      tile.store %v, %y[%c0] bounds () -> (8) map (d0) -> (d0) : tensor<8xf32> -> !tile.buffer<f32, () -> (8)>
      tile.return
    })";
  };
  Expected<rt::Plan> plan = build(kernel("few", 2) + kernel("many", 5) + R"(
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %a = graph.launch @few(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %b = graph.launch @many(%a) : (tensor<8xf32>) -> tensor<8xf32>
      %c = graph.launch @few(%b) : (tensor<8xf32>) -> tensor<8xf32>
      return %c : tensor<8xf32>
    })");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  using enum rt::BufferAccess;
  EXPECT_EQ(plan->kernels[0].buffers, (std::vector{Read, Write, Write, ReadWrite}));
  std::set<rt::ValueId> workspaces, counters;
  for (const rt::Step &step : plan->steps) {
    const auto &launch = std::get<rt::Launch>(step);
    ASSERT_EQ(launch.buffers.size(), 4u);
    workspaces.insert(launch.buffers[2]), counters.insert(launch.buffers[3]);
    EXPECT_EQ(plan->values[launch.buffers[2]].kind, rt::ValueKind::Temporary);
  }
  EXPECT_EQ(workspaces.size(), 3u);
  ASSERT_EQ(counters.size(), 1u);
  const rt::Value &shared = plan->values[*counters.begin()];
  EXPECT_EQ(shared.kind, rt::ValueKind::Zeroed);
  EXPECT_EQ(shared.dtype, DType::I32);
  ASSERT_EQ(shared.dims.size(), 1u);
  EXPECT_EQ(plan->exprs[shared.dims[0]].lhs, 5);
}

TEST_F(BuildPlanTest, AnInputThatIsAnOutputIsCopied) {
  Expected<rt::Plan> plan = build(withKernel(R"(graph.symbols = ["n"])", "func.func @main(%x: " + n + ") -> (" + n +
                                                                             ", " + n + R"() {
    %y = graph.launch @copy(%x) : ()" + n + ") -> " + n + R"(
    return %x, %y : )" + n + ", " + n + "}"));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->steps.size(), 2u);
  EXPECT_EQ(std::get<rt::Launch>(plan->steps[0]).buffers[1], plan->outputs[1]);
  EXPECT_EQ(std::get<rt::Copy>(plan->steps[1]), (rt::Copy{plan->outputs[0], plan->inputs[0]}));
}

/// No operand says that the launch needs what the call binds, so the order of the text is not that of the steps.
TEST_F(BuildPlanTest, OperationsWaitForTheStepThatBindsTheirSizes) {
  Expected<rt::Plan> plan = build(withKernel(R"(graph.symbols = ["found"], graph.nodes = ["a|NonZero"])", R"(
    func.func @main(%x: tensor<8xf32>) -> (tensor<1xi64>, )" + n + R"() {
      %d = graph.dims affine_map<()[s0] -> (s0)> : tensor<1xi64>
      %f = graph.host_call "Found"("", 1) present [true] attributes {} (%x) {graph.node = 0 : i64} : (tensor<8xf32>) -> )" +
                                                                                                              n + R"(
      return %d, %f : tensor<1xi64>, )" + n + "} "));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->steps.size(), 2u);
  const auto &call = std::get<rt::HostCall>(plan->steps[0]);
  EXPECT_EQ(call.binds, (std::vector<rt::BoundSymbol>{{0, 0, 0}}));
  EXPECT_EQ(std::get<rt::WriteDims>(plan->steps[1]).value, plan->outputs[0]);
  EXPECT_EQ(plan->symbols[0].input, rt::none);
}

/// An input of 2 n elements binds n: the plan has a symbol for the whole dimension, and checks that 2 divides it.
TEST_F(BuildPlanTest, ADimensionThatIsAMultipleBindsItsPart) {
  const std::string twice = "tensor<?xf32, affine_map<()[s0] -> (s0 * 2)>>";
  Expected<rt::Plan> plan = build(withKernel(R"(graph.symbols = ["n"])", "func.func @main(%x: " + twice +
                                                                             R"() -> tensor<1xi64> {
    %d = graph.dims affine_map<()[s0] -> (s0)> : tensor<1xi64>
    return %d : tensor<1xi64>})"));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->steps.size(), 2u);
  const auto &guard = std::get<rt::Guard>(plan->steps[0]);
  EXPECT_EQ(guard.relation, rt::Relation::Equal);
  EXPECT_NE(guard.message.find("that 2 divides"), std::string::npos) << guard.message;
  int64_t eight = 8;
  rt::ExprId part = std::get<rt::WriteDims>(plan->steps[1]).elements[0];
  ASSERT_EQ(plan->symbols.size(), 1u);
  EXPECT_EQ(*rt::ExprValues::evaluate(plan->exprs, {&eight, 1}).get(part), 4);
}

TEST_F(BuildPlanTest, NamesWhatNothingBinds) {
  Expected<rt::Plan> sizes = build(withKernel(R"(graph.symbols = ["n"])", R"(
    func.func @main(%x: tensor<8xf32>) -> tensor<1xi64> {
      %d = graph.dims affine_map<()[s0] -> (s0)> : tensor<1xi64>
      return %d : tensor<1xi64>
    })"));
  ASSERT_FALSE(sizes.ok());
  EXPECT_EQ(sizes.status().message(), "nothing binds the sizes of 'graph.dims'");
  Expected<rt::Plan> guard = build(withKernel(
      R"(graph.symbols = ["n"], graph.guards = [[affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (4)>, "expected 4"]])",
      "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }"));
  ASSERT_FALSE(guard.ok());
  EXPECT_EQ(guard.status().message(), "nothing binds the sizes of the guard 'expected 4'");
}

} // namespace
