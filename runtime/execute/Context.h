// SPDX-License-Identifier: Apache-2.0
// Runs a program for one caller: binds inputs, places buffers, executes the plan's steps on a stream.
//
//   bind(inputs)  ─ symbols ─ PlanInstance (cached by sizes) ─ arena ─ addresses of all values
//   execute()     ─ segment by segment: recordable ones are replayed from their second run on;
//                   host calls, and steps whose sizes earlier steps bind, run one by one
//                   (a plan that refuses sizes leaves them to the program's other one: ContextPlans.cpp)
//   synchronize() ─ waits, reads the error word
//
// The body of a branch or a loop is run by a context of its own, with its own instances and values, on the same stream.
// Bodies of one plan never run at the same time, so they share one arena beside their plan's.
//
// A context is used by one thread at a time; several contexts of one program may run at once.
#pragma once

#include "runtime/execute/BindSymbols.h"
#include "runtime/execute/PlanInstance.h"
#include "runtime/execute/Program.h"

#include <functional>
#include <map>

namespace tilewright::runtime {

/// What a step did, including every iteration of its bodies.
struct Work {
  uint64_t launches = 0, hostCalls = 0;
  double bytes = 0, flops = 0; // the groups' expressions at the sizes of the run

  Work &operator+=(const Work &other);
};

/// A step of a profiled execution, in milliseconds from its beginning.
struct StepProfile {
  double beginMs = 0, ms = 0;
  Work work;
};

/// What a context has done so far.
struct Counters {
  uint64_t launches = 0;   // outside of replayed recordings
  uint64_t hostCalls = 0;  // nodes run by reference kernels
  uint64_t instances = 0;  // combinations of sizes instantiated
  uint64_t recordings = 0; // segments recorded
  uint64_t replays = 0;    // segments replayed
  uint64_t failures = 0;   // executions and synchronizations that failed
  Work *bodies = nullptr;  // while profile() runs: where bodies add their work
};

/// Memory for one value, reused between runs while it is large enough and nobody else holds it.
struct OwnMemory {
  std::shared_ptr<void> memory;
  uint64_t bytes = 0;

  /// The address of at least `needed` bytes. If it must allocate, the old contents are lost.
  Expected<void *> atLeast(Device &device, uint64_t needed);
};

struct LoopState; // ContextControl.cpp
struct Collection;

class Context {
public:
  /// `externalStream`: a CUstream or hipStream_t of the caller's to work in; null: a new stream.
  static Expected<std::unique_ptr<Context>> create(std::shared_ptr<const Program> program,
                                                   std::shared_ptr<Device> device, void *externalStream = nullptr);
  ~Context();

  /// Takes the inputs for the next executions. On the host device, memory of inputs must stay valid until the
  /// executions are over; on others, host memory of inputs only until bind returns. `outputs`, where given, has a view
  /// for each output: one with data receives the output directly (its shape must fit); one without leaves it to the
  /// context. An output's memory must be none of an input's where execute may need the program's other plan.
  Status bind(std::span<const TensorView> inputs, std::span<const TensorView> outputs = {});

  /// Runs the bound plan once; asynchronous on devices with memory of their own. If the plan refuses sizes that only
  /// running tells, waits, and runs the program's other plan from the inputs on. Until the next bind that one is tried
  /// first.
  Status execute();

  /// Waits for all executions. Code::Malformed if a kernel has reported a fault in its data.
  Status synchronize();

  /// The outputs of the last execution, in host memory that no later execution overwrites while the tensors are held.
  Expected<std::vector<Tensor>> outputs();

  /// bind, execute, synchronize, outputs.
  Expected<std::vector<Tensor>> run(std::span<const Tensor> inputs);

  /// The same into the caller's memory, on the host or the device. Every view must have data and the output's shape.
  Status runInto(std::span<const TensorView> inputs, std::span<const TensorView> outputs);

  /// Executes what is bound once more, step by step, and returns when each step began, how long it took, and what it
  /// did.
  Expected<std::vector<StepProfile>> profile();

  /// The program whose plan is bound or ran last: program_, or its broadcasting() if only that one takes the sizes.
  const Program &program() const { return *active().program_; }
  const Device &device() const { return *device_; }
  /// What a thread of the plan's kernel uses; nullopt on the host.
  Expected<std::optional<KernelResources>> resources(KernelId kernel) const;
  Stream &stream() { return *active().stream_; }
  const Counters &counters() const { return *active().counters_; }
  uint64_t arenaBytes() const { return active().arena_->bytes; }
  /// The values of the plan's size expressions, for a group's bytes and operations. Only after bind.
  const ExprValues &sizes() const { return *active().sizes_; }

private:
  Context() = default;

  const Context &active() const { return isBroadcasting_ ? *broadcasting_ : *this; }
  Context &active() { return isBroadcasting_ ? *broadcasting_ : *this; }
  template <typename Result> Result runEitherPlan(Result (Context::*run)());
  Expected<bool> takeOtherPlan();
  Status bindBroadcasting(std::span<const TensorView> inputs, std::span<const TensorView> outputs);
  bool overwritesInputs() const;
  Status copyOutputs(std::span<const TensorView> outputs);
  Status bindHere(std::span<const TensorView> inputs, std::span<const TensorView> outputs);

  /// Returns the address at which a body writes its output number `output`, of `bytes` bytes; null: the body's context
  /// allocates memory for it.
  using PlaceOutput = std::function<Expected<void *>(size_t output, uint64_t bytes)>;

  Context &body(uint32_t number);
  Status runBody(Context &body, const BodyUse &use, std::vector<TensorView> inputs, PlaceOutput place);
  Status bindTo(std::span<const TensorView> inputs, std::span<const int64_t> givenSymbols);
  Expected<TensorView> viewOf(ValueId id) const;
  Expected<bool> readBool(const void *place);
  Expected<int64_t> readInteger(ValueId id);

  void prepare();
  void decodeConstants();
  Status selectInstance(std::vector<int64_t> symbols);
  Status stageDims(PlanInstance &instance);
  Status growArena(uint64_t bytes);
  Status placeInputs(std::span<const TensorView> inputs);
  Status placeKnownAt(int64_t step);
  Status placeOutput(ValueId id, uint64_t bytes);
  Expected<void *> ownMemory(ValueId id, uint64_t bytes);

  Status startExecution();
  Status executeHere();
  Status executeCounted();
  Status clearZeroed();
  Expected<std::vector<StepProfile>> profileHere();
  Expected<std::vector<StepProfile>> profileCounted();
  Status runSegment(size_t index);
  Status runSteps(const Segment &segment);
  bool isReplayable(size_t index) const;
  uint64_t nodesOf(const Segment &segment) const;
  MemoryUsed usedByBodies(const Segment &segment) const;
  void addMemory(MemoryUsed &used) const;
  Status runStep(size_t index);
  bool isEmpty(const Launch &launch) const;
  Work workOf(const Step &step) const;
  Status runOne(size_t index, const Launch &launch);
  Status runOne(size_t index, const HostCall &call);
  Status runOne(size_t index, const WriteDims &write);
  Status runOne(size_t index, const ReadSizes &read);
  Status runOne(size_t index, const Copy &copy);
  Status runOne(size_t index, const Guard &guard);
  Status runOne(size_t index, const Branch &branch);
  Status runOne(size_t index, const Loop &loop);
  Status bindLate(size_t index, std::span<const Shape> outputs);
  Status copyFromBody(ValueId id, const TensorView &given, const std::string &node);
  Status startLoop(const Loop &loop, LoopState &state);
  Expected<bool> runIteration(const Loop &loop, LoopState &state);
  Status copySlices(const Loop &loop, LoopState &state);
  Expected<std::vector<TensorView>> bindIteration(const Loop &loop, LoopState &state);
  Status runSteadyIteration(const Loop &loop, LoopState &state);
  Expected<void *> placeSlice(const Loop &loop, LoopState &state, size_t i, uint64_t bytes);
  Status collect(const Loop &loop, LoopState &state, size_t i, const TensorView &slice);
  Status append(Collection &collection, const LoopState &state, const void *slice);
  Status finishLoop(size_t index, const Loop &loop, LoopState &state);
  Expected<Tensor> onHost(ValueId id);
  Status copyFromHost(ValueId id, const Tensor &output);
  bool isObjectValue(ValueId id) const { return isObject(plan().values[id].dtype); }

  struct Arena {
    std::shared_ptr<void> memory;
    uint64_t bytes = 0;
  };

  const Plan &plan() const { return *tree_->plan; }
  const PlanAnalysis &analysis() const { return tree_->analysis; }

  std::shared_ptr<const Program> program_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<const DeviceImage> image_;
  std::shared_ptr<Stream> stream_;
  const PlanTree *tree_ = nullptr;
  const KernelTree *kernels_ = nullptr;
  std::vector<std::unique_ptr<PlanInstance>> instances_; // most recently used first
  std::shared_ptr<Arena> arena_, bodyArena_;
  std::vector<std::unique_ptr<Context>> bodies_;         // by number; created when they first run
  std::map<size_t, std::shared_ptr<LoopState>> loops_;   // by step; keep their buffers between runs
  std::map<size_t, std::shared_ptr<const void>> caches_; // by step: see ReferenceCall::cache
  PlaceOutput placeOutput_;                              // bodies only

  // The bound execution.
  PlanInstance *instance_ = nullptr;
  const ExprValues *sizes_ = nullptr; // the instance's, or lateSizes_ once a step has bound a symbol
  std::vector<int64_t> lateSymbols_;
  ExprValues lateSizes_;
  std::vector<void *> addresses_;        // by value; null while unknown
  std::vector<TensorView> boundOutputs_; // as given, or empty views
  std::vector<OwnMemory> own_;           // by value: aligned copies of inputs, outputs, and values that steps size
  std::vector<Tensor> objects_;          // by value: strings, sequences, optionals and maps, which have no address
  std::vector<void *> launchBuffers_;
  std::vector<int64_t> launchScalars_;
  std::vector<TensorMapArgs> launchTensorMaps_;
  bool backwards_ = false;             // see LaunchArgs; bodies of loops only
  std::shared_ptr<Counters> counters_; // shared with bodies
  bool hasRun_ = false;                // since bind, so that there are outputs
  uint64_t clearedAt_ = UINT64_MAX;    // Counters::failures when zeroed values were last cleared

  // For sizes that this context's plan refuses: a context of Program::broadcasting(), made when it is needed.
  std::unique_ptr<Context> broadcasting_;
  bool isBroadcasting_ = false;
  void *externalStream_ = nullptr;
};

} // namespace tilewright::runtime
