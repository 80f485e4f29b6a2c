// SPDX-License-Identifier: Apache-2.0
// The conformance suite of devices: checks every promise of Device.h on every computing device of this machine.
//
// Buffers lie between guard bytes, which are checked after every write. CTest runs the suite again with the stand-ins
// for NVIDIA's and AMD's drivers.
#include "runtime/Devices.h"
#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/execute/Context.h"
#include "runtime/plan/KernelAbi.h"
#include "tests/runtime/SamplePlans.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

// An allocation that cannot succeed must return null, which the device reports, instead of ending the program.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }

namespace tilewright::runtime {

static constexpr size_t guardBytes = 256;
static constexpr uint8_t poison = 0xab;

/// Device memory with guard bytes on both sides.
class Guarded {
public:
  Guarded(Device &device, Stream &stream, size_t bytes)
      : stream_(stream), bytes_(bytes), memory_(*device.allocate(bytes + 2 * guardBytes)) {
    EXPECT_TRUE(stream.fill(memory_.get(), poison, bytes + 2 * guardBytes).ok());
  }

  void *data() { return static_cast<std::byte *>(memory_.get()) + guardBytes; }

  template <typename T> void put(const std::vector<T> &values) {
    ASSERT_TRUE(stream_.copyIn(data(), values.data(), values.size() * sizeof(T)).ok());
    ASSERT_TRUE(stream_.synchronize().ok());
  }

  /// The contents; also checks the guards.
  template <typename T> std::vector<T> get() {
    std::vector<uint8_t> all(bytes_ + 2 * guardBytes);
    EXPECT_TRUE(stream_.copyOut(all.data(), memory_.get(), all.size()).ok());
    EXPECT_TRUE(stream_.synchronize().ok());
    for (size_t i = 0; i < guardBytes; ++i) {
      EXPECT_EQ(all[i], poison) << "guard byte before the buffer, " << guardBytes - i << " away";
      EXPECT_EQ(all[guardBytes + bytes_ + i], poison) << "guard byte after the buffer, " << i << " away";
    }
    std::vector<T> values(bytes_ / sizeof(T));
    if (!values.empty())
      std::memcpy(values.data(), all.data() + guardBytes, values.size() * sizeof(T));
    return values;
  }

private:
  Stream &stream_;
  size_t bytes_;
  std::shared_ptr<void> memory_;
};

class DeviceConformance : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    device_ = *openDevice(GetParam());
    stream_ = std::move(*device_->createStream());
    code_ = testKernelsFor(device_->info());
    module_ = std::move(*device_->loadModule(code_));
  }

  Kernel kernel(const std::string &entry, size_t buffers, uint32_t scalars, uint32_t threads = 32) const {
    Kernel kernel;
    kernel.name = entry;
    kernel.entry = entry;
    kernel.code = 0;
    kernel.buffers.assign(buffers, BufferAccess::ReadWrite);
    kernel.scalars = scalars;
    kernel.block = {device_->info().hostMemory ? 1 : threads, 1, 1};
    return kernel;
  }

  Status launch(Stream &stream, const Kernel &kernel, std::vector<void *> buffers, std::vector<int64_t> scalars,
                std::array<int64_t, 3> grid, bool backwards = false) {
    Expected<KernelHandle> handle = module_->kernel(kernel);
    TILEWRIGHT_TRY(handle);
    LaunchArgs args = {*handle, &kernel, buffers, scalars, {}, grid, 64, backwards};
    return stream.launch(args); // arguments are copied before this returns
  }

  /// Serializes and loads an artifact with this plan of the test kernels; null after a failure.
  std::unique_ptr<Context> contextOf(Plan plan) {
    SampleContents sample;
    sample.contents.code = {code_};
    sample.contents.plans = {std::move(plan)};
    Expected<std::vector<std::byte>> bytes = serializeArtifact(sample.contents);
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    Expected<std::shared_ptr<const Program>> program = Program::create(*Artifact::fromBytes(*bytes), device_->info());
    EXPECT_TRUE(program.ok()) << program.status().message();
    return program ? std::move(*Context::create(*program, device_)) : nullptr;
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  CodeObject code_;
  std::unique_ptr<Module> module_;
};

TEST_P(DeviceConformance, CopiesAndFillsExactlyTheBytesAsked) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(3), size_t(63), size_t(64), size_t(4097), size_t(1) << 20}) {
    std::vector<uint8_t> pattern(bytes);
    for (size_t i = 0; i < bytes; ++i)
      pattern[i] = static_cast<uint8_t>(i * 7 + 1);
    Guarded a(*device_, *stream_, bytes), b(*device_, *stream_, bytes);
    a.put(pattern);
    ASSERT_TRUE(stream_->copyWithin(b.data(), a.data(), bytes).ok());
    EXPECT_EQ(b.get<uint8_t>(), pattern);
    ASSERT_TRUE(stream_->fill(b.data(), 0x5c, bytes).ok());
    EXPECT_EQ(b.get<uint8_t>(), std::vector<uint8_t>(bytes, 0x5c));
    EXPECT_EQ(a.get<uint8_t>(), pattern);
  }
}

TEST_P(DeviceConformance, MemoryIsAligned) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(100), size_t(5) << 20}) {
    Expected<std::shared_ptr<void>> memory = device_->allocate(bytes);
    ASSERT_TRUE(memory.ok());
    EXPECT_NE(memory->get(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->get()) % 64, 0u);
  }
}

TEST_P(DeviceConformance, RunsAKernelOnRowsOfAnyNumber) {
  Kernel addBias = kernel("addBias", 3, 1);
  for (int64_t rows : {1, 2, 7, 64, 65, 65535, 65536, 70001})
    for (int64_t columns : {1, 4, 17, 33}) {
      std::vector<float> x(static_cast<size_t>(rows * columns)), bias(static_cast<size_t>(columns)), expected;
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i % 1021);
      for (size_t i = 0; i < bias.size(); ++i)
        bias[i] = static_cast<float>(i) * 0.5f;
      for (size_t i = 0; i < x.size(); ++i)
        expected.push_back(x[i] + bias[i % bias.size()]);
      Guarded deviceX(*device_, *stream_, x.size() * 4), deviceBias(*device_, *stream_, bias.size() * 4),
          y(*device_, *stream_, x.size() * 4);
      deviceX.put(x);
      deviceBias.put(bias);
      Status status = launch(*stream_, addBias, {deviceX.data(), deviceBias.data(), y.data()}, {columns}, {rows, 1, 1});
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(y.get<float>(), expected) << rows << " rows of " << columns;
      EXPECT_EQ(deviceX.get<float>(), x);
    }
}

TEST_P(DeviceConformance, NumbersProgramsWithXFastest) {
  Kernel coordinates = kernel("writeCoordinates", 1, 0);
  for (std::array<int64_t, 3> grid :
       {std::array<int64_t, 3>{1, 1, 1}, {3, 5, 7}, {1, 9, 1}, {1, 1, 11}, {70001, 1, 1}, {2, 65535, 1}}) {
    int64_t programs = grid[0] * grid[1] * grid[2];
    Guarded y(*device_, *stream_, static_cast<size_t>(programs) * 32);
    Status status = launch(*stream_, coordinates, {y.data()}, {}, grid);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<int64_t> found = y.get<int64_t>(), expected;
    for (int64_t z = 0; z < grid[2]; ++z)
      for (int64_t row = 0; row < grid[1]; ++row)
        for (int64_t x = 0; x < grid[0]; ++x)
          expected.insert(expected.end(), {static_cast<int64_t>(expected.size() / 4), x, row, z});
    ASSERT_EQ(found, expected);
  }
}

TEST_P(DeviceConformance, ReportsAFaultOnceAndGoesOn) {
  Kernel gather = kernel("gatherChecked", 3, 2);
  Guarded table(*device_, *stream_, 16), index(*device_, *stream_, 24), y(*device_, *stream_, 12);
  table.put<float>({10, 11, 12, 13});
  index.put<int64_t>({1, -7, 3});
  ASSERT_TRUE(launch(*stream_, gather, {table.data(), index.data(), y.data()}, {4, 5}, {3, 1, 1}).ok());
  Expected<uint64_t> word = stream_->synchronize();
  ASSERT_TRUE(word.ok());
  EXPECT_EQ(*word, errorWordOf(Fault::IndexOutOfRange, 5));
  EXPECT_EQ(*stream_->synchronize(), 0u);
  EXPECT_EQ(y.get<float>(), (std::vector<float>{11, 10, 13}));
  index.put<int64_t>({0, 1, 2});
  ASSERT_TRUE(launch(*stream_, gather, {table.data(), index.data(), y.data()}, {4, 5}, {3, 1, 1}).ok());
  EXPECT_EQ(*stream_->synchronize(), 0u);
}

TEST_P(DeviceConformance, RunsInOrder) {
  Kernel addBias = kernel("addBias", 3, 1);
  Guarded a(*device_, *stream_, 4096), bias(*device_, *stream_, 4);
  a.put(std::vector<float>(1024, 0));
  bias.put<float>({1});
  for (int step = 0; step < 200; ++step)
    ASSERT_TRUE(launch(*stream_, addBias, {a.data(), bias.data(), a.data()}, {1}, {1024, 1, 1}).ok());
  EXPECT_EQ(a.get<float>(), std::vector<float>(1024, 200));
}

TEST_P(DeviceConformance, RunsEachProgramOnceBackwardsToo) {
  Kernel addBias = kernel("addBias", 3, 1);
  for (int64_t rows : {1, 2, 15, 16, 17, 31, 33, 1000}) {
    Guarded a(*device_, *stream_, static_cast<size_t>(rows) * 4), bias(*device_, *stream_, 4);
    a.put(std::vector<float>(static_cast<size_t>(rows), 0));
    bias.put<float>({1});
    ASSERT_TRUE(
        launch(*stream_, addBias, {a.data(), bias.data(), a.data()}, {1}, {rows, 1, 1}, /*backwards=*/true).ok());
    EXPECT_EQ(a.get<float>(), std::vector<float>(static_cast<size_t>(rows), 1));
  }
}

TEST_P(DeviceConformance, RecordsAndReplays) {
  if (!stream_->canRecord()) {
    EXPECT_FALSE(stream_->beginRecording().ok()); // and says so
    return;
  }
  Kernel addBias = kernel("addBias", 3, 1);
  Guarded a(*device_, *stream_, 64), bias(*device_, *stream_, 4), copy(*device_, *stream_, 64),
      dims(*device_, *stream_, 16);
  a.put(std::vector<float>(16, 0));
  bias.put<float>({2});
  copy.put(std::vector<float>(16, -1));
  std::shared_ptr<void> staging = *device_->allocateStaging(16);
  static_cast<int64_t *>(staging.get())[0] = 17;
  static_cast<int64_t *>(staging.get())[1] = 128;
  ASSERT_TRUE(stream_->beginRecording().ok());
  ASSERT_TRUE(stream_->copyIn(dims.data(), staging.get(), 16).ok());
  ASSERT_TRUE(launch(*stream_, addBias, {a.data(), bias.data(), a.data()}, {1}, {16, 1, 1}).ok());
  ASSERT_TRUE(stream_->copyWithin(copy.data(), a.data(), 32).ok());
  Expected<std::unique_ptr<Recording>> recording = stream_->endRecording();
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  EXPECT_EQ(a.get<float>(), std::vector<float>(16, 0)); // recording runs nothing
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE(stream_->replay(**recording).ok());
  EXPECT_EQ(a.get<float>(), std::vector<float>(16, 6));
  std::vector<float> halfCopied(16, -1);
  std::fill_n(halfCopied.begin(), 8, 6.0f);
  EXPECT_EQ(copy.get<float>(), halfCopied);
  EXPECT_EQ(dims.get<int64_t>(), (std::vector<int64_t>{17, 128}));
}

TEST_P(DeviceConformance, TakesTheTime) {
  Kernel addBias = kernel("addBias", 3, 1);
  Guarded a(*device_, *stream_, 1 << 22), bias(*device_, *stream_, 4);
  ASSERT_TRUE(stream_->fill(a.data(), 0, 1 << 22).ok());
  bias.put<float>({1});
  auto before = std::chrono::steady_clock::now();
  ASSERT_TRUE(stream_->mark(0).ok());
  ASSERT_TRUE(launch(*stream_, addBias, {a.data(), bias.data(), a.data()}, {1}, {1 << 20, 1, 1}).ok());
  ASSERT_TRUE(stream_->mark(1).ok());
  ASSERT_TRUE(stream_->synchronize().ok());
  std::chrono::duration<double, std::milli> around = std::chrono::steady_clock::now() - before;
  Expected<double> milliseconds = stream_->elapsed(0, 1);
  ASSERT_TRUE(milliseconds.ok());
  EXPECT_GT(*milliseconds, 0.0);
  EXPECT_LT(*milliseconds, around.count() + 0.1); // two clocks, where the device has its own
}

TEST_P(DeviceConformance, RefusesWhatItCannotDoInASentence) {
  Status status = module_->kernel(kernel("ghost", 0, 0)).status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("ghost"), std::string::npos) << status.message();
  status = device_->allocate(size_t(1) << 60).status();
  EXPECT_EQ(status.code(), Code::Device);
  EXPECT_NE(status.message().find("1152921504606846976"), std::string::npos) << status.message();
  if (device_->info().hostMemory)
    return;
  CodeObject garbage = code_;
  garbage.bytes = std::as_bytes(std::span(".version 7.0\nthis is not PTX", 28));
  status = device_->loadModule(garbage).status();
  EXPECT_EQ(status.code(), Code::Device);
  bool isCuda = GetParam().starts_with("cuda");
  EXPECT_NE(status.message().find(isCuda ? "cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX"
                                         : "hipModuleLoadDataEx failed with hipError"),
            std::string::npos)
      << status.message();
  Kernel tooMuch = kernel("addBias", 3, 1);
  tooMuch.dynamicSharedBytes = 1 << 30;
  EXPECT_NE(module_->kernel(tooMuch).status().message().find("shared memory"), std::string::npos);
  Kernel addBias = kernel("addBias", 3, 1);
  EXPECT_NE(
      launch(*stream_, addBias, {nullptr, nullptr, nullptr}, {1}, {1, 65536, 1}).message().find("a GPU has at most"),
      std::string::npos);
  addBias.block = {1024, 1, 1};
  status = launch(*stream_, addBias, {nullptr, nullptr, nullptr}, {0}, {int64_t(1) << 22, 1, 1});
  if (isCuda) // CUDA limits blocks, not threads; none of these kernels does anything
    EXPECT_TRUE(status.ok()) << status.message();
  else
    EXPECT_NE(status.message().find("4194304 blocks of 1024 threads side by side"), std::string::npos)
        << status.message();
}

/// Boxes with rows of 128, 64 and 32 bytes, of matrices and of pixels. The kernel itself takes no tensor maps.
TEST_P(DeviceConformance, DescribesTensorsToTheCopyEngine) {
  if (device_->info().hostMemory)
    GTEST_SKIP() << "the host has no copy engine";
  Guarded memory(*device_, *stream_, 1 << 16);
  std::array<void *, 1> buffers = {memory.data()};
  Kernel coordinates = kernel("writeCoordinates", 1, 0);
  Expected<KernelHandle> handle = module_->kernel(coordinates);
  ASSERT_TRUE(handle.ok()) << handle.status().message();
  for (uint32_t row : {64, 32, 16})
    for (bool arePixels : {false, true}) {
      TensorMapArgs map{memory.data(), DType::F16, arePixels ? size_t(4) : size_t(2)};
      map.sizes = {64, 8, 4, 2}, map.strides = {1, 64, 512, 2048}, map.box = {row, 16, 1, 1};
      map.lower = {-1, -1}, map.upper = {-1, -1}, map.steps = {1, 1}, map.arePixels = arePixels;
      Status status = stream_->launch({*handle, &coordinates, buffers, {}, {&map, 1}, {1, 1, 1}, 64});
      if (device_->info().id.starts_with("cuda"))
        EXPECT_TRUE(status.ok()) << status.message();
      else
        EXPECT_NE(status.message().find("copies by an engine that"), std::string::npos) << status.message();
    }
}

TEST_P(DeviceConformance, StreamsOfSeveralThreadsDoNotMix) {
  Kernel addBias = kernel("addBias", 3, 1);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      std::unique_ptr<Stream> stream = std::move(*device_->createStream());
      Guarded a(*device_, *stream, 400), bias(*device_, *stream, 4);
      a.put(std::vector<float>(100, 0));
      bias.put<float>({static_cast<float>(thread + 1)});
      for (int step = 0; step < 50; ++step)
        EXPECT_TRUE(launch(*stream, addBias, {a.data(), bias.data(), a.data()}, {1}, {100, 1, 1}).ok());
      right += a.get<float>() == std::vector<float>(100, static_cast<float>(50 * (thread + 1)));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 3);
}

TEST_P(DeviceConformance, RunsWholePlans) {
  SampleContents sample;
  sample.contents.code = {code_};
  sample.contents.plans[0].target = code_.target;
  sample.contents.plans[0].kernels[0].block = kernel("addBias", 3, 1).block;
  Expected<std::shared_ptr<const Program>> program =
      Program::create(*Artifact::fromBytes(*serializeArtifact(sample.contents)), device_->info());
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::unique_ptr<Context> context = std::move(*Context::create(*program, device_));
  Tensor x; // must outlive what reads it, profile() too
  for (int64_t batch : {1, 7, 7, 7, 0, 64, 7})
    for (float first : {-5.0f, 2.0f}) {
      x = Tensor::allocate(DType::F32, {batch, 4});
      std::vector<float> expected;
      for (int64_t i = 0; i < x.count(); ++i) {
        x.data<float>()[i] = first + static_cast<float>(i % 11);
        expected.push_back(std::max(x.data<float>()[i], 0.0f) + static_cast<float>(i % 4 + 1));
      }
      Expected<std::vector<Tensor>> outputs = context->run(std::span(&x, 1));
      ASSERT_TRUE(outputs.ok()) << outputs.status().message();
      const float *y = (*outputs)[0].data<float>();
      EXPECT_EQ(std::vector<float>(y, y + x.count()), expected) << "batch " << batch;
    }
  Expected<std::vector<StepProfile>> times = context->profile();
  ASSERT_TRUE(times.ok()) << times.status().message();
  EXPECT_EQ(times->size(), 2u);
}

/// Adds w to x in each of `trips` iterations, by a loop around a kernel; and, if the bool input is true, once more in
/// each iteration, by a branch. `kernelBlock` is the block size of the kernel that adds w.
static Plan loopAroundBranch(const std::string &target, std::array<uint32_t, 3> kernelBlock) {
  Plan sum = SampleContents::plan(); // x + w as a body: iteration, condition, x [batch, 4] -> y
  sum.target = target;
  sum.kernels[0].block = kernelBlock;
  ExprBuilder build(sum.exprs);
  ExprId batch = build.symbol(0), four = build.constant(4);
  Launch launch = std::get<Launch>(sum.steps[1]);
  launch.buffers[0] = SampleContents::x;
  sum.values.push_back({"again", DType::Bool, ValueKind::Input, {}, 1, none});
  sum.inputs = {SampleContents::x, 4};
  sum.steps = {launch};
  Plan same = sum, root = sum; // `same` is the branch that adds nothing
  same.kernels.clear(), same.groups.clear();
  same.steps = {Copy{SampleContents::y, SampleContents::x}};

  Plan iteration = sum;
  iteration.values = {{"iteration", DType::I64, ValueKind::Input, {}, 0, none},
                      {"condition", DType::Bool, ValueKind::Input, {}, 1, none},
                      {"x", DType::F32, ValueKind::Input, {batch, four}, 2, none},
                      {"again", DType::Bool, ValueKind::Input, {}, 3, none},
                      {"w", DType::F32, ValueKind::Constant, {four}, 0, none},
                      {"t", DType::F32, ValueKind::Temporary, {batch, four}, none, none},
                      {"y", DType::F32, ValueKind::Output, {batch, four}, 0, none}};
  iteration.symbols = {{"batch", 2, 0}};
  iteration.inputs = {0, 1, 2, 3}, iteration.outputs = {6};
  launch.buffers = {2, 4, 5};
  iteration.steps = {launch, Branch{3, {0, {}, {5, 3}}, {1, {}, {5, 3}}, {6}, {}, "if", none}};
  iteration.bodies = {sum, same};

  root.values = {{"x", DType::F32, ValueKind::Input, {batch, four}, 0, none},
                 {"trips", DType::I64, ValueKind::Input, {}, 1, none},
                 {"again", DType::Bool, ValueKind::Input, {}, 2, none},
                 {"y", DType::F32, ValueKind::Output, {batch, four}, 0, none}};
  root.inputs = {0, 1, 2}, root.outputs = {3};
  root.kernels.clear(), root.groups.clear();
  Loop loop;
  loop.tripCount = 1, loop.conditional = false, loop.carried = {0}, loop.body = {0, {}, {2}}, loop.finals = {3},
  loop.node = "loop";
  root.steps = {loop};
  root.bodies = {iteration};
  return root;
}

/// All launches are in bodies, which recordings of the outer plan must not include.
TEST_P(DeviceConformance, RunsBodiesOfLoopsAndBranches) {
  std::unique_ptr<Context> context = contextOf(loopAroundBranch(code_.target, kernel("addBias", 3, 1).block));
  ASSERT_TRUE(context);
  for (int64_t size : {2, 2, 2, 5, 2})
    for (uint8_t again : {0, 1})
      for (int64_t trips : {0, 3}) {
        Tensor inputs[] = {Tensor::allocate(DType::F32, {size, 4}), Tensor::allocate(DType::I64, {}),
                           Tensor::allocate(DType::Bool, {})};
        *inputs[1].data<int64_t>() = trips, *inputs[2].data<uint8_t>() = again;
        Expected<std::vector<Tensor>> outputs = context->run(inputs);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        for (int64_t i = 0; i < size * 4; ++i)
          ASSERT_EQ((*outputs)[0].data<float>()[i], static_cast<float>(trips * (1 + again) * (i % 4 + 1)))
              << size << ' ' << trips;
      }
}

/// Running sums of the rows of x [n, 16], from `start` on, by a loop around a kernel: all of them, and the last.
static Plan runningSums(const std::string &target, std::array<uint32_t, 3> kernelBlock) {
  Plan body = SampleContents::plan(), root = body;
  body.target = root.target = target;
  body.kernels[0].block = kernelBlock;
  body.exprs.clear(), body.symbols.clear(), body.groups.clear();
  ExprBuilder inside(body.exprs);
  ExprId width = inside.constant(16), one = inside.constant(1);
  body.values = {{"before", DType::F32, ValueKind::Input, {width}, 0, none},
                 {"row", DType::F32, ValueKind::Input, {width}, 1, none},
                 {"sum", DType::F32, ValueKind::Output, {width}, 0, none},
                 {"kept", DType::F32, ValueKind::Output, {width}, 1, none}};
  body.inputs = {0, 1}, body.outputs = {2, 3};
  Launch launch;
  launch.kernel = 0, launch.buffers = {1, 0, 2}, launch.scalars = {width}, launch.grid = {one, one, one};
  body.steps = {Guard{Relation::LessEqual, one, width, "expected a row"}, launch, Copy{3, 2}};

  root.exprs.clear(), root.kernels.clear(), root.groups.clear();
  ExprBuilder build(root.exprs);
  ExprId rows = build.symbol(0), columns = build.constant(16);
  root.values = {{"x", DType::F32, ValueKind::Input, {rows, columns}, 0, none},
                 {"start", DType::F32, ValueKind::Input, {columns}, 1, none},
                 {"y", DType::F32, ValueKind::Output, {rows, columns}, 0, none},
                 {"last", DType::F32, ValueKind::Output, {columns}, 1, none}};
  root.inputs = {0, 1}, root.outputs = {2, 3};
  Loop loop;
  loop.counted = loop.conditional = false, loop.carried = {1}, loop.scanned = {{0, false}}, loop.body = {0, {}, {}};
  loop.finals = {3}, loop.collected = {{2, false}}, loop.node = "sums";
  root.steps = {loop};
  root.bodies = {body};
  return root;
}

TEST(LoopAnalysis, LoopsOfLaunchesCopiesAndGuardsCanBeRecorded) {
  Plan plan = runningSums("host", {1, 1, 1});
  EXPECT_TRUE(analyzePlan(plan).segments.at(0).recordable);
  plan.bodies[0].steps.push_back(ReadSizes{0, {}, "sizes"}); // which has to come back from the device
  EXPECT_FALSE(analyzePlan(plan).segments.at(0).recordable);
}

/// Where the device records, the loop is replayed from its third run on, with the same results.
TEST_P(DeviceConformance, RecordsLoopsWhoseIterationsAreKnown) {
  std::unique_ptr<Context> context = contextOf(runningSums(code_.target, kernel("addBias", 3, 1).block));
  ASSERT_TRUE(context);
  float number = 0;
  for (int64_t rows : {3, 3, 3, 3, 8, 3, 3, 3, 8, 8, 8}) {
    Tensor inputs[] = {Tensor::allocate(DType::F32, {rows, 16}), Tensor::allocate(DType::F32, {16})};
    for (Tensor &input : inputs)
      for (int64_t i = 0; i < input.count(); ++i)
        input.data<float>()[i] = static_cast<float>(static_cast<int>(number += 7) % 97);
    std::vector<float> sums(inputs[1].data<float>(), inputs[1].data<float>() + 16);
    Expected<std::vector<Tensor>> outputs = context->run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    for (int64_t i = 0; i < rows * 16; ++i)
      ASSERT_EQ((*outputs)[0].data<float>()[i], sums[static_cast<size_t>(i % 16)] += inputs[0].data<float>()[i])
          << rows << " rows, element " << i;
    for (size_t i = 0; i < 16; ++i)
      ASSERT_EQ((*outputs)[1].data<float>()[i], sums[i]) << rows << " rows, column " << i;
  }
  if (context->stream().canRecord())
    EXPECT_GT(context->counters().replays, context->counters().recordings);
}

static std::vector<std::string> devicesHere() {
  std::vector<std::string> ids;
  for (const DeviceInfo &info : listDevices().found)
    ids.push_back(info.id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(On, DeviceConformance, testing::ValuesIn(devicesHere()), [](const auto &info) {
  std::string name = info.param;
  name[0] = static_cast<char>(std::toupper(name[0]));
  std::erase(name, ':');
  return name; // Host, Cuda0, Hip0
});

} // namespace tilewright::runtime
