// SPDX-License-Identifier: Apache-2.0
// One pass over each table, then one over the steps.
#include "runtime/plan/PlanAnalysis.h"

#include <algorithm>

namespace tilewright::runtime {

std::span<const BoundSymbol> bindsOf(const Step &step) {
  return std::visit(
      [](const auto &s) -> std::span<const BoundSymbol> {
        if constexpr (requires { s.binds; })
          return s.binds;
        else
          return {};
      },
      step);
}

std::vector<ValueId> outputsOf(const Step &step) {
  if (const auto *call = std::get_if<HostCall>(&step))
    return call->outputs;
  if (const auto *branch = std::get_if<Branch>(&step))
    return branch->outputs;
  std::vector<ValueId> outputs;
  if (const auto *loop = std::get_if<Loop>(&step)) {
    outputs = loop->finals;
    for (const Slices &slices : loop->collected)
      outputs.push_back(slices.value);
  }
  return outputs;
}

std::vector<const BodyUse *> bodiesOf(const Step &step) {
  if (const auto *branch = std::get_if<Branch>(&step))
    return {&branch->onTrue, &branch->onFalse};
  if (const auto *loop = std::get_if<Loop>(&step))
    return {&loop->body};
  return {};
}

std::vector<ValueId> controlReads(const Step &step) {
  std::vector<ValueId> reads;
  if (const auto *branch = std::get_if<Branch>(&step))
    reads = {branch->condition};
  if (const auto *loop = std::get_if<Loop>(&step)) {
    reads = loop->carried;
    for (ValueId id : {loop->tripCount, loop->condition})
      if (id != none)
        reads.push_back(id);
    for (const Slices &slices : loop->scanned)
      reads.push_back(slices.value);
  }
  for (const BodyUse *use : bodiesOf(step))
    reads.insert(reads.end(), use->captures.begin(), use->captures.end());
  return reads;
}

bool runsOnHost(const Step &step) {
  return std::holds_alternative<HostCall>(step) || std::holds_alternative<Branch>(step) ||
         std::holds_alternative<Loop>(step) || std::holds_alternative<ReadSizes>(step);
}

static void findRoots(const Plan &plan, PlanAnalysis &analysis) {
  for (ValueId id = 0; id < plan.values.size(); ++id) {
    const Value &value = plan.values[id];
    analysis.roots.push_back(value.kind == ValueKind::Alias ? analysis.roots[value.source] : id);
  }
}

static void findSteps(const Plan &plan, PlanAnalysis &analysis) {
  std::vector<int64_t> symbolStep(plan.symbols.size(), atBind);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    for (const BoundSymbol &bound : bindsOf(plan.steps[i]))
      symbolStep[bound.symbol] = static_cast<int64_t>(i);
  analysis.bindsWhileRunning = std::ranges::any_of(symbolStep, [](int64_t step) { return step != atBind; });
  for (const Expr &node : plan.exprs) {
    int64_t step = atBind;
    if (node.kind == ExprKind::Symbol)
      step = symbolStep[static_cast<size_t>(node.lhs)];
    else if (node.kind != ExprKind::Constant)
      step =
          std::max(analysis.exprStep[static_cast<size_t>(node.lhs)], analysis.exprStep[static_cast<size_t>(node.rhs)]);
    analysis.exprStep.push_back(step);
  }
  for (const Value &value : plan.values) {
    int64_t step = atBind;
    if (value.kind == ValueKind::Alias)
      step = std::max(analysis.exprStep[value.byteOffset], analysis.valueStep[value.source]);
    for (ExprId dim : value.dims)
      step = std::max(step, analysis.exprStep[dim]);
    analysis.valueStep.push_back(step);
  }
}

static void findUses(const Plan &plan, PlanAnalysis &analysis) {
  analysis.firstUse.assign(plan.values.size(), INT64_MAX);
  analysis.lastUse.assign(plan.values.size(), INT64_MIN);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    forEachValue(plan.steps[i], [&](ValueId id) {
      ValueId root = analysis.roots[id];
      analysis.firstUse[root] = std::min(analysis.firstUse[root], static_cast<int64_t>(i));
      analysis.lastUse[root] = static_cast<int64_t>(i);
    });
}

/// Whether a loop can be recorded: its number of iterations follows from sizes, and its body has only launches and
/// copies, so that nothing is read back from the device between iterations.
static bool isRecordableLoop(const Plan &plan, const Step &step) {
  const auto *loop = std::get_if<Loop>(&step);
  if (!loop || loop->tripCount != none || loop->condition != none || loop->conditional || loop->counted ||
      loop->scanned.empty() || !loop->binds.empty())
    return false;
  const Plan &body = plan.bodies[loop->body.body];
  PlanAnalysis analysis = analyzePlan(body);
  auto isStarted = [](const Step &inner) { // a Guard is checked beforehand
    return std::holds_alternative<Launch>(inner) || std::holds_alternative<Copy>(inner) ||
           std::holds_alternative<Guard>(inner);
  };
  return !analysis.bindsWhileRunning && std::ranges::all_of(body.steps, isStarted) &&
         std::ranges::all_of(analysis.segments, &Segment::recordable);
}

static bool isRecordable(const Plan &plan, const Step &step, const PlanAnalysis &analysis) {
  bool known = !runsOnHost(step) || isRecordableLoop(plan, step);
  forEachValue(step, [&](ValueId id) { known = known && !isObject(plan.values[id].dtype); });
  forEachValue(step, [&](ValueId id) { known = known && analysis.valueStep[id] == atBind; });
  forEachExpr(step, [&](ExprId id) { known = known && analysis.exprStep[id] == atBind; });
  return known;
}

static void cutSegments(const Plan &plan, PlanAnalysis &analysis) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    bool recordable = isRecordable(plan, plan.steps[i], analysis);
    // A loop is a segment of its own, because whether it is recorded depends on its number of iterations.
    bool isLoop = std::holds_alternative<Loop>(plan.steps[i]),
         isBehindLoop = i > 0 && std::holds_alternative<Loop>(plan.steps[i - 1]);
    if (analysis.segments.empty() || analysis.segments.back().recordable != recordable ||
        (recordable && (isLoop || isBehindLoop)))
      analysis.segments.push_back({i, i, recordable});
    analysis.segments.back().end = i + 1;
  }
}

PlanAnalysis analyzePlan(const Plan &plan) {
  PlanAnalysis analysis;
  findRoots(plan, analysis);
  findSteps(plan, analysis);
  findUses(plan, analysis);
  cutSegments(plan, analysis);
  return analysis;
}

} // namespace tilewright::runtime
