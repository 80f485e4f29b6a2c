// SPDX-License-Identifier: Apache-2.0
// A program of two plans, of which the second takes sizes that the first refuses: which one runs, and what is reported.
#include "runtime/Devices.h"
#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/execute/Context.h"
#include "tests/runtime/TestKernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tilewright::runtime {
namespace {

/// y = -x, and told = (number of elements of x that are not 0, number of the plan). Only running tells the first.
struct CountingPlan {
  enum : ValueId { x, y, told, found };
  Plan plan;
  ExprId n, count;

  explicit CountingPlan(int64_t number) {
    plan.target = "host";
    plan.mode = number == 1 ? "all" : "all" + std::string(broadcastingSuffix);
    plan.symbols = {{"n", 0, 0}, {"count", none, 0}};
    ExprBuilder build(plan.exprs);
    n = build.symbol(0), count = build.symbol(1);
    ExprId one = build.constant(1), two = build.constant(2);
    plan.values = {{"x", DType::F32, ValueKind::Input, {n}, 0, none},
                   {"y", DType::F32, ValueKind::Output, {n}, 0, none},
                   {"told", DType::I64, ValueKind::Output, {two}, 1, none},
                   {"found", DType::I64, ValueKind::Temporary, {one, count}, none, none}};
    plan.inputs = {x}, plan.outputs = {y, told};
    HostCall nonZero = call("NonZero", {x}, found);
    nonZero.binds = {{0, 1, 1}};
    plan.steps = {nonZero, call("Neg", {x}, y), WriteDims{told, {count, build.constant(number)}}};
  }

  static HostCall call(const char *op, std::vector<ValueId> inputs, ValueId output) {
    return {op, "", 17, {}, std::move(inputs), {output}, {}, op, none};
  }

  /// Requires `lhs` <= `rhs` as the last step but one, when y has been written.
  CountingPlan &atMost(ExprId lhs, ExprId rhs, const std::string &sentence) {
    plan.steps.insert(plan.steps.end() - 1, Guard{Relation::LessEqual, lhs, rhs, sentence});
    return *this;
  }
  CountingPlan &most(int64_t number) {
    return atMost(count, ExprBuilder(plan.exprs).constant(number), fmt::format("at most {}", number));
  }
  CountingPlan &least(int64_t number) {
    return atMost(ExprBuilder(plan.exprs).constant(number), count, fmt::format("at least {}", number));
  }
};

std::string sentence(const std::string &guard, int64_t lhs, int64_t rhs) {
  return fmt::format("{} ({} and {}){}", guard, lhs, rhs, sizesNeedPlan);
}

std::unique_ptr<Context> contextOf(const Plan &first, const Plan &second, const std::string &device = "host") {
  Contents contents;
  contents.plans = {first, second};
  contents.code = {testKernels()};
  Expected<std::vector<std::byte>> bytes = serializeArtifact(contents);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  Expected<Artifact> artifact = Artifact::fromBytes(*bytes);
  EXPECT_TRUE(artifact.ok()) << artifact.status().message();
  auto opened = openDevice(device);
  auto program = Program::create(*artifact, (*opened)->info());
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(*Context::create(*program, *opened));
}

/// Makes `count` numbers of x, the first, other than 0.
void fill(Tensor &x, int64_t count) {
  for (int64_t i = 0; i < x.count(); ++i)
    x.data<float>()[i] = i < count ? 1.0f + static_cast<float>(i) : 0;
}
Tensor numbers(int64_t count) {
  Tensor x = Tensor::allocate(DType::F32, {16});
  fill(x, count);
  return x;
}

TensorView viewOf(const Tensor &tensor) {
  return {tensor.type(), tensor.shape(), const_cast<std::byte *>(tensor.bytes()), false, {}};
}

/// Expects the results of plan `number` for an x with `count` numbers that are not 0.
void expectResults(const Expected<std::vector<Tensor>> &outputs, int64_t count, int64_t number) {
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  const int64_t *told = (*outputs)[1].data<int64_t>();
  EXPECT_EQ(told[0], count);
  EXPECT_EQ(told[1], number);
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_EQ((*outputs)[0].data<float>()[i], i < count ? -1.0f - static_cast<float>(i) : 0) << i;
}

class ContextPlans : public testing::TestWithParam<const char *> {
protected:
  std::unique_ptr<Context> context(const CountingPlan &first, const CountingPlan &second) {
    return contextOf(first.plan, second.plan, GetParam());
  }
  Expected<std::vector<Tensor>> run(Context &context, const Tensor &x) { return context.run({&x, 1}); }
  Expected<std::vector<Tensor>> execute(Context &context) {
    TILEWRIGHT_TRY(context.execute());
    return context.outputs();
  }
};

TEST_P(ContextPlans, BindChoosesByTheSizesOfInputs) {
  CountingPlan first(1), second(2);
  first.plan.steps.insert(first.plan.steps.begin(),
                          Guard{Relation::Less, first.n, ExprBuilder(first.plan.exprs).constant(16), "below 16"});
  std::unique_ptr<Context> both = context(first, second);
  Tensor x = numbers(3);
  TensorView view = viewOf(x);
  ASSERT_TRUE(both->bind({&view, 1}).ok());
  EXPECT_EQ(both->program().plan().mode, "all+broadcast");
  expectResults(execute(*both), 3, 2);
  Tensor less = Tensor::allocate(DType::F32, {2});
  TensorView other = viewOf(less);
  ASSERT_TRUE(both->bind({&other, 1}).ok());
  EXPECT_EQ(both->program().plan().mode, "all");
}

TEST_P(ContextPlans, ASizeThatOnlyRunningTellsIsTakenByTheSecond) {
  std::unique_ptr<Context> both = context(CountingPlan(1).most(2), CountingPlan(2).most(5));
  for (int64_t count : {2, 3, 5, 1})
    expectResults(run(*both, numbers(count)), count, count <= 2 ? 1 : 2);
}

TEST_P(ContextPlans, WhatBothRefuseIsReportedInTheWordsOfTheFirst) {
  std::unique_ptr<Context> both = context(CountingPlan(1).most(2), CountingPlan(2).most(5));
  for (int turn = 0; turn < 2; ++turn) {
    Status refused = run(*both, numbers(6)).status();
    EXPECT_EQ(refused.code(), Code::Malformed);
    EXPECT_EQ(refused.message(), sentence("at most 2", 6, 2));
    EXPECT_EQ(both->outputs().status().code(), Code::Usage); // there are none
    expectResults(run(*both, numbers(3)), 3, 2);
  }
}

/// The second plan stays until it refuses sizes too. Both read the caller's memory, which changes between executions.
TEST_P(ContextPlans, EveryExecutionChooses) {
  std::unique_ptr<Context> both = context(CountingPlan(1).most(4), CountingPlan(2).least(3).most(6));
  Tensor x = numbers(2);
  TensorView view = viewOf(x);
  view.onDevice = !both->device().info().hostMemory;
  ASSERT_TRUE(both->bind({&view, 1}).ok());
  for (auto [count, number] : {std::pair(2, 1), {5, 2}, {4, 2}, {2, 1}, {4, 1}, {6, 2}}) {
    fill(x, count);
    expectResults(execute(*both), count, number);
  }
  fill(x, 7);
  EXPECT_EQ(both->execute().message(), sentence("at most 4", 7, 4)); // though the second was tried first
  fill(x, 5);
  expectResults(execute(*both), 5, 2);
}

/// On a device, the memory of inputs may be gone after bind; the second plan reads what bind has copied.
TEST_P(ContextPlans, InputsAreThoseThatWereBound) {
  std::unique_ptr<Context> both = context(CountingPlan(1).most(2), CountingPlan(2));
  Tensor x = numbers(5);
  TensorView view = viewOf(x);
  ASSERT_TRUE(both->bind({&view, 1}).ok());
  if (!both->device().info().hostMemory)
    fill(x, 16);
  expectResults(execute(*both), 5, 2);
}

TEST_P(ContextPlans, AProfileIsOfThePlanThatRan) {
  CountingPlan second(2);
  second.plan.steps.push_back(second.plan.steps.back()); // so that it has another number of steps
  std::unique_ptr<Context> both = context(CountingPlan(1).most(2).most(2).most(2), second);
  Tensor x = numbers(5);
  TensorView view = viewOf(x);
  ASSERT_TRUE(both->bind({&view, 1}).ok());
  for (int turn = 0; turn < 2; ++turn) {
    Expected<std::vector<StepProfile>> profile = both->profile();
    ASSERT_TRUE(profile.ok()) << profile.status().message();
    EXPECT_EQ(profile->size(), both->program().plan().steps.size());
    EXPECT_EQ(profile->size(), 4u);
    EXPECT_EQ(*both->sizes().get(second.count), 5);
    expectResults(both->outputs(), 5, 2);
  }
}

TEST_P(ContextPlans, OutputsAreWrittenWhereTheCallerWantsThem) {
  std::unique_ptr<Context> both = context(CountingPlan(1).most(2), CountingPlan(2));
  Tensor x = numbers(5), y = numbers(0), told = Tensor::allocate(DType::I64, {2});
  std::vector<TensorView> outputs = {viewOf(y), viewOf(told)};
  TensorView view = viewOf(x);
  Status status = both->runInto({&view, 1}, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  expectResults(std::vector{y, told}, 5, 2);
}

TEST(ContextPlans, AnInputThatAnOutputOverwritesIsNotReadAgain) {
  std::unique_ptr<Context> both = contextOf(CountingPlan(1).most(2).plan, CountingPlan(2).plan);
  Tensor x = numbers(2), told = Tensor::allocate(DType::I64, {2});
  std::vector<TensorView> outputs = {viewOf(x), viewOf(told)};
  TensorView view = viewOf(x);
  ASSERT_TRUE(both->runInto({&view, 1}, outputs).ok());
  expectResults(std::vector{x, told}, 2, 1);
  fill(x, 5);
  Status refused = both->runInto({&view, 1}, outputs);
  EXPECT_EQ(refused.code(), Code::Malformed);
  EXPECT_EQ(refused.message(), sentence("at most 2", 5, 2) +
                                   "; the model's plan for other sizes cannot start again because an output may have "
                                   "overwritten an input: give outputs memory of their own");
}

/// An output's shape is known late, and the caller knows better than the first plan. If neither plan gives the shape
/// that the caller expects, that is no fault of the data.
TEST(ContextPlans, MemoryForAnOutputFitsOneOfBoth) {
  CountingPlan first(1), second(2);
  for (CountingPlan *plan : {&first, &second}) {
    ExprId size = plan == &first ? plan->count : plan->n;
    plan->plan.values[CountingPlan::told].dims = {size};
    plan->plan.steps.pop_back();
    plan->plan.steps.push_back(CountingPlan::call(plan == &first ? "Flatten" : "Abs",
                                                  {plan == &first ? CountingPlan::found : CountingPlan::x},
                                                  CountingPlan::told));
    plan->plan.values[CountingPlan::told].dtype = DType::F32;
  }
  std::unique_ptr<Context> both = contextOf(first.plan, second.plan);
  Tensor x = numbers(5), y = numbers(0), told = numbers(0), other = Tensor::allocate(DType::F32, {7});
  std::vector<TensorView> outputs = {viewOf(y), viewOf(told)};
  TensorView view = viewOf(x);
  Status status = both->runInto({&view, 1}, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(told.data<float>()[4], 5);
  outputs[1] = viewOf(other);
  Status refused = both->runInto({&view, 1}, outputs);
  EXPECT_EQ(refused.code(), Code::Usage);
  EXPECT_EQ(refused.message(), "the memory for output 'told' has another type or shape than float32 [count]");
}

/// Data that is at fault is reported at once, though the second plan would not notice.
TEST(ContextPlans, NothingButSizesIsTriedAgain) {
  CountingPlan first(1);
  first.plan.steps.insert(first.plan.steps.begin() + 1,
                          ReadSizes{CountingPlan::told, {{0, 1, 2}}, "reshape"}); // -1, which is no size
  first.plan.steps.insert(first.plan.steps.begin() + 1, CountingPlan::call("Neg", {CountingPlan::found}, 4));
  first.plan.symbols.push_back({"read", none, 0});
  first.plan.values.push_back(
      {"negative", DType::I64, ValueKind::Temporary, first.plan.values[CountingPlan::found].dims, none, none});
  ExprId two = first.plan.values[CountingPlan::told].dims[0];
  ExprId zero = ExprBuilder(first.plan.exprs).constant(0);
  first.plan.values.push_back({"sizes", DType::I64, ValueKind::Alias, {two}, 4, zero});
  std::get<ReadSizes>(first.plan.steps[2]).value = 5;
  std::unique_ptr<Context> both = contextOf(first.plan, CountingPlan(2).plan);
  Tensor x = numbers(2);
  Status refused = both->run({&x, 1}).status();
  EXPECT_EQ(refused.code(), Code::Malformed);
  EXPECT_EQ(refused.message(), "node 'reshape': expected sizes of at least 0, got -1");
  EXPECT_EQ(both->program().plan().mode, "all");
}

/// A kernel found an index out of range before sizes were refused.
TEST(ContextPlans, AFaultInTheDataCountsMoreThanSizes) {
  CountingPlan first(1);
  Kernel kernel;
  kernel.name = "gather", kernel.entry = "gatherChecked", kernel.code = 0, kernel.scalars = 2;
  kernel.buffers = {BufferAccess::Read, BufferAccess::Read, BufferAccess::Write};
  first.plan.kernels = {kernel};
  first.plan.faults = {"gather index out of range"};
  ExprBuilder build(first.plan.exprs);
  first.plan.values.push_back({"gathered", DType::F32, ValueKind::Temporary, {first.count}, none, none});
  Launch launch;
  launch.kernel = 0, launch.buffers = {CountingPlan::x, CountingPlan::found, 4};
  launch.scalars = {build.constant(4), build.constant(0)}; // as if x had four elements
  launch.grid = {first.count, build.constant(1), build.constant(1)};
  first.plan.steps.insert(first.plan.steps.begin() + 1, launch);
  first.most(2);
  std::unique_ptr<Context> both = contextOf(first.plan, CountingPlan(2).plan);
  auto run = [&](const Tensor &x) { return both->run({&x, 1}); };
  expectResults(run(numbers(2)), 2, 1);
  expectResults(run(numbers(4)), 4, 2);
  Status refused = run(numbers(5)).status();
  EXPECT_EQ(refused.code(), Code::Malformed);
  EXPECT_EQ(refused.message(), "gather index out of range");
  expectResults(run(numbers(4)), 4, 2);
}

TEST(ContextPlans, NothingBoundIsNothingToExecute) {
  std::unique_ptr<Context> both = contextOf(CountingPlan(1).most(2).plan, CountingPlan(2).most(5).plan);
  EXPECT_EQ(both->execute().code(), Code::Usage);
  Tensor x = numbers(3);
  expectResults(both->run({&x, 1}), 3, 2);
  EXPECT_EQ(both->bind({}).code(), Code::Usage); // the number of inputs is wrong
  EXPECT_EQ(both->execute().code(), Code::Usage);
  EXPECT_EQ(both->profile().status().code(), Code::Usage);
}

INSTANTIATE_TEST_SUITE_P(Devices, ContextPlans, testing::Values("host", "null:host"),
                         [](const auto &info) { return std::string(info.param, 0, 4); });

} // namespace
} // namespace tilewright::runtime
