// SPDX-License-Identifier: Apache-2.0
// Evaluates sizes and plans the arena; no device is involved.
#include "runtime/execute/PlanInstance.h"

#include "runtime/execute/BindSymbols.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::runtime {

// No machine has more memory, and sums of such sizes do not overflow.
static constexpr uint64_t largestValue = uint64_t(1) << 48;

Expected<Shape> valueShape(const Plan &plan, const ExprValues &sizes, ValueId id) {
  Shape shape;
  for (ExprId dim : plan.values[id].dims) {
    Expected<int64_t> extent = sizes.get(dim);
    TILEWRIGHT_TRY(extent);
    if (*extent < 0)
      return Status(Code::Malformed, fmt::format("value '{}' would have a dimension of {}; its dimensions are {}",
                                                 plan.values[id].name, *extent, describeDims(plan, plan.values[id])));
    shape.push_back(*extent);
  }
  return shape;
}

Expected<uint64_t> valueBytes(const Plan &plan, const ExprValues &sizes, ValueId id) {
  Expected<Shape> shape = valueShape(plan, sizes, id);
  TILEWRIGHT_TRY(shape);
  uint64_t bytes = elementBytes(plan.values[id].dtype);
  for (int64_t extent : *shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) || bytes > largestValue)
      return Status(Code::Malformed, fmt::format("value '{}' would have more than 2^48 bytes; use smaller inputs",
                                                 plan.values[id].name));
  return bytes;
}

static bool holds(Relation relation, int64_t lhs, int64_t rhs) {
  switch (relation) {
  case Relation::Equal:
    return lhs == rhs;
  case Relation::NotEqual:
    return lhs != rhs;
  case Relation::Less:
    return lhs < rhs;
  case Relation::LessEqual:
    return lhs <= rhs;
  }
  return false;
}

static Status checkGuard(const ExprValues &sizes, const Guard &guard) {
  Expected<int64_t> lhs = sizes.get(guard.lhs), rhs = sizes.get(guard.rhs);
  TILEWRIGHT_TRY(lhs);
  TILEWRIGHT_TRY(rhs);
  if (!holds(guard.relation, *lhs, *rhs))
    return {sizesDiffer, fmt::format("{} ({} and {}){}", guard.message, *lhs, *rhs, sizesNeedPlan)};
  return {};
}

/// Checks each link of a chain of aliases: a view must lie inside the value it views.
static Status checkView(const Plan &plan, const ExprValues &sizes, ValueId id) {
  for (; plan.values[id].kind == ValueKind::Alias; id = plan.values[id].source) {
    const Value &view = plan.values[id];
    Expected<int64_t> offset = sizes.get(view.byteOffset);
    Expected<uint64_t> bytes = valueBytes(plan, sizes, id), whole = valueBytes(plan, sizes, view.source);
    TILEWRIGHT_TRY(offset);
    TILEWRIGHT_TRY(bytes);
    TILEWRIGHT_TRY(whole);
    if (*offset < 0 || static_cast<uint64_t>(*offset) > *whole || *bytes > *whole - static_cast<uint64_t>(*offset))
      return {Code::Malformed, fmt::format("view '{}' of {} bytes at {} reaches beyond the {} bytes of '{}'", view.name,
                                           *bytes, *offset, *whole, plan.values[view.source].name)};
  }
  return {};
}

/// Checks that every element of the tensor that the map describes is in the buffer.
static Status checkTensorMap(const Plan &plan, const ExprValues &sizes, const Launch &launch, const TensorMap &map) {
  const Value &buffer = plan.values[launch.buffers[map.buffer]];
  Expected<uint64_t> bytes = valueBytes(plan, sizes, launch.buffers[map.buffer]);
  Expected<int64_t> start = sizes.get(map.start);
  TILEWRIGHT_TRY(bytes);
  TILEWRIGHT_TRY(start);
  int64_t last = *start;
  bool isEmpty = false, isWrong = *start < 0;
  for (size_t d = 0; d < map.sizes.size(); ++d) {
    Expected<int64_t> size = sizes.get(map.sizes[d]), stride = sizes.get(map.strides[d]);
    TILEWRIGHT_TRY(size);
    TILEWRIGHT_TRY(stride);
    isEmpty |= *size == 0;
    int64_t span = 0;
    isWrong |= *size < 0 || *stride < 0 || __builtin_mul_overflow(std::max<int64_t>(*size - 1, 0), *stride, &span) ||
               __builtin_add_overflow(last, span, &last);
  }
  uint64_t elements = *bytes / std::max<uint64_t>(elementBytes(buffer.dtype), 1);
  if (isWrong || (!isEmpty && static_cast<uint64_t>(last) >= elements))
    return {Code::Malformed, fmt::format("kernel '{}' would copy from outside of the {} elements of '{}'",
                                         plan.kernels[launch.kernel].name, elements, buffer.name)};
  return {};
}

static Status checkLaunch(const Plan &plan, const ExprValues &sizes, const Launch &launch) {
  for (ExprId extent : launch.grid) {
    Expected<int64_t> programs = sizes.get(extent);
    TILEWRIGHT_TRY(programs);
    if (*programs < 0)
      return {Code::Malformed,
              fmt::format("kernel '{}' would have a grid of {}", plan.kernels[launch.kernel].name, *programs)};
  }
  for (ExprId scalar : launch.scalars)
    TILEWRIGHT_TRY(sizes.get(scalar));
  for (const TensorMap &map : launch.tensorMaps)
    TILEWRIGHT_TRY(checkTensorMap(plan, sizes, launch, map));
  if (launch.workspaceBytes == none)
    return {};
  Expected<int64_t> workspace = sizes.get(launch.workspaceBytes);
  TILEWRIGHT_TRY(workspace);
  if (*workspace < 0 || static_cast<uint64_t>(*workspace) > largestValue)
    return {Code::Malformed, fmt::format("kernel '{}' would have a workspace of {} bytes",
                                         plan.kernels[launch.kernel].name, *workspace)};
  return {};
}

Status checkStepSizes(const Plan &plan, const PlanAnalysis &analysis, const ExprValues &sizes, const Step &step) {
  Status status;
  forEachValue(step, [&](ValueId id) {
    if (status.ok() && analysis.roots[id] != id)
      status = checkView(plan, sizes, id);
  });
  TILEWRIGHT_TRY(status);
  if (const auto *launch = std::get_if<Launch>(&step))
    return checkLaunch(plan, sizes, *launch);
  if (const auto *guard = std::get_if<Guard>(&step))
    return checkGuard(sizes, *guard);
  if (const auto *copy = std::get_if<Copy>(&step)) {
    Expected<uint64_t> from = valueBytes(plan, sizes, copy->source), to = valueBytes(plan, sizes, copy->target);
    TILEWRIGHT_TRY(from);
    TILEWRIGHT_TRY(to);
    if (*from != *to)
      return {Code::Malformed, fmt::format("'{}' of {} bytes cannot be copied to '{}' of {}",
                                           plan.values[copy->source].name, *from, plan.values[copy->target].name, *to)};
  }
  if (const auto *write = std::get_if<WriteDims>(&step)) {
    Expected<uint64_t> bytes = valueBytes(plan, sizes, write->value);
    TILEWRIGHT_TRY(bytes);
    if (*bytes != write->elements.size() * sizeof(int64_t))
      return {Code::Malformed, fmt::format("'{}' of {} bytes cannot hold {} dimensions", plan.values[write->value].name,
                                           *bytes, write->elements.size())};
  }
  return {};
}

/// Whether the arena holds the root value `id`. If so, sets the steps of `lifetime`.
static bool livesInArena(const Plan &plan, const PlanAnalysis &analysis, ValueId id, ArenaScope scope,
                         Lifetime &lifetime) {
  const Value &value = plan.values[id];
  bool used = analysis.firstUse[id] != INT64_MAX;
  lifetime.first = analysis.firstUse[id];
  lifetime.last = analysis.lastUse[id];
  if (value.kind == ValueKind::Temporary)
    return used;
  if (scope == ArenaScope::Temporaries || (value.kind != ValueKind::Input && value.kind != ValueKind::Output))
    return false;
  lifetime.last = INT64_MAX; // outputs are fetched at the end; inputs stay, so that a bound context can run again
  if (value.kind == ValueKind::Input || !used)
    lifetime.first = atBind;
  return true;
}

static void place(const Plan &plan, const PlanAnalysis &analysis, ArenaScope scope, PlanInstance &instance) {
  std::vector<ValueId> placed;
  std::vector<Lifetime> lifetimes;
  for (ValueId id = 0; id < plan.values.size(); ++id) {
    Lifetime lifetime = {0, 0, instance.bytes[id]};
    if (analysis.valueStep[id] == atBind && livesInArena(plan, analysis, id, scope, lifetime)) {
      placed.push_back(id);
      lifetimes.push_back(lifetime);
    }
  }
  ArenaPlan arena = planArena(lifetimes);
  instance.offsets.assign(plan.values.size(), noPlace);
  for (size_t i = 0; i < placed.size(); ++i)
    instance.offsets[placed[i]] = arena.offsets[i];
  instance.arenaBytes = arena.bytes;
}

Expected<std::unique_ptr<PlanInstance>> instantiate(const Plan &plan, const PlanAnalysis &analysis,
                                                    std::vector<int64_t> symbols, ArenaScope scope) {
  auto instance = std::make_unique<PlanInstance>();
  instance->symbols = std::move(symbols);
  instance->sizes = ExprValues::evaluate(plan.exprs, instance->symbols);
  instance->bytes.assign(plan.values.size(), 0);
  for (ValueId id = 0; id < plan.values.size(); ++id)
    if (analysis.valueStep[id] == atBind) {
      Expected<uint64_t> bytes = valueBytes(plan, instance->sizes, id);
      TILEWRIGHT_TRY(bytes);
      instance->bytes[id] = *bytes;
    }
  for (const Segment &segment : analysis.segments)
    for (size_t i = segment.first; segment.recordable && i < segment.end; ++i)
      TILEWRIGHT_TRY(checkStepSizes(plan, analysis, instance->sizes, plan.steps[i]));
  place(plan, analysis, scope, *instance);
  instance->recordings.resize(analysis.segments.size());
  instance->usedByBodies.resize(analysis.segments.size());
  return instance;
}

} // namespace tilewright::runtime
