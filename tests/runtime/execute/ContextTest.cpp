// SPDX-License-Identifier: Apache-2.0
// Whole runs of small plans: on the host, and on the null device, which stands for devices with memory of their own.
#include "runtime/execute/Context.h"
#include "runtime/Devices.h"
#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/null/NullDevice.h"
#include "tests/runtime/SamplePlans.h"

#include <gtest/gtest.h>
#include <thread>

namespace tilewright::runtime {

static std::shared_ptr<Device> host() { return *openDevice("host"); }

static std::unique_ptr<Context> contextFor(const Contents &contents, std::shared_ptr<Device> device,
                                           const std::string &mode = "all") {
  Expected<std::vector<std::byte>> bytes = serializeArtifact(contents);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  Expected<Artifact> artifact = Artifact::fromBytes(*bytes);
  EXPECT_TRUE(artifact.ok()) << artifact.status().message();
  Expected<std::shared_ptr<const Program>> program = Program::create(*artifact, device->info(), mode);
  EXPECT_TRUE(program.ok()) << program.status().message();
  Expected<std::unique_ptr<Context>> context = Context::create(*program, device);
  EXPECT_TRUE(context.ok()) << context.status().message();
  return std::move(*context);
}

static Tensor floats(Shape shape, float first = -3, float step = 1) {
  Tensor tensor = Tensor::allocate(DType::F32, std::move(shape));
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.data<float>()[i] = first + step * static_cast<float>(i);
  return tensor;
}

static std::vector<float> expectedSample(const Tensor &x) {
  std::vector<float> y;
  for (int64_t i = 0; i < x.count(); ++i)
    y.push_back(std::max(x.data<float>()[i], 0.0f) + static_cast<float>(i % 4 + 1));
  return y;
}

static std::vector<float> contents(const Tensor &tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.count()};
}

TEST(Context, RunsHostCallsAndKernelsAtAnyBatch) {
  std::unique_ptr<Context> context = contextFor(SampleContents().contents, host());
  for (int64_t batch : {1, 7, 64, 0, 7}) {
    Tensor x = floats({batch, 4});
    Expected<std::vector<Tensor>> outputs = context->run(std::span(&x, 1));
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    ASSERT_EQ(outputs->size(), 1u);
    EXPECT_EQ((*outputs)[0].shape(), (Shape{batch, 4}));
    EXPECT_EQ(contents((*outputs)[0]), expectedSample(x));
  }
  EXPECT_EQ(context->counters().instances, 4u); // batch 7 was instantiated once
}

TEST(Context, OutputsThatSomebodyHoldsStayAsTheyAre) {
  std::unique_ptr<Context> context = contextFor(SampleContents().contents, host());
  Tensor x1 = floats({2, 4}), x2 = floats({2, 4}, 100);
  std::vector<Tensor> first = *context->run(std::span(&x1, 1)), second = *context->run(std::span(&x2, 1));
  EXPECT_EQ(contents(first[0]), expectedSample(x1));
  EXPECT_EQ(contents(second[0]), expectedSample(x2));
}

TEST(Context, WritesIntoTheCallersMemoryEvenUnaligned) {
  std::unique_ptr<Context> context = contextFor(SampleContents().contents, host());
  Tensor x = floats({3, 4});
  std::vector<float> source(13), memory(13, -1.0f);
  std::copy_n(x.data<float>(), 12, source.begin() + 1);
  TensorView in = {DType::F32, {3, 4}, source.data() + 1, false};
  TensorView out = {DType::F32, {3, 4}, memory.data() + 1, false};
  Status status = context->runInto({&in, 1}, {&out, 1});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(std::vector<float>(memory.begin() + 1, memory.end()), expectedSample(x));
  EXPECT_EQ(memory[0], -1.0f);
  out.shape = {4, 3};
  EXPECT_EQ(context->runInto({&in, 1}, {&out, 1}).message(),
            "the memory for output 'y' has another type or shape than float32 [batch, 4]");
}

TEST(Context, RefusesInputsThatDoNotFit) {
  std::unique_ptr<Context> context = contextFor(SampleContents().contents, host());
  auto refusal = [&](std::vector<Tensor> inputs) {
    Expected<std::vector<Tensor>> outputs = context->run(inputs);
    EXPECT_FALSE(outputs.ok());
    EXPECT_EQ(outputs.status().code(), Code::Usage);
    EXPECT_EQ(context->execute().code(), Code::Usage); // nothing is left bound
    return outputs.status().message();
  };
  EXPECT_EQ(refusal({}), "the model takes 1 inputs, got 0");
  EXPECT_EQ(refusal({floats({2, 5})}), "input 'x' has dimension 1 = 5, expected 4");
  EXPECT_EQ(refusal({floats({8})}), "input 'x' has 1 dimensions, expected 2: [batch, 4]");
  EXPECT_EQ(refusal({Tensor::allocate(DType::F64, {2, 4})}), "input 'x' has type float64, expected float32");
}

TEST(Context, NamesTheInputThatBoundASymbol) {
  SampleContents sample;
  Plan &plan = sample.contents.plans[0];
  ExprId twice = ExprBuilder(plan.exprs).mul(0, ExprBuilder(plan.exprs).constant(2));
  plan.inputs.push_back(static_cast<ValueId>(plan.values.size()));
  plan.values.push_back({"mask", DType::F32, ValueKind::Input, {twice, 0}, 1, none});
  std::unique_ptr<Context> context = contextFor(sample.contents, host());
  std::vector<Tensor> inputs = {floats({17, 4}), floats({34, 9})};
  EXPECT_EQ(context->run(inputs).status().message(),
            "input 'mask' has dimension 1 = 9, expected 'batch' = 17 as bound by input 'x'");
  inputs[1] = floats({9, 17});
  EXPECT_EQ(context->run(inputs).status().message(), "input 'mask' has dimension 0 = 9, expected batch * 2 = 34");
  inputs[1] = floats({34, 17});
  EXPECT_TRUE(context->run(inputs).ok());
}

TEST(Context, GuardsAndImpossibleSizesStopTheRunWithTheirSentence) {
  SampleContents sample;
  Plan &plan = sample.contents.plans[0];
  ExprId limit = ExprBuilder(plan.exprs).constant(100);
  plan.steps.insert(plan.steps.begin(), Guard{Relation::LessEqual, 0, limit, "batch must be at most 100"});
  std::unique_ptr<Context> context = contextFor(sample.contents, host());
  Tensor fits = floats({100, 4}), tooLarge = floats({101, 4});
  EXPECT_TRUE(context->run(std::span(&fits, 1)).ok());
  Status status = context->run(std::span(&tooLarge, 1)).status();
  EXPECT_EQ(status.code(), Code::Malformed);
  EXPECT_EQ(
      status.message(),
      "batch must be at most 100 (101 and 100); if the model takes these sizes, compile it for them with --shapes");
}

TEST(Context, TensorMapsThatReachOutsideTheirBufferAreRefused) {
  SampleContents sample;
  Plan &plan = sample.contents.plans[0];
  ExprBuilder build(plan.exprs);
  ExprId zero = build.constant(0), one = build.constant(1), elements = build.constant(400);
  plan.kernels[0].tensorMaps = 1;
  for (Step &step : plan.steps)
    if (auto *launch = std::get_if<Launch>(&step))
      launch->tensorMaps = {{0, zero, {elements}, {one}, {1}, 0, {}, {}, {}}};
  std::unique_ptr<Context> context = contextFor(sample.contents, host());
  Tensor fits = floats({100, 4}), tooSmall = floats({99, 4});
  EXPECT_TRUE(context->run(std::span(&fits, 1)).ok());
  Status status = context->run(std::span(&tooSmall, 1)).status();
  EXPECT_EQ(status.code(), Code::Malformed);
  EXPECT_NE(status.message().find("would copy from outside of the 396 elements of"), std::string::npos)
      << status.message();
}

/// y = table[index], through a kernel that checks its indices.
static SampleContents gatherSample() {
  SampleContents sample;
  Plan plan;
  plan.target = "host";
  plan.mode = "all";
  plan.symbols = {{"n", 1, 0}};
  ExprBuilder build(plan.exprs);
  ExprId n = build.symbol(0), four = build.constant(4), zero = build.constant(0), one = build.constant(1);
  plan.values = {{"table", DType::F32, ValueKind::Input, {four}, 0, none},
                 {"index", DType::I64, ValueKind::Input, {n}, 1, none},
                 {"y", DType::F32, ValueKind::Output, {n}, 0, none}};
  plan.inputs = {0, 1};
  plan.outputs = {2};
  Kernel kernel;
  kernel.name = "gather";
  kernel.code = 0;
  kernel.entry = "gatherChecked";
  kernel.buffers = {BufferAccess::Read, BufferAccess::Read, BufferAccess::Write};
  kernel.scalars = 2;
  plan.kernels = {kernel};
  Launch launch;
  launch.kernel = 0;
  launch.buffers = {0, 1, 2};
  launch.scalars = {four, zero};
  launch.grid = {n, one, one};
  plan.steps = {launch};
  plan.faults = {"gather index out of range at node 'gather_0': expected below 4"};
  sample.contents.plans = {plan};
  return sample;
}

TEST(Context, ABadGatherIndexIsOneSentenceAndTheNextRunIsClean) {
  SampleContents sample = gatherSample();
  sample.contents.code = {testKernels()};
  sample.contents.constants.clear();
  std::unique_ptr<Context> context = contextFor(sample.contents, host());
  Tensor index = Tensor::allocate(DType::I64, {3});
  index.data<int64_t>()[1] = 9;
  std::vector<Tensor> inputs = {floats({4}, 10), index};
  Status status = context->run(inputs).status();
  EXPECT_EQ(status.code(), Code::Malformed);
  EXPECT_EQ(status.message(), "gather index out of range at node 'gather_0': expected below 4");
  index.data<int64_t>()[1] = 3;
  Expected<std::vector<Tensor>> outputs = context->run(inputs);
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(contents((*outputs)[0]), (std::vector<float>{10, 13, 10}));
}

/// y = addCounter(x), where the counter is a zeroed value.
static SampleContents counterSample() {
  SampleContents sample;
  Plan plan;
  plan.target = "host", plan.mode = "all";
  ExprBuilder build(plan.exprs);
  ExprId one = build.constant(1);
  plan.values = {{"x", DType::F32, ValueKind::Input, {one}, 0, none},
                 {"counter", DType::I32, ValueKind::Zeroed, {one}, none, none},
                 {"y", DType::F32, ValueKind::Output, {one}, 0, none}};
  plan.inputs = {0}, plan.outputs = {2};
  Kernel kernel;
  kernel.name = kernel.entry = "addCounter";
  kernel.code = 0;
  kernel.buffers = {BufferAccess::Read, BufferAccess::ReadWrite, BufferAccess::Write};
  plan.kernels = {kernel};
  Launch launch;
  launch.kernel = 0;
  launch.buffers = {0, 1, 2};
  launch.grid = {one, one, one};
  plan.steps = {launch};
  plan.faults = {"it stopped halfway"};
  sample.contents.plans = {plan};
  sample.contents.code = {testKernels()};
  sample.contents.constants.clear();
  return sample;
}

TEST(Context, ZeroedValuesAreZeroAgainAfterAFailedRun) {
  SampleContents sample = counterSample();
  std::unique_ptr<Context> context = contextFor(sample.contents, host());
  auto run = [&](float x) { return context->run(std::vector<Tensor>{floats({1}, x)}); };
  for (float x : {5.0f, 5.0f, -1.0f, 5.0f, 5.0f}) {
    Expected<std::vector<Tensor>> outputs = run(x);
    EXPECT_EQ(outputs.status().message(), x < 0 ? "it stopped halfway" : "");
    if (outputs)
      EXPECT_EQ(contents((*outputs)[0]), std::vector<float>{x});
  }
  EXPECT_EQ(context->counters().failures, 1u);
  EXPECT_FALSE(run(-1).ok());
  Tensor good = floats({1}, 5);
  TensorView view{DType::F32, {1}, good.bytes(), false, {}};
  ASSERT_TRUE(context->bind(std::span(&view, 1)).ok() && context->profile().ok());
  EXPECT_EQ(contents((*context->outputs())[0]), std::vector<float>{5});
}

/// The count of NonZero is known after it has run. Its result is viewed as a column and copied to the output, and its
/// shape is written as a tensor.
static SampleContents lateSample() {
  SampleContents sample;
  Plan plan;
  plan.target = "host";
  plan.mode = "all";
  plan.symbols = {{"n", 0, 0}, {"count", none, 0}};
  ExprBuilder build(plan.exprs);
  ExprId n = build.symbol(0), count = build.symbol(1), zero = build.constant(0), one = build.constant(1),
         two = build.constant(2);
  plan.values = {{"x", DType::F32, ValueKind::Input, {n}, 0, none},
                 {"found", DType::I64, ValueKind::Temporary, {one, count}, none, none},
                 {"column", DType::I64, ValueKind::Alias, {count}, 1, zero},
                 {"y", DType::I64, ValueKind::Output, {count}, 0, none},
                 {"shape", DType::I64, ValueKind::Output, {two}, 1, none}};
  plan.inputs = {0};
  plan.outputs = {3, 4};
  HostCall call;
  call.op = "NonZero";
  call.opset = 13;
  call.inputs = {0};
  call.outputs = {1};
  call.binds = {{0, 1, 1}};
  call.node = "nonzero_0";
  plan.steps = {call, Copy{3, 2}, WriteDims{4, {count, n}}};
  sample.contents.plans = {plan};
  sample.contents.code.clear();
  sample.contents.constants.clear();
  return sample;
}

static void expectNonZero(Context &context) {
  for (float threshold : {0.0f, 2.0f, 100.0f, 0.0f}) {
    Tensor x = Tensor::allocate(DType::F32, {6});
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < 6; ++i)
      if (static_cast<float>(i) > threshold) {
        x.data<float>()[i] = 1;
        expected.push_back(i);
      }
    Expected<std::vector<Tensor>> outputs = context.run(std::span(&x, 1));
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    const int64_t *y = (*outputs)[0].data<int64_t>(), *shape = (*outputs)[1].data<int64_t>();
    EXPECT_EQ((*outputs)[0].shape(), Shape{static_cast<int64_t>(expected.size())});
    EXPECT_EQ(std::vector<int64_t>(y, y + expected.size()), expected);
    EXPECT_EQ(shape[0], static_cast<int64_t>(expected.size()));
    EXPECT_EQ(shape[1], 6);
  }
}

TEST(Context, SizesBoundWhileRunning) {
  expectNonZero(*contextFor(lateSample().contents, host()));
  expectNonZero(*contextFor(lateSample().contents, *openDevice("null")));
}

TEST(Context, SizesReadWhileRunning) {
  SampleContents sample;
  Plan plan;
  plan.target = "host";
  plan.mode = "all";
  plan.symbols = {{"rows", none, 0}, {"columns", none, 0}};
  ExprBuilder build(plan.exprs);
  ExprId two = build.constant(2), count = build.mul(build.symbol(0), build.symbol(1));
  plan.values = {{"sizes", DType::I64, ValueKind::Input, {two}, 0, none},
                 {"y", DType::I64, ValueKind::Output, {build.constant(1)}, 0, none}};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.steps = {ReadSizes{0, {{0, 0, 0}, {0, 1, 1}}, "reshape_0"}, WriteDims{1, {count}}};
  sample.contents.plans = {plan};
  sample.contents.code.clear();
  sample.contents.constants.clear();
  for (const char *device : {"host", "null"}) {
    std::unique_ptr<Context> context = contextFor(sample.contents, *openDevice(device));
    Tensor sizes = Tensor::allocate(DType::I64, {2});
    for (int64_t rows : {3, 0, 5}) {
      sizes.data<int64_t>()[0] = rows, sizes.data<int64_t>()[1] = 7;
      Expected<std::vector<Tensor>> outputs = context->run(std::span(&sizes, 1));
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      EXPECT_EQ(outputs->front().data<int64_t>()[0], rows * 7);
    }
    sizes.data<int64_t>()[1] = -1;
    Expected<std::vector<Tensor>> refused = context->run(std::span(&sizes, 1));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), Code::Malformed);
    EXPECT_EQ(refused.status().message(), "node 'reshape_0': expected sizes of at least 0, got -1");
  }
}

TEST(Context, AnEmptyConstantIsThereForAHostCall) {
  SampleContents sample;
  sample.contents.code.clear();
  sample.contents.constants = {{}};
  Plan &plan = sample.contents.plans[0];
  plan = Plan();
  plan.target = "host";
  plan.mode = "all";
  ExprId zero = ExprBuilder(plan.exprs).constant(0);
  plan.values = {{"roi", DType::F32, ValueKind::Constant, {zero}, 0, none},
                 {"y", DType::F32, ValueKind::Output, {zero}, 0, none}};
  plan.outputs = {1};
  HostCall call;
  call.op = "Identity";
  call.opset = 13;
  call.inputs = {0};
  call.outputs = {1};
  call.node = "identity_0";
  plan.steps = {call};
  Expected<std::vector<Tensor>> outputs = contextFor(sample.contents, host())->run({});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ((*outputs)[0].shape(), Shape{0});
}

TEST(Context, ProfileTimesEveryStep) {
  std::unique_ptr<Context> context = contextFor(SampleContents().contents, host());
  EXPECT_EQ(context->profile().status().code(), Code::Usage);
  Tensor x = floats({256, 4});
  ASSERT_TRUE(context->run(std::span(&x, 1)).ok());
  Expected<std::vector<StepProfile>> steps = context->profile();
  ASSERT_TRUE(steps.ok());
  ASSERT_EQ(steps->size(), 2u);
  EXPECT_EQ((*steps)[0].beginMs, 0);
  EXPECT_GT((*steps)[1].ms, 0.0);
  EXPECT_GE((*steps)[1].beginMs, (*steps)[0].ms); // the begin, not the sum of the durations before
  EXPECT_EQ((*steps)[1].work.launches, 1u);
}

TEST(Context, ContextsOfOneProgramRunAtOnce) {
  Expected<Artifact> artifact = Artifact::fromBytes(*serializeArtifact(SampleContents().contents));
  std::shared_ptr<Device> device = host();
  std::shared_ptr<const Program> program = *Program::create(*artifact, device->info());
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      std::unique_ptr<Context> context = std::move(*Context::create(program, device));
      for (int run = 0; run < 50; ++run) {
        Tensor x = floats({17 + run % 3, 4}, static_cast<float>(caller - run));
        Expected<std::vector<Tensor>> outputs = context->run(std::span(&x, 1));
        right += outputs.ok() && contents((*outputs)[0]) == expectedSample(x);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(right, 200);
}

/// Three launches between temporaries, for an absent GPU.
static Contents gpuContents(std::vector<std::byte> &code) {
  Contents contents;
  Plan plan = SampleContents::plan();
  code.assign(16, std::byte('x'));
  contents.code = {{CodeKind::Ptx, "sm_90a", {}, code}};
  static const std::vector<float> weights = {1, 2, 3, 4};
  contents.constants = {std::as_bytes(std::span(weights))};
  plan.target = "sm_90a";
  Launch launch = std::get<Launch>(plan.steps[1]), first = launch;
  first.buffers = {SampleContents::x, SampleContents::w, SampleContents::t};
  plan.steps = {first, launch};
  contents.plans = {plan};
  return contents;
}

TEST(Context, ReplaysARecordingFromTheSecondRunWithTheSameSizesOn) {
  std::vector<std::byte> code;
  std::shared_ptr<Device> device = *openDevice("null:sm_90a");
  auto &null = static_cast<NullDevice &>(*device);
  std::unique_ptr<Context> context = contextFor(gpuContents(code), device);
  Tensor five = floats({5, 4}), six = floats({6, 4});
  for (int run = 0; run < 4; ++run)
    ASSERT_TRUE(context->run(std::span(&five, 1)).ok());
  EXPECT_EQ(null.recordings(), 1);
  EXPECT_EQ(null.replays(), 3);
  std::vector<RecordedLaunch> launches = null.launches();
  ASSERT_EQ(launches.size(), 8u);
  EXPECT_EQ(launches[0].grid, (std::array<int64_t, 3>{5, 1, 1}));
  EXPECT_EQ(launches[0].buffers[2], launches[1].buffers[0]); // through the temporary
  EXPECT_NE(launches[1].buffers[0], launches[1].buffers[2]);
  EXPECT_EQ(launches[6], launches[0]);
  ASSERT_TRUE(context->run(std::span(&six, 1)).ok()); // a larger arena changes all addresses
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE(context->run(std::span(&five, 1)).ok());
  EXPECT_EQ(context->counters().instances, 2u);
  EXPECT_EQ(null.launches().size(), 16u);
}

TEST(Context, UsesDeviceMemoryOfTheCallerInPlaceAndRecordsAgainWhenItMoves) {
  std::vector<std::byte> code;
  std::shared_ptr<Device> device = *openDevice("null:sm_90a");
  auto &null = static_cast<NullDevice &>(*device);
  std::unique_ptr<Context> context = contextFor(gpuContents(code), device);
  Tensor x = floats({5, 4}), y = floats({5, 4}), other = floats({5, 4});
  auto runWith = [&](Tensor &output) {
    TensorView in = {DType::F32, x.shape(), x.bytes(), true}, out = {DType::F32, output.shape(), output.bytes(), true};
    return context->runInto({&in, 1}, {&out, 1});
  };
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE(runWith(y).ok());
  EXPECT_EQ(null.launches()[0].buffers[0], x.bytes());
  EXPECT_EQ(null.launches()[5].buffers[2], y.bytes());
  EXPECT_EQ(null.replays(), 2);
  ASSERT_TRUE(runWith(other).ok());
  EXPECT_EQ(null.launches()[7].buffers[2], other.bytes());
  EXPECT_EQ(null.replays(), 2);
}

TEST(Program, SaysWhatTheArtifactHoldsAndWhatTheDeviceRuns) {
  std::vector<std::byte> code;
  Expected<Artifact> artifact = Artifact::fromBytes(*serializeArtifact(gpuContents(code)), "model.tw");
  DeviceInfo other;
  other.name = "NVIDIA A100";
  other.targets = {"sm_80"};
  Status status = Program::create(*artifact, other).status();
  EXPECT_EQ(status.code(), Code::Device);
  EXPECT_EQ(status.message(),
            "model.tw holds code for sm_90a, NVIDIA A100 runs sm_80; compile again with --target sm_80");
  other.targets = {"sm_90a", "sm_90"};
  EXPECT_TRUE(Program::create(*artifact, other).ok());
  status = Program::create(*artifact, other, "none").status();
  EXPECT_EQ(status.code(), Code::Usage);
  EXPECT_EQ(status.message(),
            "model.tw has no plan for fusion mode 'none' on NVIDIA A100, it has all; compile with --fuse=none");
}

TEST(Program, RefusesCodeForAnotherProcessor) {
  SampleContents sample;
  sample.contents.plans[0].requirements = {"x86-64-v9"};
  Status status =
      Program::create(*Artifact::fromBytes(*serializeArtifact(sample.contents), "model.tw"), host()->info()).status();
  EXPECT_EQ(status.code(), Code::Device);
  EXPECT_EQ(
      status.message(),
      "model.tw needs the processor feature 'x86-64-v9', which this version does not know; use a newer Tilewright");
  sample.contents.plans.push_back(SampleContents::plan()); // a second plan, for any processor
  EXPECT_TRUE(
      Program::create(*Artifact::fromBytes(*serializeArtifact(sample.contents), "model.tw"), host()->info()).ok());
}

TEST(Program, RefusesNodesWithoutAReferenceKernel) {
  SampleContents sample;
  std::get<HostCall>(sample.contents.plans[0].steps[0]).op = "Frobnicate";
  Status status = Program::create(*Artifact::fromBytes(*serializeArtifact(sample.contents)), host()->info()).status();
  EXPECT_EQ(status.code(), Code::Unsupported);
  EXPECT_EQ(status.message(), "node 'relu_0' needs Frobnicate of opset 17, which this runtime has no kernel for");
}

TEST(Devices, AreOpenedByNameOrRefusedInASentence) {
  EXPECT_EQ((*openDevice("host"))->info().targets, std::vector<std::string>{"host"});
  EXPECT_EQ(openDevice("tpu").status().code(), Code::Usage);
  EXPECT_EQ(openDevice("cuda:x").status().code(), Code::Usage);
  EXPECT_EQ(openDevice("hip:-1").status().code(), Code::Usage);
  DeviceList list = listDevices();
  EXPECT_EQ(list.found.front().id, "host");
}

} // namespace tilewright::runtime
