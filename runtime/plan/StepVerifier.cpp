// SPDX-License-Identifier: Apache-2.0
// Checks each kind of step, and the values that steps pass to and from their bodies.
#include "runtime/plan/StepVerifier.h"

namespace tilewright::runtime {
namespace {

class StepChecker {
public:
  StepChecker(const Plan &plan, const PlanAnalysis &analysis)
      : plan_(plan), analysis_(analysis), written_(plan.values.size(), false) {}

  Status check() {
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      TILEWRIGHT_TRY(checkStep(static_cast<int64_t>(i)));
    for (ValueId output : plan_.outputs)
      if (!written_[output])
        return broken("output '{}' is written by no step", plan_.values[output].name);
    return {};
  }

private:
  /// The type and rank of a value that a step passes to a body or takes from it.
  struct BodyValue {
    std::string_view what;
    DType type = DType::F32;
    std::optional<size_t> rank = std::nullopt;
    bool unread = false; // an unused output
  };
  static constexpr BodyValue unreadOutput = {"", DType::F32, std::nullopt, true};
  BodyValue passed(ValueId id) const { return {value(id).name, value(id).dtype, value(id).dims.size(), false}; }
  BodyValue slice(ValueId id) const { return {value(id).name, value(id).dtype, value(id).dims.size() - 1, false}; }
  const Value &value(ValueId id) const { return plan_.values[id]; }

  Status checkStep(int64_t step);
  Status checkReads(int64_t step, ValueId id) const;
  Status checkWrites(int64_t step, ValueId id, bool bindsSymbols = false);
  Status checkKnown(int64_t step, std::span<const ExprId> exprs) const;
  Status checkOne(int64_t step, const Launch &launch);
  Status checkTensorMap(int64_t step, const Launch &launch, const TensorMap &map) const;
  Status checkOne(int64_t step, const HostCall &call);
  Status checkOne(int64_t step, const WriteDims &write);
  Status checkOne(int64_t step, const Copy &copy);
  Status checkOne(int64_t step, const Guard &guard);
  Status checkOne(int64_t step, const Branch &branch);
  Status checkOne(int64_t step, const Loop &loop);
  Status checkOne(int64_t step, const ReadSizes &read);
  Status checkUse(int64_t step, const BodyUse &use, const std::vector<BodyValue> &inputs,
                  const std::vector<BodyValue> &outputs) const;
  Status checkPassed(int64_t step, const BodyValue &passed, const Plan &body, ValueId inside) const;

  const Plan &plan_;
  const PlanAnalysis &analysis_;
  std::vector<bool> written_; // by root
};

Status StepChecker::checkKnown(int64_t step, std::span<const ExprId> exprs) const {
  for (ExprId id : exprs) {
    if (analysis_.exprStep[id] >= step)
      return broken("step {} needs expression {} before its symbols are bound", step, id);
  }
  return {};
}

Status StepChecker::checkReads(int64_t step, ValueId id) const {
  const Value &root = value(analysis_.roots[id]);
  bool given = root.kind == ValueKind::Input || root.kind == ValueKind::Constant || root.kind == ValueKind::Zeroed;
  if (!given && !written_[analysis_.roots[id]])
    return broken("step {} reads '{}' before any step has written it", step, value(id).name);
  if (analysis_.valueStep[id] >= step)
    return broken("step {} reads '{}' before its size is known", step, value(id).name);
  return {};
}

Status StepChecker::checkWrites(int64_t step, ValueId id, bool bindsSymbols) {
  ValueId root = analysis_.roots[id];
  if (value(root).kind == ValueKind::Input || value(root).kind == ValueKind::Constant)
    return broken("step {} writes '{}', which is {}", step, value(id).name,
                  value(root).kind == ValueKind::Input ? "an input" : "a constant");
  // The size of an output of a step that binds symbols may become known only by running it. An alias needs the size of
  // its root before.
  int64_t latest = bindsSymbols && root == id ? step : step - 1;
  if (analysis_.valueStep[id] > latest || analysis_.valueStep[root] > latest)
    return broken("step {} writes '{}' before its size is known", step, value(id).name);
  written_[root] = true;
  return {};
}

Status StepChecker::checkOne(int64_t step, const Launch &launch) {
  if (launch.kernel >= plan_.kernels.size())
    return broken("step {} launches kernel {} of {}", step, launch.kernel, plan_.kernels.size());
  const Kernel &kernel = plan_.kernels[launch.kernel];
  if (launch.buffers.size() != kernel.buffers.size() || launch.scalars.size() != kernel.scalars)
    return broken("step {} passes {} buffers and {} scalars to '{}', which takes {} and {}", step,
                  launch.buffers.size(), launch.scalars.size(), kernel.name, kernel.buffers.size(), kernel.scalars);
  TILEWRIGHT_TRY(checkKnown(step, launch.scalars));
  TILEWRIGHT_TRY(checkKnown(step, launch.grid));
  if (launch.workspaceBytes != none)
    TILEWRIGHT_TRY(checkKnown(step, {&launch.workspaceBytes, 1}));
  if (launch.tensorMaps.size() != kernel.tensorMaps)
    return broken("step {} passes {} tensor maps to '{}', which takes {}", step, launch.tensorMaps.size(), kernel.name,
                  kernel.tensorMaps);
  for (const TensorMap &map : launch.tensorMaps)
    TILEWRIGHT_TRY(checkTensorMap(step, launch, map));
  for (ValueId buffer : launch.buffers)
    if (isObject(value(buffer).dtype))
      return broken("step {} passes the {} '{}' to a kernel", step, name(value(buffer).dtype), value(buffer).name);
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (kernel.buffers[i] != BufferAccess::Write)
      TILEWRIGHT_TRY(checkReads(step, launch.buffers[i]));
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (kernel.buffers[i] != BufferAccess::Read)
      TILEWRIGHT_TRY(checkWrites(step, launch.buffers[i]));
  return {};
}

Status StepChecker::checkTensorMap(int64_t step, const Launch &launch, const TensorMap &map) const {
  size_t rank = map.sizes.size();
  if (map.buffer >= launch.buffers.size())
    return broken("step {} has a tensor map of buffer {} of {}", step, map.buffer, launch.buffers.size());
  if (rank == 0 || rank > maxTensorMapRank || map.strides.size() != rank || map.box.size() != rank)
    return broken("step {} has a tensor map of {} sizes, {} strides and a box of {}", step, rank, map.strides.size(),
                  map.box.size());
  const Value &buffer = value(launch.buffers[map.buffer]);
  if (map.rounded > 1 || (map.rounded && buffer.dtype != DType::F32))
    return broken("step {} has a tensor map with rounding {} of '{}', which is {}", step, map.rounded, buffer.name,
                  name(buffer.dtype));
  size_t pixels = map.lower.size();
  if (map.upper.size() != pixels || map.steps.size() != pixels || (pixels && pixels + 2 != rank) ||
      std::ranges::any_of(map.steps, [](int32_t step) { return step < 1; }))
    return broken("step {} has a tensor map of {} sizes whose pixels have {} and {} corners and {} steps", step, rank,
                  pixels, map.upper.size(), map.steps.size());
  TILEWRIGHT_TRY(checkKnown(step, {&map.start, 1}));
  TILEWRIGHT_TRY(checkKnown(step, map.sizes));
  return checkKnown(step, map.strides);
}

Status StepChecker::checkOne(int64_t step, const HostCall &call) {
  for (ValueId input : call.inputs)
    if (input != none)
      TILEWRIGHT_TRY(checkReads(step, input));
  for (ValueId output : call.outputs)
    if (output != none)
      TILEWRIGHT_TRY(checkWrites(step, output, true));
  return {};
}

Status StepChecker::checkOne(int64_t step, const WriteDims &write) {
  TILEWRIGHT_TRY(checkKnown(step, write.elements));
  TILEWRIGHT_TRY(checkWrites(step, write.value));
  if (value(write.value).dtype != DType::I64)
    return broken("step {} writes dimensions into '{}', which is not int64", step, value(write.value).name);
  return {};
}

Status StepChecker::checkOne(int64_t step, const ReadSizes &read) {
  TILEWRIGHT_TRY(checkReads(step, read.value));
  return elementsRead(plan_, read) ? Status()
                                   : broken("step {} reads sizes from '{}', which is no int64 vector of known length",
                                            step, value(read.value).name);
}

Status StepChecker::checkOne(int64_t step, const Copy &copy) {
  TILEWRIGHT_TRY(checkReads(step, copy.source));
  if ((isObject(value(copy.source).dtype) || isObject(value(copy.target).dtype)) &&
      value(copy.source).dtype != value(copy.target).dtype)
    return broken("step {} copies a {} to a {}", step, name(value(copy.source).dtype), name(value(copy.target).dtype));
  return checkWrites(step, copy.target);
}

Status StepChecker::checkOne(int64_t step, const Guard &guard) {
  TILEWRIGHT_TRY(checkKnown(step, {&guard.lhs, 1}));
  TILEWRIGHT_TRY(checkKnown(step, {&guard.rhs, 1}));
  return guard.message.empty() ? broken("step {} is a guard without a message", step) : Status();
}

Status StepChecker::checkPassed(int64_t step, const BodyValue &passed, const Plan &body, ValueId inside) const {
  const Value &taken = body.values[inside];
  if (taken.dtype != passed.type || (passed.rank && taken.dims.size() != *passed.rank))
    return broken("step {} exchanges '{}' of {} with '{}' of {} in its body: type or rank differs", step, passed.what,
                  name(passed.type), taken.name, name(taken.dtype));
  return {};
}

/// Checks a use of a body. `inputs` are the values that the step passes before the captures, `outputs` those that it
/// takes from the body.
Status StepChecker::checkUse(int64_t step, const BodyUse &use, const std::vector<BodyValue> &inputs,
                             const std::vector<BodyValue> &outputs) const {
  if (use.body >= plan_.bodies.size())
    return broken("step {} runs body {} of {}", step, use.body, plan_.bodies.size());
  const Plan &body = plan_.bodies[use.body];
  if (use.sizes.size() != body.givenSymbols || inputs.size() + use.captures.size() != body.inputs.size() ||
      outputs.size() != body.outputs.size())
    return broken("step {} passes {} sizes and {} values to a body for {} values, which takes {} and {} for {}", step,
                  use.sizes.size(), inputs.size() + use.captures.size(), outputs.size(), body.givenSymbols,
                  body.inputs.size(), body.outputs.size());
  TILEWRIGHT_TRY(checkKnown(step, use.sizes));
  for (ValueId capture : use.captures)
    TILEWRIGHT_TRY(checkReads(step, capture));
  for (size_t i = 0; i < body.inputs.size(); ++i)
    TILEWRIGHT_TRY(checkPassed(step, i < inputs.size() ? inputs[i] : passed(use.captures[i - inputs.size()]), body,
                               body.inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].unread)
      TILEWRIGHT_TRY(checkPassed(step, outputs[i], body, body.outputs[i]));
  return {};
}

Status StepChecker::checkOne(int64_t step, const Branch &branch) {
  TILEWRIGHT_TRY(checkReads(step, branch.condition));
  if (value(branch.condition).dtype != DType::Bool)
    return broken("step {} branches on '{}', which is not bool", step, value(branch.condition).name);
  std::vector<BodyValue> outputs;
  for (ValueId output : branch.outputs)
    outputs.push_back(output == none ? unreadOutput : passed(output));
  TILEWRIGHT_TRY(checkUse(step, branch.onTrue, {}, outputs));
  TILEWRIGHT_TRY(checkUse(step, branch.onFalse, {}, outputs));
  for (ValueId output : branch.outputs)
    if (output != none)
      TILEWRIGHT_TRY(checkWrites(step, output, true));
  return {};
}

Status StepChecker::checkOne(int64_t step, const Loop &loop) {
  for (ValueId id : controlReads(plan_.steps[static_cast<size_t>(step)]))
    TILEWRIGHT_TRY(checkReads(step, id));
  if (loop.tripCount != none && value(loop.tripCount).dtype != DType::I64)
    return broken("step {} counts by '{}', which is not int64", step, value(loop.tripCount).name);
  if (loop.condition != none && value(loop.condition).dtype != DType::Bool)
    return broken("step {} loops while '{}', which is not bool", step, value(loop.condition).name);
  if (loop.finals.size() != loop.carried.size())
    return broken("step {} carries {} values and has {} final ones", step, loop.carried.size(), loop.finals.size());
  for (const std::vector<Slices> *list : {&loop.scanned, &loop.collected})
    for (const Slices &slices : *list)
      if (slices.value != none && (value(slices.value).dims.empty() || isObject(value(slices.value).dtype)))
        return broken("step {} takes slices of '{}', which has none", step, value(slices.value).name);
  std::vector<BodyValue> inputs, outputs;
  if (loop.counted)
    inputs = {{"iteration", DType::I64, std::nullopt, false}, {"condition", DType::Bool, std::nullopt, false}};
  if (loop.conditional)
    outputs = {{"condition", DType::Bool, std::nullopt, false}};
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    inputs.push_back(passed(loop.carried[i]));
    outputs.push_back(passed(loop.carried[i]));
    if (loop.finals[i] != none && (value(loop.finals[i]).dtype != value(loop.carried[i]).dtype ||
                                   value(loop.finals[i]).dims.size() != value(loop.carried[i]).dims.size()))
      return broken("step {} stores the final '{}' to '{}', which has another type or rank", step,
                    value(loop.carried[i]).name, value(loop.finals[i]).name);
  }
  for (const Slices &slices : loop.scanned)
    inputs.push_back(slice(slices.value));
  for (const Slices &slices : loop.collected)
    outputs.push_back(slices.value == none ? unreadOutput : slice(slices.value));
  TILEWRIGHT_TRY(checkUse(step, loop.body, inputs, outputs));
  for (ValueId output : outputsOf(plan_.steps[static_cast<size_t>(step)]))
    if (output != none)
      TILEWRIGHT_TRY(checkWrites(step, output, true));
  return {};
}

Status StepChecker::checkStep(int64_t step) {
  return std::visit(
      [&](const auto &s) {
        if constexpr (requires { s.group; })
          if (s.group != none && s.group >= plan_.groups.size())
            return broken("step {} names group {} of {}", step, s.group, plan_.groups.size());
        return checkOne(step, s);
      },
      plan_.steps[static_cast<size_t>(step)]);
}

} // namespace

std::optional<int64_t> elementsRead(const Plan &plan, const ReadSizes &read) {
  if (read.value >= plan.values.size())
    return std::nullopt;
  const Value &value = plan.values[read.value];
  if (value.dtype != DType::I64 || value.dims.size() != 1)
    return std::nullopt;
  const Expr &count = plan.exprs[value.dims[0]];
  return count.kind == ExprKind::Constant ? std::optional(count.lhs) : std::nullopt;
}

Status verifySteps(const Plan &plan, const PlanAnalysis &analysis) { return StepChecker(plan, analysis).check(); }

} // namespace tilewright::runtime
