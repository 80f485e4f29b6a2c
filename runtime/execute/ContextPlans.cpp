// SPDX-License-Identifier: Apache-2.0
// Which of a program's two plans runs (broadcastingSuffix in runtime/plan/Plan.h). The first is faster, so a bind tries
// it first. The other one takes over where the first refuses sizes: when inputs are bound, or in the middle of a run if
// only running tells the sizes. Each plan has a context and a stream; no two of their executions overlap.
#include "runtime/execute/Context.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::runtime {

/// Whether a run stopped because sizes are not those which its plan assumes. Usage: the caller's memory for an output
/// has another shape than the plan gives it, which is known late if the shape is.
static bool refusesSizes(const Status &status) { return status.code() == sizesDiffer || status.code() == Code::Usage; }

/// A failure as callers see it.
static Status outside(const Status &status) {
  return status.code() == sizesDiffer ? Status(Code::Malformed, status.message()) : status;
}

Status Context::bind(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  // What the other plan still does may read the inputs that this one has placed.
  Status pending = isBroadcasting_ ? synchronize() : Status();
  isBroadcasting_ = false;
  instance_ = nullptr;
  TILEWRIGHT_TRY(pending);
  Status status = bindHere(inputs, outputs);
  if (status.ok() || !program_->broadcasting() || !(refusesSizes(status) || status.code() == Code::Malformed))
    return outside(status);
  TILEWRIGHT_TRY(synchronize());
  return bindBroadcasting(inputs, outputs).ok() ? Status() : outside(status);
}

Status Context::bindBroadcasting(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  if (!broadcasting_) {
    Expected<std::unique_ptr<Context>> made = create(program_->broadcasting(), device_, externalStream_);
    TILEWRIGHT_TRY(made);
    broadcasting_ = std::move(*made);
  }
  TILEWRIGHT_TRY(broadcasting_->bindHere(inputs, outputs));
  isBroadcasting_ = true;
  return {};
}

/// Whether the run so far may have written an output where an input lies.
bool Context::overwritesInputs() const {
  auto placeOf = [&](ValueId id) -> std::span<const std::byte> {
    Expected<uint64_t> bytes = valueBytes(plan(), *sizes_, id);
    return {static_cast<const std::byte *>(addresses_[id]), addresses_[id] && bytes ? *bytes : 0};
  };
  return std::ranges::any_of(plan().outputs, [&](ValueId output) {
    std::span<const std::byte> written = placeOf(output);
    return std::ranges::any_of(plan().inputs, [&](ValueId input) {
      std::span<const std::byte> read = placeOf(input);
      return std::less()(written.data(), read.data() + read.size()) &&
             std::less()(read.data(), written.data() + written.size());
    });
  });
}

/// After a run that has stopped: makes the other plan the active one, with the same inputs and outputs. False if it
/// refuses them. Fails if a kernel has found the data at fault, which another plan cannot mend.
Expected<bool> Context::takeOtherPlan() {
  TILEWRIGHT_TRY(synchronize());
  if (isBroadcasting_) {
    isBroadcasting_ = false;
    return true;
  }
  std::vector<TensorView> inputs; // where this plan has placed them: the caller's memory may be gone by now
  for (ValueId id : plan().inputs) {
    Expected<TensorView> input = viewOf(id);
    TILEWRIGHT_TRY(input);
    inputs.push_back(std::move(*input));
  }
  return bindBroadcasting(inputs, boundOutputs_).ok();
}

/// Runs the active plan, and if that refuses sizes, the other one. If both do, the first plan's sentence counts.
template <typename Result> Result Context::runEitherPlan(Result (Context::*run)()) {
  bool isFirst = !isBroadcasting_;
  Result result = (active().*run)();
  Status refused = statusOf(result);
  if (!refusesSizes(refused))
    return result;
  if (!program_->broadcasting() || !instance_) // nothing is bound, or the first plan was refused by bind
    return outside(refused);
  if (active().overwritesInputs())
    return Status(outside(refused).code(),
                  fmt::format("{}; the model's plan for other sizes cannot start again because an output may have "
                              "overwritten an input: give outputs memory of their own",
                              refused.message()));
  Expected<bool> taken = takeOtherPlan();
  TILEWRIGHT_TRY(taken);
  if (!*taken)
    return outside(refused);
  Result other = (active().*run)();
  if (!refusesSizes(statusOf(other)))
    return other;
  return outside(isFirst ? refused : statusOf(other));
}

Status Context::executeCounted() {
  Status status = executeHere();
  counters_->failures += !status.ok();
  return status;
}

Expected<std::vector<StepProfile>> Context::profileCounted() {
  Expected<std::vector<StepProfile>> profile = profileHere();
  counters_->failures += !profile.ok();
  return profile;
}

Status Context::execute() { return runEitherPlan(&Context::executeCounted); }
Expected<std::vector<StepProfile>> Context::profile() { return runEitherPlan(&Context::profileCounted); }

} // namespace tilewright::runtime
